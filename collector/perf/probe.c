#include "collector/perf/probe.h"

#include "collector/perf/open.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROBE_BYTES = 64 << 20, PROBE_TRIES = 40, PROBE_STEPS = 200000, PROBE_NEEDED = 3 };

static const struct lwp_pmu_wish probe_wish = {.sig_data = 1};

static volatile sig_atomic_t probe_signals;

static void probe_count(int signal)
{
    (void)signal;
    probe_signals++;
}

int lwp_probe(int (*probe)(const void *given), const void *given)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return errno;
    if (child == 0)
        _exit(probe(given));
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

/* Loads that miss the caches, each on the line the one before it leads to; stores beside them; now and then a new page. */
static void probe_work(volatile uint64_t *memory, uint64_t *at)
{
    for (int i = 0; i < PROBE_STEPS; i++) {
        *at = *at * 6364136223846793005u + 1442695040888963407u + memory[*at >> 38 & (PROBE_BYTES / 8 - 1)];
        memory[*at >> 38 & (PROBE_BYTES / 8 - 1)] = 0;
    }
}

static unsigned probe_taken(struct lwp_pmu_open *open, const volatile void *memory)
{
    uint64_t low = (uint64_t)(uintptr_t)memory;
    struct lwp_pmu_record record;
    unsigned good = 0;
    while (lwp_pmu_next(open, &record))
        if (record.type == PERF_RECORD_SAMPLE && record.event < open->count)
            good += record.sample.user && record.sample.address >= low && record.sample.address < low + PROBE_BYTES;
    return good;
}

static int probe_events(const void *given)
{
    struct sigaction count = {.sa_handler = probe_count};
    struct lwp_pmu_open open;
    volatile uint64_t *memory = mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return ENOMEM;
    sigaction(SIGTRAP, &count, NULL);
    int status = lwp_pmu_open(&open, given, 0, &probe_wish);
    if (status)
        return -status;
    lwp_pmu_switch(&open, true);
    unsigned good = 0;
    uint64_t at = 1;
    for (int i = 0; i < PROBE_TRIES && (good < PROBE_NEEDED || !probe_signals); i++) {
        probe_work(memory, &at);
        good += probe_taken(&open, memory);
    }
    return good >= PROBE_NEEDED && probe_signals ? 0 : ENODATA;
}

/* No child where the events cannot even be opened: a debugger that runs lwp would follow it, and not the program. */
int lwp_pmu_probe(const struct lwp_pmu_events *events)
{
    struct lwp_pmu_open open;
    int status = lwp_pmu_open(&open, events, 0, &probe_wish);
    if (status)
        return -status;
    lwp_pmu_close(&open);
    return lwp_probe(probe_events, events);
}

const char *lwp_pmu_probe_text(int why)
{
    switch (why) {
    case 0:
        return "samples with addresses are taken";
    case EACCES:
    case EPERM:
        return "the kernel does not permit perf_event_open (perf_event_paranoid, or a container's seccomp filter)";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "there is no PMU for it, as in most virtual machines";
    case EINVAL:
        return "the kernel refuses these events (synchronous signals need Linux 5.13)";
    case ENODATA:
        return "the events can be opened but no samples come, as under hypervisors that only count";
    case EINTR:
        return "the probe was killed by a signal";
    default:
        return strerror(why);
    }
}

int lwp_probe_breakpoint(const void *unused)
{
    enum { TIMES = 10 };
    static volatile int watched;
    const struct perf_event_attr attr = {.size = sizeof attr,
                                         .type = PERF_TYPE_BREAKPOINT,
                                         .bp_type = HW_BREAKPOINT_W,
                                         .bp_addr = (uint64_t)(uintptr_t)&watched,
                                         .bp_len = HW_BREAKPOINT_LEN_4,
                                         .sample_period = 1,
                                         .exclude_kernel = 1,
                                         .sigtrap = 1,
                                         .remove_on_exec = 1};
    (void)unused;
    signal(SIGTRAP, probe_count);
    if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
        return errno;
    for (int i = 0; i < TIMES; i++)
        watched = i;
    return probe_signals == TIMES ? 0 : ENODATA;
}
