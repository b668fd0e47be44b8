#!/bin/bash
# A debugger that is attached to a sampled program and passes SIGTRAP on gets its four hardware watchpoints, and the program
# goes on as if nothing had been: lwp lets go of both, and says so.
set -u
command -v gdb > /dev/null || { echo "no gdb here"; exit 77; }
${CC:-cc} -std=gnu11 -O1 -g -o "$TMP/debugged" "$SRC/tests/programs/debugged.c" || exit 1
"$LWP" collect -q -o "$TMP/result" -- "$TMP/debugged" 9 > "$TMP/out" 2> "$TMP/err" &
lwp=$!
sleep 1
process=$(pgrep -f "^$TMP/debugged 9")
[ -n "$process" ] || { cat "$TMP/err"; exit 1; }
(sleep 3; kill -INT "$process") &
timeout 60 gdb -q -batch -p "$process" -ex 'shell sleep 0.2' -ex 'handle SIGTRAP nostop noprint pass' -ex continue \
    -ex 'handle SIGTRAP stop print nopass' -ex 'watch x[1]' -ex 'watch x[2]' -ex 'watch x[3]' -ex 'watch x[4]' -ex continue -ex continue -ex delete -ex detach \
    > "$TMP/gdb" 2>&1
wait $lwp
status=$?
if grep -q 'ptrace: Operation not permitted' "$TMP/gdb"; then echo "gdb may not attach here"; exit 77; fi
[ $status = 7 ] && grep -qx done "$TMP/out" && [ "$(grep -c 'Hardware watchpoint .*: x' "$TMP/gdb")" -ge 5 ] &&
    ! grep -q "write debug register" "$TMP/gdb" || { echo "status $status"; cat "$TMP/gdb" "$TMP/err"; exit 1; }
"$LWP" analyze -q "$TMP/result" && "$LWP" report "$TMP/result" | grep -q 'a debugger was attached' ||
    { echo "the report does not say that a debugger came"; exit 1; }
