/* Events that are inherited by new threads cannot have one ring for all CPUs. So each thread has an event for each CPU, which counts
 * while the thread is on it; the first of a CPU has a ring, and the others write into that. */
#include "collector/outside/events.h"

#include "base/arena.h"
#include "base/random.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 8192, RING_PAGES = 512, RING_PAGES_LEAST = 16, CPUS_MAX = 8192 };

static const uint64_t registers = 1u << PERF_REG_X86_AX | 1u << PERF_REG_X86_BX | 1u << PERF_REG_X86_CX | 1u << PERF_REG_X86_DX |
                                  1u << PERF_REG_X86_SI | 1u << PERF_REG_X86_DI | 1u << PERF_REG_X86_BP | 1u << PERF_REG_X86_SP |
                                  1u << PERF_REG_X86_IP | 1u << PERF_REG_X86_FLAGS | 0xffu << PERF_REG_X86_R8;

/* "0-3,8" */
static void events_read_cpus(struct lwp_events *events)
{
    char text[4096] = "0";
    FILE *online = fopen("/sys/devices/system/cpu/online", "re");
    if (online && !fgets(text, sizeof text, online))
        strcpy(text, "0");
    if (online)
        fclose(online);
    events->cpus = lwp_zeroed(CPUS_MAX, sizeof *events->cpus);
    for (char *at = text; *at >= '0' && *at <= '9';) {
        long first = strtol(at, &at, 10), last = first;
        if (*at == '-')
            last = strtol(at + 1, &at, 10);
        for (long cpu = first; cpu <= last && events->cpu_count < CPUS_MAX; cpu++)
            events->cpus[events->cpu_count++] = (struct lwp_events_cpu){.number = (int)cpu, .output = -1};
        at += *at == ',';
    }
}

int lwp_events_init(struct lwp_events *events, uint64_t period_ns, bool children, struct lwp_error *err)
{
    struct rlimit files;
    *events = (struct lwp_events){.attr = {.size = sizeof events->attr,
                                           .type = PERF_TYPE_SOFTWARE,
                                           .config = PERF_COUNT_SW_TASK_CLOCK,
                                           .sample_period = period_ns,
                                           .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                          PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                                           .sample_regs_user = registers,
                                           .sample_stack_user = STACK_BYTES,
                                           .disabled = 1,
                                           .exclude_kernel = 1,
                                           .exclude_hv = 1,
                                           .inherit = 1,
                                           .inherit_thread = !children,
                                           .mmap = 1,
                                           .mmap2 = 1,
                                           .mmap_data = children, /* one that has ended cannot be asked any more */
                                           .comm = 1,
                                           .comm_exec = 1,
                                           .task = 1,
                                           .sample_id_all = 1,
                                           .use_clockid = 1,
                                           .clockid = CLOCK_MONOTONIC,
                                           .watermark = 1,
                                           .wakeup_watermark = UINT32_MAX}};
    events->period.random = (uint32_t)getpid() * 2654435761u | 1;
    events_read_cpus(events);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    return events->cpu_count ? LWP_OK : lwp_error_set(err, LWP_ERR_SYSTEM, "collect: no CPU is online");
}

static long events_paranoid(void)
{
    long level = 2;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (file && fscanf(file, "%ld", &level) != 1)
        level = 2;
    if (file)
        fclose(file);
    return level;
}

static int events_refused(const struct lwp_events *events, pid_t pid, int why, struct lwp_error *err)
{
    char path[32];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (why == EMFILE || why == ENFILE)
        return lwp_error_set(err, LWP_ERR_LIMIT,
                             "collect: the threads of process %d need more than %zu open files (one for each thread and each of %zu CPUs); "
                             "raise the limit: ulimit -n",
                             (int)pid, events->thread_count * events->cpu_count, events->cpu_count);
    if (why == EACCES && events_paranoid() > 2 && geteuid() != 0)
        return lwp_error_set(err, LWP_ERR_SYSTEM,
                             "collect: perf_event_paranoid is %ld, which forbids to sample another process; as root: sysctl "
                             "kernel.perf_event_paranoid=2, or run lwp as root",
                             events_paranoid());
    if ((why == EACCES || why == EPERM) && geteuid() != 0 && stat(path, &info) == 0)
        return lwp_error_set(err, LWP_ERR_SYSTEM, "collect: process %d %s, and may not be sampled by you; run lwp as %s", (int)pid,
                             info.st_uid == geteuid() ? "has or had more rights than you" : "belongs to another user",
                             info.st_uid == geteuid() ? "root" : "that user or as root");
    if (why == EACCES || why == EPERM || why == ENOSYS)
        return lwp_error_set(err, LWP_ERR_SYSTEM,
                             "collect: perf_event_open is forbidden here (%s), perhaps by a container's seccomp filter; run lwp outside "
                             "of the container with the process's pid there, or the container with --security-opt seccomp=unconfined",
                             strerror(why));
    errno = why;
    return lwp_error_errno(err, "collect: the threads of process %d cannot be sampled", (int)pid);
}

/* Memory for rings is limited for users who are not root (perf_event_mlock_kb): then smaller ones. */
static int events_ring(struct lwp_events_cpu *cpu, int fd)
{
    int status = -EINVAL;
    for (size_t pages = RING_PAGES; status && pages >= RING_PAGES_LEAST; pages /= 2)
        status = lwp_perf_ring_map(&cpu->ring, fd, pages);
    if (status)
        return status;
    cpu->output = fd;
    return 0;
}

static int events_call(const struct perf_event_attr *attr, pid_t tid, const struct lwp_events_cpu *cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, tid, cpu->number, -1, PERF_FLAG_FD_CLOEXEC);
}

static int events_open(struct lwp_events *events, struct lwp_events_cpu *cpu, pid_t tid, uint64_t *id)
{
    int fd = events_call(&events->attr, tid, cpu);
    if (fd < 0 && errno == EINVAL && events->attr.inherit_thread && !events->thread_count) { /* before Linux 5.13 */
        events->attr.inherit_thread = 0;
        fd = events_call(&events->attr, tid, cpu);
    }
    if (fd < 0)
        return -errno;
    int status = 0;
    if (ioctl(fd, PERF_EVENT_IOC_ID, id))
        status = -errno;
    else if (cpu->output < 0)
        status = events_ring(cpu, fd);
    else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->output))
        status = -errno;
    if (status)
        close(fd);
    return status ? status : fd;
}

int lwp_events_add(struct lwp_events *events, pid_t pid, pid_t tid, struct lwp_error *err)
{
    uint32_t index = (uint32_t)events->thread_count;
    int *fds = lwp_zeroed(events->cpu_count, sizeof *fds);
    for (size_t i = 0; i < events->cpu_count; i++) {
        uint64_t id;
        fds[i] = events_open(events, &events->cpus[i], tid, &id);
        if (fds[i] >= 0) {
            *lwp_map_at(&events->owner, id) = index;
            continue;
        }
        int why = -fds[i];
        if (why == ENODEV && i) /* the CPU was taken away */
            continue;
        while (i--) { /* rings stay: their memory is mapped, and others may write there */
            if (events->cpus[i].output != fds[i])
                close(fds[i]);
        }
        free(fds);
        return why == ESRCH ? LWP_ERR_MISSING : events_refused(events, pid, why, err);
    }
    *lwp_map_at(&events->thread_index, (uint64_t)tid) = index;
    LWP_PUSH(events->thread, (struct lwp_events_thread){.tid = tid, .fds = fds});
    return LWP_OK;
}

static int events_open_mark(struct lwp_events *events, const struct lwp_events_cpu *cpu, pid_t tid, uint64_t address)
{
    enum { MARK_STACK_BYTES = 512 };
    uint64_t id;
    struct perf_event_attr attr = events->attr;
    attr.type = PERF_TYPE_BREAKPOINT;
    attr.config = 0;
    attr.bp_type = HW_BREAKPOINT_X;
    attr.bp_addr = address;
    attr.bp_len = sizeof(long);
    attr.sample_period = 1;
    attr.sample_stack_user = MARK_STACK_BYTES;
    attr.disabled = attr.mmap = attr.mmap2 = attr.mmap_data = attr.comm = attr.comm_exec = attr.task = 0;
    int fd = cpu->output < 0 ? -1 : events_call(&attr, tid, cpu);
    if (fd < 0)
        return cpu->output < 0 || errno == ESRCH || errno == ENODEV ? 0 : errno;
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->output)) {
        int why = errno;
        close(fd);
        return why;
    }
    *lwp_map_at(&events->marks, id) = 1;
    LWP_PUSH(events->mark_fd, fd);
    return 0;
}

int lwp_events_mark(struct lwp_events *events, pid_t tid, const uint64_t *addresses, size_t count)
{
    int why = 0;
    if (lwp_events_is_marked(events, tid))
        return 0;
    for (size_t i = 0; i < count && !why; i++)
        for (size_t k = 0; k < events->cpu_count && !why; k++)
            why = events_open_mark(events, &events->cpus[k], tid, addresses[i]);
    *lwp_map_at(&events->marked, (uint64_t)tid) = 1;
    return why;
}

bool lwp_events_is_mark(const struct lwp_events *events, uint64_t id)
{
    return lwp_map_get(&events->marks, id) == 1;
}

bool lwp_events_is_marked(const struct lwp_events *events, pid_t tid)
{
    return lwp_map_get(&events->marked, (uint64_t)tid) == 1;
}

static void events_end(struct lwp_events *events, struct lwp_events_thread *thread)
{
    for (size_t i = 0; thread->fds && i < events->cpu_count; i++) {
        if (thread->fds[i] < 0)
            continue;
        if (events->cpus[i].output == thread->fds[i])
            ioctl(thread->fds[i], PERF_EVENT_IOC_DISABLE, 0); /* others write into its ring */
        else
            close(thread->fds[i]);
    }
    free(thread->fds);
    thread->fds = NULL;
}

void lwp_events_drop(struct lwp_events *events, pid_t tid)
{
    uint32_t at = lwp_map_get(&events->thread_index, (uint64_t)tid);
    if (at != LWP_MAP_NONE)
        events_end(events, &events->threads[at]);
}

void lwp_events_switch(const struct lwp_events *events, bool on)
{
    for (size_t i = 0; i < events->thread_count; i++)
        for (size_t k = 0; events->threads[i].fds && k < events->cpu_count; k++)
            if (events->threads[i].fds[k] >= 0)
                ioctl(events->threads[i].fds[k], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static void events_change_period(const struct lwp_events *events, uint64_t period_ns)
{
    for (size_t i = 0; i < events->thread_count; i++)
        for (size_t k = 0; events->threads[i].fds && k < events->cpu_count; k++)
            if (events->threads[i].fds[k] >= 0)
                ioctl(events->threads[i].fds[k], PERF_EVENT_IOC_PERIOD, &period_ns);
}

static void events_have_period(struct lwp_events *events, uint64_t period_ns, uint64_t now)
{
    events_change_period(events, period_ns);
    events->period.before_ns = events->period.ns;
    events->period.ns = period_ns;
    events->period.since = now;
}

void lwp_events_set_period(struct lwp_events *events, uint64_t period_ns, uint64_t now)
{
    events->attr.sample_period = period_ns;
    events_have_period(events, period_ns, now);
}

void lwp_events_vary_period(struct lwp_events *events, uint64_t now)
{
    /* Each is a system call that may interrupt a processor, and begins a period anew. */
    enum { CHANGED_MOST = 256, PERIODS_LEAST = 32 };
    const uint64_t usual = events->attr.sample_period;
    if (events->thread_count * events->cpu_count <= CHANGED_MOST && now >= events->period.since + PERIODS_LEAST * usual)
        events_have_period(events, usual - usual / 4 + lwp_random_below(&events->period.random, (uint32_t)(usual / 2)), now);
}

uint64_t lwp_events_period(const struct lwp_events *events, uint64_t time)
{
    return time < events->period.since ? events->period.before_ns : events->period.ns;
}

int lwp_events_interval_ms(const struct lwp_events *events, int most_ms)
{
    const struct perf_event_attr *attr = &events->attr;
    uint64_t record_bytes = attr->sample_stack_user + 512, least = UINT64_MAX;
    for (size_t i = 0; i < events->cpu_count; i++)
        if (events->cpus[i].ring.page && events->cpus[i].ring.size < least)
            least = events->cpus[i].ring.size;
    uint64_t ms = least / record_bytes * attr->sample_period / 4 / 1000000;
    return ms < 1 ? 1 : ms < (uint64_t)most_ms ? (int)ms : most_ms;
}

pid_t lwp_events_owner(const struct lwp_events *events, uint64_t id)
{
    uint32_t at = lwp_map_get(&events->owner, id);
    return at < events->thread_count ? events->threads[at].tid : 0;
}

bool lwp_events_holds(const struct lwp_events *events, pid_t tid)
{
    uint32_t at = lwp_map_get(&events->thread_index, (uint64_t)tid);
    return at != LWP_MAP_NONE && events->threads[at].fds;
}

void lwp_events_close(struct lwp_events *events)
{
    for (size_t i = 0; i < events->mark_fd_count; i++)
        close(events->mark_fds[i]);
    free(events->mark_fds);
    lwp_map_fini(&events->marks);
    lwp_map_fini(&events->marked);
    for (size_t i = 0; i < events->thread_count; i++)
        events_end(events, &events->threads[i]);
    for (size_t i = 0; i < events->cpu_count; i++) {
        lwp_perf_ring_unmap(&events->cpus[i].ring);
        if (events->cpus[i].output >= 0)
            close(events->cpus[i].output);
    }
    free(events->threads);
    free(events->cpus);
    lwp_map_fini(&events->thread_index);
    lwp_map_fini(&events->owner);
    *events = (struct lwp_events){0};
}
