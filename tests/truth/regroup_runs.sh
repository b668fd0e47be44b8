# Sourced: regroup_runs RUNS THREADS... holds what is said of arrays against the truth, RUNS times for each example and count
# of threads, and for each reason not to join two arrays; with `few` set, of some of them. Needs LWP, SRC, TMP, CC. With `dense` set as many samples are taken
# in a tenth of the time, at a price no user would pay.
. "$SRC/tests/sampled.sh"
regroup_analyze() { # samples alone may leave open what it gains to move arrays apart
    if [ "$what" = stencil ]; then analyze_until set-conflict "$TMP/result"; else "$LWP" analyze -q --no-measure "$TMP/result"; fi
}

regroup_one() { # WHAT PROGRAM ARGUMENTS..., an @ for the rounds
    what=$1
    shift
    collect_samples $samples "$TMP/result" $rounds -q $options -- "$@" && regroup_analyze 2> "$TMP/log" ||
        { echo "$*: lwp failed"; cat "$TMP/log"; return 1; }
    /usr/bin/python3 "$SRC/tests/truth/regroup.py" "$what" "$TMP/result/analysis.json" > "$TMP/differences" || { echo "$*:"; cat "$TMP/differences"; return 1; }
}

regroup_runs() { # RUNS THREADS...
    runs=$1 failures=0 total=0 dense=${dense:-0}
    shift
    regrouped=diffusion apart="order time"
    [ "${few:-}" ] || regrouped="$regrouped boxes stencil" apart="$apart together lifetime shuffled range scheme location affinity"
    for example in $regrouped; do
        ${CC:-cc} -std=gnu11 -O2 -g -pthread -o "$TMP/$example" "$SRC/examples/$example.c" || return 1
    done
    ${CC:-cc} -std=gnu11 -O2 -g -o "$TMP/cases" "$SRC/tests/programs/regroup_cases.c" || return 1
    run=0
    while [ $run -lt "$runs" ]; do
        options=
        [ $dense = 0 ] || options="-F 2000 --max-overhead 25"
        for example in $regrouped; do
            samples=1000
            case $example in # what part of the rounds is enough when samples are dense
            diffusion) rounds=32 part=4 ;; # with fewer the sum of `value` is so much of the whole that it may rightly be left out
            boxes) rounds=16 part=16 ;;
            stencil) rounds=448 part=5 samples=1500 ;; # of 27 arrays one is seen a third as often as the others
            esac
            [ $dense = 0 ] || rounds=$((rounds / part))
            for threads; do
                regroup_one $example "$TMP/$example" "$threads" @ || failures=$((failures + 1))
                total=$((total + 1))
            done
        done
        options="-F 2000 --max-overhead 50"
        for case in $apart; do
            rounds=$((dense ? 8 : 60)) samples=600
            regroup_one $case "$TMP/cases" $case @ || failures=$((failures + 1))
            total=$((total + 1))
        done
        run=$((run + 1))
    done
    echo "$failures of $total runs said something else than the truth"
    [ $failures = 0 ]
}
