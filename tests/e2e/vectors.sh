#!/bin/sh
# Loops made of the widest vectors there are, which load whole elements and shuffle: the advice is that for scalar loops.
set -u
. "$SRC/tests/truth/advice_runs.sh"
failures=0
for example in neuron nochange; do
    ${CC:-cc} -std=gnu11 -O3 -march=native -g -pthread -o "$TMP/$example" "$SRC/examples/$example.c" || exit 1
    advice_of $example "$TMP/$example" 2 advice || failures=$((failures + 1))
done
exit $failures
