#!/bin/sh
# The exact engine gives the same advice as the timer, with 1 and 2 threads.
set -u
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
. "$SRC/tests/truth/advice_runs.sh"
examples='neuron neighbours tree nochange readings rows' options='-e exact --detect layout' rounds=4 advice_runs 1 1 2
