#!/bin/sh
# The weight of a stalled load lands on that load, stores get the weight of loops that only store, and every address lies in
# the right object and field: labelled assembly loops under the real collector, with each kind of timer.
set -u
[ "$(uname -m)" = x86_64 ] || { echo "x86-64 assembly"; exit 77; }
build() { ${CC:-cc} -std=gnu11 -D_GNU_SOURCE= -O2 -I"$SRC" -I"$BUILD" "$@" || exit 1; }
build -o "$TMP/loops" "$SRC/tests/skid/loops.c" "$SRC/tests/skid/loops.S"
build -o "$TMP/check" "$SRC/tests/skid/check.c" "$SRC"/format/*.c "$SRC"/base/*.c -lzstd -ljansson -lm
status=0
for timer in sigtrap async posix; do
    # POSIX timers tick with the kernel: at least 50 samples of each loop need longer, most of all on a busy machine
    seconds=0.25
    [ $timer = posix ] && seconds=0.7
    rm -rf "$TMP/result"
    LWP_TIMER=$timer "$LWP" collect -F 2000 --max-overhead 50 -o "$TMP/result" -- "$TMP/loops" "$TMP/truth" $seconds \
        > "$TMP/log" 2>&1 || { cat "$TMP/log"; exit 1; }
    "$TMP/check" "$TMP/truth" "$TMP/result"/p*/t*.lwps > "$TMP/table" || {
        echo "timer $timer"
        grep -v ' 0 $' "$TMP/table" # the loops at fault
        status=1
    }
done
exit $status
