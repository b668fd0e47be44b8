#!/bin/bash
# Of a function whose threads all end at once most threads are made without lwp: they have no alternate stack of lwp's. What such a thread
# does on its small stack goes as it would: fork, a handler for lwp's own signal, further threads, and the end of the process.
set -u
cd "$TMP" || exit 1
$CC -O1 -g -pthread -o many "$SRC/tests/programs/many_short_threads.c" || exit 1
failed=0
for run in 1 2 3; do
    "$LWP" collect -q --no-analyze --max-overhead 3 -o r$run -- ./many > out 2> err
    status=$?
    [ $status = 5 ] || { echo "FAILED: status $status"; cat err; failed=1; }
    read -r had children signals nested < out
    [ "$children $signals $nested" = "40 40 40" ] || { echo "FAILED: $(cat out)"; failed=1; }
    [ "${had:-20000}" -lt 15000 ] || { echo "FAILED: ${had:-none} of 20000 threads waited to be set up"; failed=1; }
    "$LWP" dump r$run/p*/process.lwps > process 2> warnings
    left=$(sed -n 's/^note \([0-9]*\) threads were not sampled.*/\1/p' process | sort -n | tail -1)
    [ "${left:-0}" -gt 5000 ] || { echo "FAILED: ${left:-0} threads are said to be left out"; failed=1; }
done
exit $failed
