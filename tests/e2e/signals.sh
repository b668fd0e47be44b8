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
# (Where the processors are others', the program may not run in the window.)
for _ in 1 2 3; do
    "$LWP" collect --no-analyze --force --max-overhead 25 --delay 0.5 --duration 0.5 -o r-window -- ./spin > out 2> err
    [ $? = 9 ] || { echo "FAILED: status with a window"; failed=1; }
    "$LWP" dump r-window/p*/process.lwps r-window/p*/t*.lwps > dump 2> err
    ! grep -q '^sample' dump || break
done
# times of the samples against the thread's start, ms
awk '/^thread /{ for (i = 1; i < NF; i++) if ($i == "time") start = $(i + 1) }
     /^sample /{ for (i = 1; i < NF; i++) if ($i == "time") { t = ($(i + 1) - start) / 1e6; n++; if (t < 400 || t > 1100) out++ } }
     END { if (!n || out) { print "FAILED: window:", n + 0, "samples,", out + 0, "outside"; exit 1 } }' dump || { failed=1; head -n 5 dump; }

# Another C library has set the handler: what the program sets afterwards by its own counts, and it is sampled again.
cat > another.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static volatile int over;
static void handle(int number) { (void)number; if (over) _exit(3); }
int main(void) { void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW); struct sigaction set = {.sa_handler = handle}, was;
  int (*other)(int, const struct sigaction *, struct sigaction *) = libc ? (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(libc, "sigaction") : NULL;
  struct timespec t; volatile unsigned long n = 0;
  if (!other || other(SIGTRAP, &set, NULL)) return 77;
  set.sa_handler = SIG_IGN; over = 1;
  if (sigaction(SIGTRAP, &set, &was)) return 4;
  printf("%d\n", was.sa_handler == handle);
  do { for (int i = 0; i < 100000; i++) n++; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); } while (t.tv_sec < 1);
  return 9; }
C
$CC -O1 -o another another.c || exit 1
[ "$("$LWP" collect --no-analyze -q --max-overhead 25 -o r-another -- ./another 2> err; echo $?)" = "1
9" ] || { echo "FAILED: after a handler of another C library's"; cat err; failed=1; }
[ "$("$LWP" dump r-another/p*/t*.lwps | grep -c '^sample')" -gt 5 ] || { echo "FAILED: not sampled after another C library's handler"; failed=1; }

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

# As Go's runtime does: a thread asks by a bare system call which alternate stack it has, and its handlers run on that one.
cat > runtime.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
__asm__(".pushsection .note.go.buildid,\"a\",@note\n .long 4, 4, 4\n .ascii \"Go\\0\\0\"\n .long 0\n .popsection");
static stack_t has;
static char room[1 << 16];
static volatile int on_it, elsewhere;
static long bare(const stack_t *now, stack_t *before)
{
    long status = SYS_sigaltstack;
    __asm__ volatile("syscall" : "+a"(status) : "D"(now), "S"(before) : "rcx", "r11", "memory");
    return status;
}
static void handler(int signal)
{
    char here;
    (void)signal;
    if (&here >= (char *)has.ss_sp && &here < (char *)has.ss_sp + has.ss_size) on_it++; else elsewhere++;
}
static void spin(long ms)
{
    volatile unsigned long n = 0;
    for (clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000); clock() < end;) for (int i = 0; i < 10000; i++) n++;
}
static void *run(void *arg)
{
    const stack_t own = {.ss_sp = room, .ss_size = sizeof room};
    bare(NULL, &has);
    if (has.ss_flags & SS_DISABLE) { bare(&own, NULL); has = own; }
    for (int i = 0; i < 50; i++) { spin(5); raise(SIGURG); }
    return arg;
}
int main(void)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    pthread_t thread;
    sigaction(SIGURG, &action, NULL);
    spin(100);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    printf("%d %d\n", on_it, elsewhere);
    return 0;
}
C
$CC -O1 -pthread -o runtime runtime.c || exit 1
[ "$(./runtime) $("$LWP" collect --no-analyze -q -F 1000 -o r-runtime -- ./runtime 2> err)" = "50 0 50 0" ] || { echo "FAILED: the stack of a runtime's handlers"; cat err; failed=1; }
exit $failed
