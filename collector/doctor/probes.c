#include "collector/doctor/checks.h"

#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

enum { PROBE_MOST_MS = 1000 }; /* of CPU time: a machine that is busy gives few signals in the first tenth */

static volatile sig_atomic_t probes_signals;

static void probes_count(int signal)
{
    (void)signal;
    probes_signals++;
}

static int probes_perf_open(const struct perf_event_attr *attr)
{
    return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Until more than so many signals came. 0, or ENODATA: they did not. */
static int probes_burn(int few)
{
    struct timespec now;
    do {
        for (int i = 0; i < 10000; i++)
            __asm__ volatile("" : : "r"(i)); /* or there is no loop */
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (probes_signals <= few && now.tv_sec * 1000 + now.tv_nsec / 1000000 < PROBE_MOST_MS);
    return probes_signals > few ? 0 : ENODATA;
}

int lwp_probe_sigtrap(const void *unused UNUSED)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = 1000003, .exclude_kernel = 1, .sigtrap = 1, .remove_on_exec = 1};
    signal(SIGTRAP, probes_count);
    if (probes_perf_open(&attr) < 0)
        return errno;
    return probes_burn(10);
}

int lwp_probe_async(const void *unused UNUSED)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = 1000003, .exclude_kernel = 1, .wakeup_events = 1};
    signal(SIGUSR1, probes_count);
    int fd = probes_perf_open(&attr);
    if (fd < 0 || fcntl(fd, F_SETSIG, SIGUSR1) || fcntl(fd, F_SETOWN, getpid()) || fcntl(fd, F_SETFL, O_ASYNC))
        return errno;
    return probes_burn(10);
}

int lwp_probe_posix(const void *unused UNUSED)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    signal(SIGUSR1, probes_count);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) || timer_settime(timer, 0, &every, NULL))
        return errno;
    return probes_burn(5);
}

int lwp_probe_kernel_breakpoint(const void *unused UNUSED)
{
    static volatile uint64_t watched;
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_RW,
                                   .bp_addr = (uint64_t)(uintptr_t)&watched, .bp_len = HW_BREAKPOINT_LEN_8,
                                   .sample_period = 1, .sigtrap = 1, .remove_on_exec = 1};
    signal(SIGTRAP, probes_count);
    if (probes_perf_open(&attr) < 0)
        return errno;
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (zero < 0 || read(zero, (void *)&watched, sizeof watched) != sizeof watched)
        return EIO;
    return probes_signals ? 0 : ENODATA;
}

int lwp_probe_pmu(const void *unused UNUSED)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
                                   .exclude_kernel = 1};
    return probes_perf_open(&attr) < 0 ? errno : 0;
}

int lwp_probe_unwind(const void *unused UNUSED)
{
    return dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL) ? 0 : ENOENT;
}

int lwp_probe_zydis(const void *unused UNUSED)
{
    return dlopen(LWP_ZYDIS, RTLD_NOW | RTLD_LOCAL) ? 0 : ENOENT;
}
