#!/bin/sh
# The weight of a stalled load lands on that load, stores get the weight of loops that only store, and every address lies in
# the right object and field: labelled assembly loops under the real collector.
# tests/long/skid.sh has the other kinds of timer.
set -u
[ "$(uname -m)" = x86_64 ] || { echo "x86-64 assembly"; exit 77; }
build() { ${CC:-cc} -std=gnu11 -D_GNU_SOURCE= -O2 -I"$SRC" -I"$BUILD" "$@" || exit 1; }
build -o "$TMP/loops" "$SRC/tests/skid/loops.c" "$SRC/tests/skid/loops.S"
build -o "$TMP/check" "$SRC/tests/skid/check.c" "$SRC"/format/*.c "$SRC"/base/*.c -lzstd -ljansson -lm
status=0
for timer in ${TIMERS:-sigtrap}; do
    # 50 samples of each loop are needed. POSIX timers tick with the kernel, and on a busy machine all tick less: then longer.
    # In some runs a tenth of one loop's interrupts comes an instruction later or earlier, now in this loop, now in that one: what lwp
    # does wrong it does each time.
    seconds="0.15 1 0.5"
    [ $timer = posix ] && seconds="0.7 3 1.5"
    for each in $seconds; do
        rm -rf "$TMP/result"
        LWP_TIMER=$timer "$LWP" collect -F 2000 --max-overhead 50 -o "$TMP/result" -- "$TMP/loops" "$TMP/truth" $each \
            > "$TMP/log" 2>&1 || { cat "$TMP/log"; exit 1; }
        "$TMP/check" "$TMP/truth" "$TMP/result"/p*/t*.lwps > "$TMP/table" && continue 2
        grep -qE 'wrong addresses|not an access|charged without' "$TMP/table" && break
    done
    echo "timer $timer"
    grep -v ' 0 $' "$TMP/table" # the loops at fault
    status=1
done
exit $status
