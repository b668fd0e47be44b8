/* What a program may set for itself: floating-point exceptions, checks of alignment, the time stamp counter, its own
 * system calls, errno. */
#define _GNU_SOURCE
#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <xmmintrin.h>

enum { ROUNDS = 300, BLOCKS = 200, THREADS = 70 };

static unsigned raised(void)
{
    return _mm_getcsr() & _MM_EXCEPT_MASK;
}

static __attribute__((noinline)) void *allocate(size_t size, unsigned path)
{
    void *block = path < 2 ? malloc(size) : path & 1 ? allocate(size, path >> 1) : memset(allocate(size, path >> 1), 0, 1);
    __asm__ volatile("" ::: "memory");
    return block;
}

/* Blocks of all sizes, by call paths that are new. */
static void allocations(unsigned round)
{
    void *blocks[BLOCKS];
    for (unsigned i = 0; i < BLOCKS; i++)
        blocks[i] = allocate(1 + (round * BLOCKS + i) * 7 % 9000, i);
    for (unsigned i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    free(realloc(malloc(1 << 20), 1 << 21));
}

static void *threads_flags(void *unused)
{
    (void)unused;
    unsigned at_start = raised();
    work(1);
    allocations(1);
    return (void *)(long)(at_start | raised());
}

static unsigned thread_flags(void)
{
    pthread_t thread;
    void *flags = NULL;
    if (pthread_create(&thread, NULL, threads_flags, NULL) == 0)
        pthread_join(thread, &flags);
    return (unsigned)(long)flags;
}

static unsigned child_flags(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        allocations(2);
        work(40);
        _exit((int)raised());
    }
    waitpid(child, &status, 0);
    return (unsigned)status;
}

/* Flags that it has not raised, a rounding that it has chosen, and exceptions that it wants trapped. */
static int floats(void)
{
    unsigned flags = 0, of_threads = 0;
    _mm_setcsr(_MM_MASK_MASK | _MM_ROUND_UP);
    for (unsigned i = 0; i < ROUNDS; i++) {
        allocations(i);
        if (i % 4 == 0)
            work(1);
        flags |= raised();
    }
    for (int i = 0; i < THREADS; i++)
        of_threads |= thread_flags() | raised();
    const unsigned of_child = child_flags();
    printf("raised %x, by threads %x, by a child %x, rounds upward %d\n", flags, of_threads, of_child,
           _MM_GET_ROUNDING_MODE() == _MM_ROUND_UP);
    _mm_setcsr(0); /* all are trapped */
    for (unsigned i = 0; i < ROUNDS; i++)
        allocations(i);
    of_threads = thread_flags();
    const unsigned child = child_flags();
    _mm_setcsr(_MM_MASK_MASK);
    printf("trapped: by threads %x, by a child %x\n", of_threads, child);
    return 0;
}

static void alignment_checks(int on)
{
    enum { ALIGNMENT_CHECK = 1 << 18 };
    const unsigned long flags = __builtin_ia32_readeflags_u64();
    __builtin_ia32_writeeflags_u64(on ? flags | ALIGNMENT_CHECK : flags & ~(unsigned long)ALIGNMENT_CHECK);
}

/* An access that is not aligned is a SIGBUS; it has none. */
static int aligned(void)
{
    enum { TURNS = 300000000 };
    alignment_checks(1);
    for (long i = 0; i < TURNS; i++)
        work_words[i * 77 & (WORK_WORDS - 1)] += i;
    alignment_checks(0);
    puts("aligned");
    return 0;
}

/* Whoever reads the time stamp counter, as clocks do that ask no kernel, gets a SIGSEGV. */
static int no_counter(void)
{
    int status = 0;
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    for (unsigned i = 0; i < ROUNDS; i++)
        allocations(i);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, threads_flags, NULL) == 0)
            pthread_join(thread, NULL);
    }
    pid_t child = fork();
    if (child == 0) {
        for (unsigned i = 0; i < ROUNDS; i++)
            allocations(i);
        _exit(7);
    }
    waitpid(child, &status, 0);
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    printf("child %x\n", (unsigned)status);
    return 0;
}

static volatile char calls_selector;
static volatile long calls_handled;

static void calls_handler(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    calls_selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    calls_handled++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = info->si_syscall + 1;
}

/* As Wine does it, whose Windows programs make system calls of Windows. */
static int own_calls(void)
{
    enum { CALLS = 40, NUMBER = 9999 };
    const struct sigaction action = {.sa_sigaction = calls_handler, .sa_flags = SA_SIGINFO};
    long wrong = 0;
    sigaction(SIGSYS, &action, NULL);
    work(50);
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &calls_selector)) {
        puts("none here");
        return 0;
    }
    for (int i = 0; i < CALLS; i++) {
        long answer;
        calls_selector = SYSCALL_DISPATCH_FILTER_BLOCK;
        for (long step = 0; step < 5000000; step++)
            work_words[step * 77 & (WORK_WORDS - 1)] += step;
        __asm__ volatile("syscall" : "=a"(answer) : "0"((long)NUMBER) : "rcx", "r11", "memory");
        wrong += answer != NUMBER + 1;
    }
    calls_selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    printf("%ld handled, %ld wrong\n", calls_handled, wrong);
    return 0;
}

static void *threads_none(void *given)
{
    return given;
}

/* errno is what it was after calls that succeed and leave it alone, in a program that has done nothing else yet. */
static int error_number(void)
{
    enum { MARK = 1234 };
    int changed = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        errno = MARK;
        if (pthread_create(&thread, NULL, threads_none, NULL) == 0)
            pthread_join(thread, NULL);
        changed += errno != MARK;
        errno = MARK;
        allocations((unsigned)i);
        changed += errno != MARK;
    }
    printf("errno changed %d times\n", changed);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct situation situations[] = {
        {"floats", floats}, {"aligned", aligned}, {"no_counter", no_counter}, {"own_calls", own_calls}};
    if (argc > 1 && strcmp(argv[1], "error_number") == 0)
        return error_number();
    return situation_run(situations, sizeof situations / sizeof *situations, argv[1]);
}
