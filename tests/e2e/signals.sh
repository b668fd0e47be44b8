#!/bin/bash
# A program that handles, ignores and blocks signals, SIGTRAP among them, sees the same with and without lwp, whichever
# timer samples it (LONG: all three); and it is sampled all along.
set -u
cd "$TMP" || exit 1
$CC -O1 -g -pthread -o signals "$SRC/tests/programs/signals.c" || exit 1
./signals > plain 2> err
status=$?
[ $status = 133 ] || { echo "FAILED: $status without lwp"; exit 1; }
failed=0
for timer in sigtrap ${LONG:+async} posix; do
    # as often as it can, since on a busy machine each sample costs more and the pace goes down
    LWP_TIMER=$timer "$LWP" collect --no-analyze --max-overhead 25 -o r-$timer -- ./signals > with 2> err
    with=$?
    if [ $with != $status ]; then echo "FAILED: $timer: status $with instead of $status"; failed=1; fi
    diff plain with > difference || { echo "FAILED: $timer: it saw something else"; cat difference; failed=1; }
    "$LWP" dump r-$timer/p*/t*.lwps > dump 2> err
    samples=$(grep -c '^sample' dump)
    [ "$samples" -gt 100 ] || { echo "FAILED: $timer: only $samples samples"; failed=1; }
done

# Sampling begins and ends when asked to; the program goes on.
cat > spin.c <<'C'
#include <time.h>
int main(void) { volatile unsigned long n = 0; struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); long end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + 2000;
  do { for (int i = 0; i < 100000; i++) n++; clock_gettime(CLOCK_MONOTONIC, &t); } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < end); return 9; }
C
$CC -O1 -o spin spin.c || exit 1
"$LWP" collect --no-analyze --max-overhead 25 --delay 0.5 --duration 0.5 -o r-window -- ./spin > out 2> err
[ $? = 9 ] || { echo "FAILED: status with a window"; failed=1; }
"$LWP" dump r-window/p*/process.lwps r-window/p*/t*.lwps > dump 2> err
# times of the samples against the thread's start, ms
awk '/^thread /{ for (i = 1; i < NF; i++) if ($i == "time") start = $(i + 1) }
     /^sample /{ for (i = 1; i < NF; i++) if ($i == "time") { t = ($(i + 1) - start) / 1e6; n++; if (t < 400 || t > 1100) out++ } }
     END { if (!n || out) { print "FAILED: window:", n + 0, "samples,", out + 0, "outside"; exit 1 } }' dump || { failed=1; head -n 5 dump; }

# Before lwp's library has begun, as sanitizers of clang do.
cat > early.c <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static stack_t seen[2];
static void early(void) { sigaltstack(NULL, &seen[0]); syscall(SYS_sigaltstack, NULL, &seen[1]); }
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = early;
int main(void) { printf("%d %d\n", seen[0].ss_flags == SS_DISABLE, seen[1].ss_flags == SS_DISABLE); return 0; }
C
$CC -O1 -o early early.c || exit 1
[ "$("$LWP" collect --no-analyze -q -o r-early -- ./early 2> err)" = "1 1" ] || { echo "FAILED: sigaltstack before lwp begins"; cat err; failed=1; }
exit $failed
