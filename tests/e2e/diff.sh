#!/bin/sh
# lwp diff on real runs: the advice was followed, the gain arrived, the parts and loops were recognised, the JSON is as
# documented; runs that cannot be compared are not; errors are errors.
set -u
failures=0
fail() { echo "$*"; failures=$((failures + 1)); }

build() {
    source=$SRC/examples/$1.c
    [ "$1" = diffusion_fixed ] && source=$SRC/tests/programs/pixels.c # its arrays joined, where the example's loops are exchanged
    ${CC:-cc} -std=gnu11 -O2 -g -pthread -I "$SRC/examples" -o "$TMP/$1.bin" "$source" || exit 1
}

# Sampled four times as often as users do, so that a part of the examples' rounds is enough.
collect() { # PROGRAM RESULT ARGUMENTS...
    program=$1 result=$2
    shift 2
    "$LWP" collect -F 2000 --max-overhead 25 ${options:-} -o "$TMP/$result" -- "$TMP/$program.bin" "$@" > "$TMP/output" 2> "$TMP/log" ||
        { cat "$TMP/log"; echo "lwp collect $program failed"; exit 1; }
}

cat > "$TMP/check.py" << 'EOF'
import json, sys
import jsonschema
diff = json.load(open(sys.argv[1]))
jsonschema.validate(diff, json.load(open(sys.argv[2])))
structure, parts, loops, status = sys.argv[3], set(sys.argv[4].split(",")), sys.argv[5].split(","), sys.argv[6]
# Where another order of loops is promised instead, nothing is of the layout.
other = any(finding["kind"] == "locality" for finding in json.load(open(sys.argv[7]))["findings"])
program, problems = diff["program"], []
if not diff["comparable"]:
    print("not comparable: %s" % diff["doubts"])
    sys.exit(2)
if not other and not program["promised"]:
    print("nothing was predicted of the first run: %s" % program["sentence"])
    sys.exit(2)

def right(verdict, ratio, promised):
    """How much a change gains depends on the machine; what is said of it does not."""
    low, high = promised
    if verdict == "arrived":
        return low - 0.01 <= ratio <= high + 0.01
    return ratio >= high - 0.01 if verdict == "more" else verdict in ("cannot_tell", "less") and ratio < low

if not other and not right(program["verdict"], program["cpu_ratio"], program["promised"]):
    problems.append("the verdict is: " + program["sentence"])
if program["cpu_ratio"] < 1.2 or program["cpu_ratio_ci"] is not None:
    problems.append("ratio %s, interval %s" % (program["cpu_ratio"], program["cpu_ratio_ci"]))
if program["promised"] and not program["promised"][0] <= program["predicted"] <= program["promised"][1]:
    problems.append("predicted %s outside of %s" % (program["predicted"], program["promised"]))
rows = [row for row in diff["structures"] if row["type"] == structure and row["status"] == status]
if len(rows) != 1:
    problems.append("%d rows for %s: %s" % (len(rows), structure, [(row["name"], row["status"]) for row in diff["structures"]]))
for row in rows:
    found = {part["type"] for part in row["parts"]}
    if not parts <= found:
        problems.append("parts: %s" % sorted(map(str, found)))
    if not other and not right(row["verdict"], row["arrived"], row["promised"]):
        problems.append("for the structure: %s" % row["sentence"])
    if row["after"]["waiting_s"] >= row["before"]["waiting_s"]:
        problems.append("waits %s s, then %s s" % (row["before"]["waiting_s"], row["after"]["waiting_s"]))
    for name in loops:
        loop = [l for l in row["loops"] if l["function"] == name]
        if not loop or not loop[0]["after"] or loop[0]["before"]["first_line"] == loop[0]["after"]["first_line"]:
            problems.append("loop %s was not found again on its other line" % name)
if not diff["findings"]["gone"]:
    problems.append("no finding is gone")
print("\n".join(problems))
sys.exit(bool(problems))
EOF

pair() { # EXAMPLE ROUNDS STRUCTURE PARTS LOOPS [STATUS]
    build "$1"
    build "$1_fixed"
    for again in 1 2 3 4; do # until no neighbour disturbed one of the two runs
        rm -rf "${TMP:?}/$1" "$TMP/$1_fixed"
        collect "$1" "$1" 1 "$2"
        collect "$1_fixed" "$1_fixed" 1 "$2"
        "$LWP" diff --json "$TMP/$1" "$TMP/$1_fixed" > "$TMP/$1.json" 2> "$TMP/log" || fail "lwp diff $1: $(cat "$TMP/log")"
        /usr/bin/python3 "$TMP/check.py" "$TMP/$1.json" "$SRC/docs/diff.schema.json" "$3" "$4" "$5" "${6:-split}" "$TMP/$1/analysis.json" > "$TMP/problems"
        status=$?
        [ $status = 2 ] || break
    done
    [ $status = 0 ] || { echo "$1, round $again:"; cat "$TMP/problems"; failures=$((failures + 1)); }
    "$LWP" diff "$TMP/$1" "$TMP/$1_fixed" > "$TMP/text" 2> "$TMP/log" || fail "lwp diff $1 as text: $(cat "$TMP/log")"
    grep -q '^Verdict .*predicted' "$TMP/text" || fail "$1: no verdict on the promise in the text"
}

[ -z "${LONG:-}" ] || pair neuron 10 "struct neuron" "struct neuron_p,struct neuron_xq,struct neuron_iu,struct neuron_w,struct neuron_v" match,norm_w
# Its cold part is used only while the data are made: about one run in four takes no sample there.
pair tree 10 "struct city" "struct city" farthest,tour_length

[ -z "${LONG:-}" ] || pair diffusion 6 float "struct pixel" diffuse,gradient regrouped

# analysis.json files do as well as folders.
cp "$TMP/tree/analysis.json" "$TMP/before.json"
"$LWP" diff --json "$TMP/before.json" "$TMP/tree_fixed" > "$TMP/files.json" || fail "an analysis.json is not taken"

# Two runs on each side give an interval.
options=--no-analyze
collect tree tree2 1 10
collect tree_fixed tree2_fixed 1 10
options=
"$LWP" analyze -q -o "$TMP/merged.json" "$TMP/tree" "$TMP/tree2" || fail "two runs are not merged"
"$LWP" analyze -q -o "$TMP/merged_fixed.json" "$TMP/tree_fixed" "$TMP/tree2_fixed" || fail "two runs are not merged"
"$LWP" diff --json "$TMP/merged.json" "$TMP/merged_fixed.json" > "$TMP/runs.json" || fail "lwp diff of merged runs"
/usr/bin/python3 - "$TMP/runs.json" << 'EOF' || fail "merged runs: $(head -c 2000 "$TMP/runs.json")"
import json, sys
diff = json.load(open(sys.argv[1]))
low, high = diff["program"]["cpu_ratio_ci"]
sys.exit(not (diff["before"]["runs"] == diff["after"]["runs"] == 2 and low <= diff["program"]["cpu_ratio"] <= high and
              diff["before"]["threads"] == 1))
EOF

# Another program; both build their data in main(), which takes the first a small part of so many rounds.
[ "${LONG:-}" ] || build neuron
collect tree tree30 1 30
collect neuron neuron30 1 30
"$LWP" diff "$TMP/tree30" "$TMP/neuron30" > "$TMP/text" || fail "two programs: exit status $?"
grep -q 'cannot tell: these look like different programs' "$TMP/text" || { fail "two programs:"; head -8 "$TMP/text"; }

# Other work: rounds, so many more that no neighbour of this machine makes up for it, and that both have enough samples to tell.
collect tree rounds 1 50
"$LWP" diff "$TMP/tree" "$TMP/rounds" > "$TMP/text" || fail "other rounds: exit status $?"
grep -q '^Verdict .*cannot tell' "$TMP/text" || { fail "other arguments are compared:"; head -8 "$TMP/text"; }

expect() { # STATUS WORDS ARGUMENTS...
    wanted=$1 words=$2
    shift 2
    "$LWP" diff "$@" > "$TMP/output" 2> "$TMP/log"
    status=$?
    [ $status = "$wanted" ] || fail "lwp diff $*: exit status $status instead of $wanted"
    grep -q "$words" "$TMP/log" || fail "lwp diff $*: '$(cat "$TMP/log")' does not say '$words'"
    [ "$(wc -l < "$TMP/log")" = 1 ] || [ "$wanted" = 125 ] || fail "lwp diff $*: more than one line: $(cat "$TMP/log")"
}

head -c 5000 "$TMP/before.json" > "$TMP/cut.json"
echo '{"schema": "something"}' > "$TMP/foreign.json"
mkdir "$TMP/empty"
expect 1 "there is no" "$TMP/nowhere" "$TMP/tree"
expect 1 "cannot read" "$TMP/cut.json" "$TMP/tree"
expect 1 "is no analysis" "$TMP/tree" "$TMP/foreign.json"
expect 1 "$TMP/empty" "$TMP/tree" "$TMP/empty"
expect 125 "lwp diff BEFORE AFTER" "$TMP/tree"
expect 125 "" --htm "$TMP/tree" "$TMP/tree_fixed"
[ $failures = 0 ]
