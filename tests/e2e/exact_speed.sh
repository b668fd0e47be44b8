#!/bin/bash
# Copies of a traced program run natively from here to the next system call, which says how fast it is (lwp collect -e exact). They
# change nothing of what the program and others see, and --no-measure makes none.
set -u
fail() { echo "$*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O2 -g -o copied "$SRC/tests/programs/copied.c" && $CC -O2 -g -o far_search "$SRC/tests/programs/far_search.c" || fail "compile"
# Instructions, those that copies ran, their CPU time, that of the fastest.
totals() {
    "$LWP" dump "$1"/p*/process.lwps | sed -n 's/^totals .* instructions \([0-9]*\) .* native \([0-9]*\) ns \([0-9]*\) \([0-9]*\)-.*$/\1 \2 \3 \4/p' | tail -1
}

"$LWP" collect -q --no-analyze -e exact --detect redundancy --window all -o long -- ./far_search > out || fail "collect"
read -r all native ns least <<< "$(totals long)"
echo "far_search: $native of $all instructions natively, $ns ns"
((native > 0 && native <= all && ns > 0)) || fail "no copy of far_search came to a system call"

for windows in all 20000:2000000; do # both kinds of translated code
    "$LWP" collect -q --no-analyze -e exact --window $windows -o steps.$windows -- ./copied > out || fail "copied ended with $?"
    [ "$(cat out)" = "8 8 0 done" ] || { cat out; fail "something was done twice"; }
    read -r all native ns least <<< "$(totals steps.$windows)"
    echo "copied: $native of $all instructions natively, $ns ns, at least $least"
    # A round is of 6 instructions at most, and of 3 that wait for each other: at 10 GHz, .05 ns for each instruction.
    ((least * 20 > native)) || fail "the copies' clock ran too slowly"
    ((native > 0 && native * 10 < all * 7 && ns > 0)) || fail "copies ran other parts than those up to a system call"
done
"$LWP" collect -q --no-analyze --no-measure -e exact -o none -- ./copied > out || fail "collect --no-measure"
read -r all native ns least <<< "$(totals none)"
((all > 0 && native == 0)) || fail "$native instructions were run by copies in spite of --no-measure"
