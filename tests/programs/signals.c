/* A program that does with its signals whatever it likes, and prints what it sees of it: with and without lwp the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t traps, profs, alarms, users, on_alternate;
static volatile unsigned long sink;
static sigjmp_buf back;
static char alternate[64 * 1024];

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void spin(double seconds)
{
    for (double until = now() + seconds; now() < until;)
        for (int i = 0; i < 10000; i++)
            sink += (unsigned long)i * sink + 1;
}

static void on_trap(int signal) { traps += signal == SIGTRAP; }
static void on_prof(int signal) { profs += signal == SIGPROF; }
static void on_alarm(int signal) { alarms += signal == SIGALRM; }
static void on_trap_jump(int signal) { (void)signal; siglongjmp(back, 1); }

static void on_user(int signal, siginfo_t *info, void *context)
{
    (void)context;
    char here;
    users += signal == SIGUSR1 && info->si_pid == getpid();
    on_alternate = &here >= alternate && &here < alternate + sizeof alternate;
    spin(0.05);
}

static int is_blocked(int signal)
{
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, signal);
}

static void *in_thread(void *given)
{
    spin(0.1);
    *(int *)given = is_blocked(SIGTRAP);
    return NULL;
}

static int waited_for(int how, const sigset_t *set)
{
    siginfo_t info = {0};
    struct timespec second = {5, 0};
    int number = 0;
    if (how == 0)
        return sigwait(set, &number) ? -1 : number;
    number = how == 1 ? sigwaitinfo(set, &info) : sigtimedwait(set, &info, &second);
    return info.si_signo == number && info.si_pid == getpid() ? number : -1;
}

static void *in_waiter(void *given)
{
    int *seen = given;
    sigset_t set;
    sigfillset(&set);
    for (int i = 0; i < 3; i++)
        seen[i] = waited_for(i, &set) == SIGTRAP;
    siginfo_t info;
    if (sigwaitinfo(&set, &info) != SIGTRAP || info.si_code != SI_USER || info.si_value.sival_ptr)
        seen[2] = -1;
    return NULL;
}

/* One thread waits for SIGTRAP, which all of them block. */
static void wait_for_traps(void)
{
    int seen[3] = {0};
    sigset_t set, old, waiting;
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigprocmask(SIG_BLOCK, &set, &old);
    int before = (int)traps;
    kill(getpid(), SIGTRAP);
    sigpending(&waiting);
    printf("pending %d, ", sigismember(&waiting, SIGTRAP));
    printf("sigwait %d, ", waited_for(0, &set) == SIGTRAP);
    raise(SIGTRAP);
    printf("sigwaitinfo %d, ", waited_for(1, &set) == SIGTRAP);
    sigpending(&waiting);
    printf("pending %d, ", sigismember(&waiting, SIGTRAP));
    struct timespec soon = {0, 1000000};
    int status = sigtimedwait(&set, NULL, &soon);
    printf("timed %d %s\n", status, strerror(errno));
    pthread_create(&thread, NULL, in_waiter, seen);
    for (int i = 0; i < 4; i++) {
        spin(0.1);
        kill(getpid(), SIGTRAP);
    }
    pthread_join(thread, NULL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("waiter %d %d %d, handled %d\n", seen[0], seen[1], seen[2], (int)traps - before);
}

/* Each one sent is the one waited for, whatever else comes due meanwhile. */
static int waited_wrongly(int times)
{
    int wrong = 0;
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigprocmask(SIG_BLOCK, &set, &old);
    for (int i = 0; i < times; i++) {
        kill(getpid(), SIGTRAP);
        wrong += waited_for(2, &set) != SIGTRAP;
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    return wrong;
}

/* A debugger of itself: each instruction traps. */
static int step(void)
{
    int before = (int)traps;
    __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n"
                     "nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"
                     "pushfq\n andq $~0x100, (%%rsp)\n popfq\n" ::
                         : "memory", "cc");
    return (int)traps - before;
}

static volatile sig_atomic_t breaks;
static void on_break(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context, breaks += info->si_code == TRAP_BRKPT;
}

/* Virtual machines lose the cause of a step at times: the kernel then says TRAP_BRKPT. */
static int step_without_cause(void)
{
    struct sigaction action = {.sa_sigaction = on_break, .sa_flags = SA_SIGINFO}, before;
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = TRAP_BRKPT};
    long status = SYS_rt_tgsigqueueinfo, process = getpid();
    sigaction(SIGTRAP, &action, &before);
    breaks = 0;
    register siginfo_t *sent __asm__("r10") = &info;
    __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n syscall\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n"
                     : "+a"(status)
                     : "D"(process), "S"(process), "d"((long)SIGTRAP), "r"(sent)
                     : "rcx", "r11", "memory", "cc");
    sigaction(SIGTRAP, &before, NULL);
    return status ? (int)status : breaks;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_trap}, seen;
    sigaction(SIGTRAP, &action, &seen);
    printf("trap was default: %d\n", seen.sa_handler == SIG_DFL);
    sigaction(SIGTRAP, NULL, &seen);
    printf("trap is mine: %d\n", seen.sa_handler == on_trap);
    spin(0.1);
    raise(SIGTRAP);
    __asm__ volatile("int3");
    kill(getpid(), SIGTRAP);
    printf("traps %d\n", (int)traps);

    wait_for_traps();
    printf("waits that took another: %d\n", waited_wrongly(30000));
    int steps = 0;
    for (int i = 0; i < 2000; i++)
        steps += step();
    printf("steps %d\n", steps);
    printf("without a cause %d\n", step_without_cause());

    traps = 0;
    signal(SIGTRAP, SIG_IGN);
    spin(0.1);
    raise(SIGTRAP);
    printf("ignored, traps %d\n", (int)traps);
    printf("was ignored: %d\n", signal(SIGTRAP, on_trap) == SIG_IGN);

    struct itimerval timer = {{0, 5000}, {0, 5000}}, none = {{0, 0}, {0, 0}};
    signal(SIGPROF, on_prof);
    setitimer(ITIMER_PROF, &timer, NULL);
    for (int i = 0; i < 10 && profs <= 20; i++) /* a busy machine gives time in large pieces, a tick each */
        spin(0.3);
    setitimer(ITIMER_PROF, &none, NULL);
    printf("profs %s\n", profs > 20 ? "many" : "few");

    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    printf("blocked before %d, now %d\n", sigismember(&old, SIGTRAP), is_blocked(SIGTRAP));
    raise(SIGTRAP);
    raise(SIGUSR2);
    printf("while blocked, traps %d\n", (int)traps);
    int inherited = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, &inherited);
    pthread_join(thread, NULL);
    spin(0.1);
    printf("thread inherits %d\n", inherited);
    sigset_t two;
    sigemptyset(&two);
    sigaddset(&two, SIGUSR2);
    int got = 0;
    printf("sigwait %d", sigwait(&two, &got));
    printf(" %d\n", got == SIGUSR2);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("after unblocking, traps %d, blocked %d\n", (int)traps, is_blocked(SIGTRAP));

    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
    struct sigaction user = {.sa_sigaction = on_user, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&user.sa_mask);
    sigaction(SIGUSR1, &user, NULL);
    sigaction(SIGUSR1, NULL, &seen);
    printf("mask kept: %d\n", sigismember(&seen.sa_mask, SIGTRAP));
    raise(SIGUSR1);
    printf("users %d, alternate %d\n", (int)users, (int)on_alternate);

    signal(SIGTRAP, on_trap_jump);
    int jumps = 0;
    for (volatile int i = 0; i < 3; i++) {
        if (!sigsetjmp(back, 1))
            raise(SIGTRAP);
        jumps++;
        spin(0.02);
    }
    printf("jumps %d, blocked %d %d\n", jumps, is_blocked(SIGTRAP), is_blocked(SIGINT));

    struct sigaction quick = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &quick, NULL);
    struct itimerval once = {{0, 0}, {0, 100000}};
    setitimer(ITIMER_REAL, &once, NULL);
    struct timespec second = {2, 0};
    int status = nanosleep(&second, NULL);
    printf("sleep %d %s, alarms %d\n", status, status ? strerror(errno) : "", (int)alarms);
    errno = 77;
    spin(0.2);
    printf("errno %d\n", errno);
    signal(SIGTRAP, SIG_DFL);
    spin(0.1);
    fflush(stdout);
    raise(SIGTRAP);
    printf("not reached\n");
    return 0;
}
