# Sourced: advice_runs RUNS THREADS... holds the advice for each example against the truth, RUNS times for each count of
# threads; `examples` names others than the usual ones, `options` are those of lwp collect, `rounds` the examples' own.
# Needs LWP, SRC, TMP, CC.
example_build() { # SOURCE OUTPUT FLAGS...
    source=$1 output=$2
    shift 2
    ${CC:-cc} -std=gnu11 -O2 -pthread "$@" -o "$output" "$SRC/examples/$source.c"
}

advice_of() { # EXAMPLE PROGRAM THREADS KIND
    rm -rf "$TMP/result"
    "$LWP" collect --no-analyze ${options:-} -o "$TMP/result" -- "$2" "$3" ${rounds:-} > "$TMP/output" 2> "$TMP/log" && "$LWP" analyze --no-measure "$TMP/result" 2>> "$TMP/log" ||
        { echo "$1, $3 threads: lwp failed"; cat "$TMP/log"; return 1; }
    /usr/bin/python3 "$SRC/tests/truth/analysis.py" "$4" "$1" "$TMP/result/analysis.json" > "$TMP/differences" ||
        { echo "$1, $3 threads:"; cat "$TMP/differences"; return 1; }
}

# Where only addresses say how large elements are, a run in some thirty, and more on a busy machine, leaves that open by chance and
# asks for more samples (element_walk.h): two of three have to be right, and the last two run for twice as long.
advice_mostly() { # EXAMPLE PROGRAM THREADS KIND, with `rounds`
    advice_of "$@" > "$TMP/first" && return 0
    rounds=$((2 * rounds))
    advice_of "$@" && advice_of "$@" || { cat "$TMP/first"; return 1; }
}

advice_runs() { # RUNS THREADS...
    runs=$1 failures=0 total=0
    shift
    for example in ${examples:-neuron neighbours tree nochange}; do
        example_build $example "$TMP/$example" -g || return 1
        for threads; do
            run=0
            while [ $run -lt "$runs" ]; do
                advice_of $example "$TMP/$example" "$threads" advice || failures=$((failures + 1))
                run=$((run + 1)) total=$((total + 1))
            done
        done
    done
    echo "$failures of $total runs gave other advice than the right one"
    [ $failures = 0 ]
}
