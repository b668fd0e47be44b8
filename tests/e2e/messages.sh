#!/bin/bash
# Where lwp watches nothing, in a program that is left out as in one that is too short to be sampled, messages cost no system call more.
set -u
cd "$TMP" || exit 1
command -v strace > /dev/null || { echo "no strace"; exit 77; }
${CC:-cc} -std=gnu11 -O1 -o messages "$SRC/tests/programs/messages.c" || exit 1
strace -f -o plain ./messages > out || { echo "strace does not work here"; exit 77; }
grep -q '^sent' out && [ "$(grep -c 'sendmsg(' plain)" = 100 ] || { echo "no messages"; exit 1; }
failed=0
for options in "--only nothing" ""; do
    rm -rf r
    "$LWP" collect -q --no-analyze $options -o r -- strace -f -o with ./messages > out || { echo "FAILED: status $?"; failed=1; }
    [ "$(grep -c 'sendmsg(.*64' with)" -ge 100 ] || { echo "FAILED: not sent"; failed=1; }
    more=$(grep -cE '(process_vm_readv|getpid|prctl)\(' with)
    [ "$more" -lt 50 ] || { echo "FAILED: ${options:-all}: $more system calls of lwp's for 100 messages"; failed=1; }
done
exit $failed
