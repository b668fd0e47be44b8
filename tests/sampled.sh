# Sourced by tests of sampled results: how much a program has to do until enough was sampled depends on the machine, and on
# what else it does. Needs LWP.

# Whether a text of lwp's says that the kernel forbids sampling.
sampling_is_forbidden() { # FILE
    grep -q 'perf_event_open is forbidden\|perf_event_paranoid' "$1"
}

# Ends the test where processes may not be sampled from outside. Any other failure is the test's to find.
needs_attaching() {
    "$LWP" collect --no-analyze -q --duration 0.01 -o probe -p $$ > out 2>&1 || ! sampling_is_forbidden out || { head -n 1 out; exit 77; }
}

# Samples in a result.
samples_of() { # RESULT
    for file in "$1"/p*/t*.lwps; do "$LWP" dump "$file" 2> /dev/null; done | grep -c '^sample '
}

# Collects into RESULT until it has LEAST samples, each time with a larger AMOUNT: it stands where the program's arguments have
# an @. What lwp and the program print is left in RESULT.out and RESULT.err.
collect_samples() { # LEAST RESULT AMOUNT OPTION... -- PROGRAM ARGUMENT...
    local least=$1 result=$2 amount=$3 taken
    shift 3
    for _ in 1 2 3 4 5 6 7; do
        rm -rf "$result"
        (
            for argument; do
                shift
                [ "$argument" != @ ] || argument=$amount
                set -- "$@" "$argument"
            done
            exec "$LWP" collect --no-analyze -o "$result" "$@"
        ) > "$result.out" 2> "$result.err" || { cat "$result.err"; return 1; }
        taken=$(samples_of "$result")
        [ "$taken" -lt "$least" ] || return 0
        # A little more than what this rate asks for, but never more than eight times as much at once, and twice at least: what a start
        # costs is paid from the first half second, in which fewer are taken.
        amount=$(LC_ALL=C awk -v amount="$amount" -v taken="$taken" -v least="$least" 'BEGIN {
            times = taken ? 1.2 * least / taken : 8
            times = times < 2 ? 2 : times > 8 ? 8 : times
            print amount ~ /[.]/ ? amount * times : int(amount * times + 1) }')
    done
    echo "$taken samples where $least are needed: $*"
    return 1
}

# A program of tests/programs, built for each KIND (-DKIND), collected into $TMP/KIND.result.
collect_kinds() { # PROGRAM LEAST AMOUNT KIND...
    local program=$1 least=$2 amount=$3 kind
    shift 3
    for kind; do
        ${CC:-cc} -std=gnu11 -O2 -g -fno-tree-vectorize -D"$kind" -o "$TMP/$kind" "$SRC/tests/programs/$program" || return 1
        collect_samples "$least" "$TMP/$kind.result" "$amount" -q -F 2000 --max-overhead 50 -- "$TMP/$kind" @ || return 1
    done
}

# Analyses until a finding of that kind is there: runs of patterns that other work on the machine disturbs do not agree, and nothing is said.
analyze_until() { # ID (how it begins) RESULT
    for _ in 1 2 3 4 5 6 7 8; do
        "$LWP" analyze -q -f "$2" || return 1
        grep -q "\"id\": *\"$1" "$2/analysis.json" && return 0
    done
    /usr/bin/python3 - "$2" << 'END' || return 0
import json, sys
left = json.load(open(f"{sys.argv[1]}/analysis.json"))["left_alone"]
sys.exit(not any(row["code"] == "gain_below_threshold" and row.get("speedup", 0) > 1.05 for row in left))
END
    echo "this machine is too unsteady now: the gain is found, but not sure"
    exit 77
}
