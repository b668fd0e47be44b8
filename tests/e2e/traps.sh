#!/bin/bash
# No trap of lwp's kills the program: not one on the arguments of a program that it executes in its own place, nor one whose
# cause the kernel could not tell. Its own traps kill it as ever.
set -u
cd "$TMP" || exit 1
$CC -O1 -g -o traps "$SRC/tests/programs/traps.c" || exit 1
failed=0
check() { # STATUS ARGUMENT...
    status=$1; shift
    rm -rf result
    "$LWP" collect -q --no-analyze -F 8000 --max-overhead 90 -o result -- ./traps "$@" > out 2> err
    with=$?
    [ $with = "$status" ] || { echo "FAILED: $*: status $with instead of $status"; cat err; failed=1; }
}
for how in e l s; do
    check 7 exec $how 5
    [ "$(ls result | grep -c '^p')" = 6 ] || { echo "FAILED: exec $how: not all programs were recorded"; failed=1; }
done
check 7 fail
"$LWP" dump result/p*/t*.lwps | awk '/^sample/ { n++ } END { exit n < 50 }' || { echo "FAILED: not sampled after an exec that failed"; failed=1; }
for kind in lost register; do check 7 $kind; done
for kind in int3 int1 step raise kill; do
    check 133 $kind
    ./traps $kind 2> err
    [ $? = 133 ] || { echo "FAILED: $kind alone does not kill"; failed=1; }
done
exit $failed
