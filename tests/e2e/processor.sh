#!/bin/bash
# A watchpoint on what the kernel writes on its way back to the program would keep it there for ever.
set -eu
$CC -O2 -g -o "$TMP/processor" "$SRC/tests/programs/processor.c"
said=$(timeout --signal=KILL 60 "$LWP" collect -q --no-analyze -F 2000 --max-overhead 20 -o "$TMP/r" -- "$TMP/processor") ||
    { echo "under lwp: status $?"; exit 1; }
[ "$said" = done ] || { echo "said: $said"; exit 1; }
