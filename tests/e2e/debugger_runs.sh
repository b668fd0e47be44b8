#!/bin/bash
# A debugger that runs the program itself, below lwp or above it, is not stopped by lwp's signals and gets all hardware
# watchpoints; lwp goes without and says so. A tracer that is no debugger changes nothing.
set -u
cd "$TMP" || exit 1
command -v gdb > gdb-path || { echo "no gdb here"; exit 77; }
${CC:-cc} -std=gnu11 -O1 -g -o debugged "$SRC/tests/programs/debugged.c" || exit 1
steps=(-ex 'watch x[1]' -ex 'watch x[2]' -ex 'watch x[3]' -ex 'watch x[4]' -ex continue -ex continue -ex delete -ex continue)
gdb -q -batch -ex 'tbreak main' -ex 'run 1' "${steps[@]}" ./debugged > plain 2>&1
if ! grep -q 'exited with code 07' plain; then tail -n 3 plain; echo "gdb cannot run programs here"; exit 77; fi
failed=0
check() { # NAME: gdb's output, process.lwps that says so
    if grep -E 'SIGTRAP|SIG[0-9]|write debug register' "$1" || ! grep -q 'exited with code 07' "$1" ||
        [ "$(grep -c 'Hardware watchpoint .*: x' "$1")" != "$(grep -c 'Hardware watchpoint .*: x' plain)" ]; then
        echo "FAILED: $1"; cat "$1"; failed=1
    fi
    for file in "$1".r/p*/process.lwps; do "$LWP" dump "$file" | grep -q 'a debugger runs' && return; done
    echo "FAILED: $1: no process says that a debugger ran it"; failed=1
}
"$LWP" collect -q --no-analyze -F 2000 -o below.r -- gdb -q -batch -ex 'tbreak main' -ex 'run 1' "${steps[@]}" ./debugged > below 2>&1
check below
gdb -q -batch -ex 'set breakpoint pending on' -ex 'set follow-fork-mode child' -ex 'tbreak debugged.c:main' -ex run "${steps[@]}" \
    --args "$LWP" collect -q --no-analyze -F 2000 -o above.r -- ./debugged 1 > above 2>&1
check above
if command -v strace > strace-path; then
    "$LWP" collect -q --no-analyze -F 500 --max-overhead 30 -o traced.r -- strace -f -o calls ./debugged 1 > out 2> err
    [ $? = 7 ] || { echo "FAILED: status with strace"; cat err; failed=1; }
    samples=$(for file in traced.r/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -c '^sample')
    [ "$samples" -gt 2 ] || { echo "FAILED: strace: only $samples samples"; failed=1; }
fi
# ltrace leaves children alone, but after traps that were not its own they went on in the middle of an instruction.
if command -v ltrace > ltrace-path; then
    $CC -O1 -x c -o forks - <<'C' || exit 1
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    for (int child = 0; child < 3; child++) {
        int status = 0;
        fflush(stdout);
        if (fork() == 0) {
            for (volatile long i = 0; i < 100000000; i++)
                ;
            _exit(7);
        }
        wait(&status);
        printf("%x\n", (unsigned)status);
    }
    return 0;
}
C
    ltrace -o calls -e malloc ./forks > plain 2> err
    status=$? # its own
    if [ "$(cat plain)" = "$(printf '700\n700\n700')" ]; then # where it may trace
        "$LWP" collect -q --no-analyze -o ltraced.r -- ltrace -o calls -e malloc ./forks > out 2> err
        [ $? = $status ] && cmp plain out || { echo "FAILED: with ltrace"; cat out err; failed=1; }
    fi
fi
exit $failed
