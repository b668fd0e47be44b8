#!/bin/bash
# A watchpoint on what the kernel writes on its way back to the program would keep it there for ever.
set -eu
$CC -O2 -g -o "$TMP/processor" "$SRC/tests/programs/processor.c"
for area in "" own; do
    [ -z "$area" ] || export GLIBC_TUNABLES=glibc.pthread.rseq=0 # a thread has one area at most
    [ "$("$TMP/processor" $area)" = done ] || { echo "not possible here: an area that is the program's"; continue; }
    said=$(timeout --signal=KILL 60 "$LWP" collect -q --no-analyze -F 2000 --max-overhead 20 -o "$TMP/r$area" -- "$TMP/processor" $area) ||
        { echo "under lwp, $area: status $?"; exit 1; }
    [ "$said" = done ] || { echo "said: $said"; exit 1; }
done
