/* A program that needs the four debug registers itself, and prints what they saw: with and without a profiler the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REGISTERS = 4, THREADS = 3, WORDS = 256, OWN_DATA = 42 };

static volatile long words[WORDS], watched[REGISTERS];
static volatile int stop, traps, wrong_traps, stores_due;
static volatile pid_t tids[THREADS];

/* What a profiler likes to watch. */
static void spin(double seconds)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do {
        for (int turn = 0; turn < 100; turn++)
            for (int i = 0; i < WORDS; i++) {
                words[i] = turn;
                words[i] = turn + 1;
            }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < seconds);
}

static int open_one(volatile long *at, pid_t tid, int inherit, int sigtrap)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W,
                                   .bp_addr = (unsigned long)at, .bp_len = sizeof *at, .exclude_kernel = 1,
                                   .exclude_hv = 1, .inherit = inherit ? 1 : 0};
    if (sigtrap) {
        attr.sample_period = 1;
        attr.sigtrap = attr.remove_on_exec = 1;
        attr.sig_data = OWN_DATA;
    }
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void open_all(const char *what, pid_t tid, int inherit, int fds[REGISTERS])
{
    for (int i = 0; i < REGISTERS; i++) {
        fds[i] = open_one(&watched[i], tid, inherit, 0);
        if (fds[i] < 0)
            printf("%s: register %d: %s\n", what, i, strerror(errno));
    }
}

static void print_counts(const char *what, int fds[REGISTERS])
{
    printf("%s:", what);
    for (int i = 0; i < REGISTERS; i++) {
        long long count = -1;
        if (read(fds[i], &count, sizeof count) != sizeof count)
            printf(" (unreadable)");
        printf(" %lld", count);
        close(fds[i]);
    }
    printf("\n");
}

static void store(int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 0; i < REGISTERS; i++)
            watched[i] = k;
}

static void *worker(void *number)
{
    long n = (long)number;
    int stored = 0;
    tids[n] = (pid_t)syscall(SYS_gettid);
    while (!stop) {
        spin(0.001);
        if (stores_due && !stored++)
            store(100 + (int)n);
    }
    return NULL;
}

static void *inheriting(void *unused)
{
    (void)unused;
    store(50);
    return NULL;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    unsigned long data; /* si_perf_data */
    memcpy(&data, (char *)&info->si_addr + sizeof(void *), sizeof data);
    if (data == OWN_DATA)
        traps++;
    else
        wrong_traps++;
}

int main(void)
{
    int fds[REGISTERS], thread_fds[THREADS][REGISTERS];
    pthread_t threads[THREADS], heir;
    for (long n = 0; n < THREADS; n++)
        pthread_create(&threads[n], NULL, worker, (void *)n);
    spin(1);

    open_all("own", 0, 0, fds);
    int fifth = open_one(&words[0], 0, 0, 0);
    printf("a fifth: %s\n", fifth < 0 ? strerror(errno) : "opened");
    store(1000);
    print_counts("own", fds);

    for (int n = 0; n < THREADS; n++)
        open_all("thread", tids[n], 0, thread_fds[n]);
    stores_due = 1;
    spin(0.3);
    stop = 1;
    for (int n = 0; n < THREADS; n++) {
        pthread_join(threads[n], NULL);
        print_counts("thread", thread_fds[n]);
    }

    open_all("heirs", 0, 1, fds);
    pthread_create(&heir, NULL, inheriting, NULL);
    pthread_join(heir, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        spin(0.3);
        store(7);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    print_counts("heirs", fds);

    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;
    sigaction(SIGTRAP, &action, &old);
    int trap = open_one(&watched[0], 0, 0, 1);
    for (int k = 0; k < 20; k++) {
        store(1);
        spin(0.01);
    }
    close(trap);
    printf("traps %d, others %d\n", traps, wrong_traps);

    int status = (int)syscall(SYS_perf_event_open, (void *)8, 0, -1, -1, 0L);
    printf("bad pointer: %d %s\n", status, strerror(errno));
    status = (int)syscall(100000L);
    printf("not a call: %d %s\n", status, strerror(errno));
    spin(0.3);
    return 3;
}
