#!/bin/bash
# Windows and gaps have translations of their own in the exact engine: a program runs as it does by itself where they change
# all the time, whatever else becomes of translations, and twice the same windows are the same.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O1 -g -Wall -Wextra -o translations "$SRC/tests/programs/translations.c" || fail "compile"
./translations > out && grep -qx right out || fail "the program"
run() { # NAME WINDOW WHAT
    "$LWP" collect -q --no-analyze -e exact --detect "$3" --window "$2" -o "$1" -- ./translations > out 2> err || { cat out err; fail "$*"; }
    grep -qx right out || { cat out; fail "$*"; }
}
all=layout,redundancy,values,registers,spatial
for window in 1:100 200:2000 2000:200 50:fibonacci; do
    for what in layout $all; do run few $window $what; rm -r few; done
done
samples() { "$LWP" dump "$1"/p*/t[1-9]*.lwps | sed -n 's/^sample time [0-9]* //p; s/^  access/access/p'; }
for name in one two; do run $name 200:2000 $all; done
[ "$(samples one | wc -l)" -gt 1000 ] && cmp <(samples one) <(samples two) || fail "two runs differ"
