#!/bin/sh
# The exact engine gives the same advice as the timer: for structures with 1 and 2 threads, and for arrays.
set -u
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
. "$SRC/tests/truth/advice_runs.sh"
. "$SRC/tests/truth/regroup_runs.sh"
failed=0
examples='neuron neighbours tree nochange readings rows' options='-e exact --detect layout' rounds=4 advice_runs 1 1 2 || failed=1
options='-e exact --detect layout' samples=0 rounds=1
for run in "diffusion 4" "boxes 2" "stencil 12"; do
    set -- $run
    example_build "$1" "$TMP/$1" -g && regroup_one "$1" "$TMP/$1" 1 "$2" || { echo "$1: other advice"; failed=1; }
done
exit $failed
