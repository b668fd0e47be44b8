#!/bin/sh
# Loops made of the widest vectors there are, which load whole elements and shuffle: the advice is that for scalar loops. LONG: that there is none.
set -u
. "$SRC/tests/truth/advice_runs.sh"
failures=0 options="-F 2000 --max-overhead 25" # as many samples from a quarter of the rounds
for example in neuron ${LONG:+nochange}; do
    case $example in neuron) rounds=10 ;; *) rounds=30 ;; esac
    ${CC:-cc} -std=gnu11 -O3 -march=native -g -pthread -o "$TMP/$example" "$SRC/examples/$example.c" || exit 1
    advice_of $example "$TMP/$example" 2 advice || failures=$((failures + 1))
done
exit $failures
