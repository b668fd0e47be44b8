#!/bin/bash
# Sampling threads in the allocator while another is in the loader comes to an end.
set -u
cd "$TMP" || exit 1
$CC -O1 -g -pthread -o stress "$SRC/tests/programs/loader_stress.c" -ldl || exit 1
timeout 100 "$LWP" collect --no-analyze -F 4000 --max-overhead 50 -o result ./stress > out 2> err
status=$?
[ $status = 0 ] && grep -qx done out || { echo "status $status (124: it hung)"; cat out err; exit 1; }
exit 0
