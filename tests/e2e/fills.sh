#!/bin/sh
# String instructions run many times as long while a debug register is armed (Zen 4 and 5; short ones on Sapphire Rapids): what
# watches and trials slow down they must pay for, with one thread (LONG) and with several, where trials for other threads' stores come
# in. Were those let off, four threads would take 13 times as long.
set -u
${CC:-cc} -std=gnu11 -O2 -g -pthread -o "$TMP/fills" "$SRC/tests/programs/fills.c" || exit 1
for threads in ${LONG:+1} 4; do
    passes=$((4000 / threads))
    alone=$("$TMP/fills" $threads $passes) || exit 1
    watched=$("$LWP" collect -q --no-analyze -o "$TMP/result.$threads" -- "$TMP/fills" $threads $passes) || exit 1
    awk -v alone="$alone" -v watched="$watched" 'BEGIN { exit !(watched < 3 * alone) }' || {
        echo "$threads threads: $watched s of CPU instead of $alone"
        exit 1
    }
done
