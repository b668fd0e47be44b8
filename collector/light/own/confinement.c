/* A filter that was there when lwp started is known to bear what lwp does, as lwp collect did the same under it. Of one that came
 * with another program before this one nothing is known, so a child tries. One that this program installs by the C library is seen
 * coming (process/confined.c); one by a bare system call is noticed by the next thing that lwp wants to do. In strict mode even asking
 * is deadly. */
#include "collector/light/own/confinement.h"

#include "collector/light/own/own_files.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int mode_at_start;
static bool came;

/* What lwp does sooner or later; whether it is refused does not matter here. */
static void try_all(void)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = 1000000000,
                                   .exclude_kernel = 1,
                                   .disabled = 1};
    uint64_t here = 0, there = 0;
    struct iovec to = {&here, sizeof here}, from = {&there, sizeof there};
    struct rlimit limit;
    struct rusage usage;
    struct timespec now;
    char byte;
    int timer, fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    syscall(SYS_ioctl, fd, PERF_EVENT_IOC_DISABLE, 0);
    syscall(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0);
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0)
        syscall(SYS_timer_delete, timer);
    syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
    syscall(SYS_move_pages, 0, 1ul, &there, NULL, &timer, 0);
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
    syscall(SYS_read, file, &byte, 1);
    syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 10);
    int memory = (int)syscall(SYS_memfd_create, "lwp", 1);
    syscall(SYS_ftruncate, memory, 4096);
    void *mapped = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_SHARED, memory, 0);
    syscall(SYS_mremap, mapped, 4096, 4096, 0);
    syscall(SYS_munmap, mapped, 4096);
    syscall(SYS_sigaltstack, NULL, NULL);
    syscall(SYS_rseq, NULL, 0, 0, 0);
}

/* A child without the handlers of fork, and that the program is not told of. */
static bool survives(void)
{
    int status = 0;
    pid_t child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
    if (child == 0) {
        try_all();
        syscall(SYS_exit_group, 0);
    }
    return child > 0 && syscall(SYS_wait4, child, &status, __WALL, NULL) == child && WIFEXITED(status);
}

static unsigned long filters_now(void)
{
    char text[4096];
    lwp_own_files_read("/proc/self/status", text, sizeof text);
    const char *at = strstr(text, "Seccomp_filters:");
    return at ? strtoul(at + strlen("Seccomp_filters:"), NULL, 10) : 0;
}

bool lwp_confinement_start(const char *filters)
{
    mode_at_start = prctl(PR_GET_SECCOMP);
    unsigned long now = mode_at_start > 0 ? filters_now() : 0;
    return mode_at_start <= 0 || (filters && now && strtoul(filters, NULL, 10) == now) || survives();
}

void lwp_confinement_comes(void)
{
    came = true;
}

bool lwp_confinement_came(void)
{
    if (!came && mode_at_start == 0)
        came = prctl(PR_GET_SECCOMP) > 0;
    return came;
}
