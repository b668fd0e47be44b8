#include "collector/perf/open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint64_t open_fields = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                    PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU; /* no period: with it, software events sample
                                                                           every time */

static struct perf_event_attr open_attr(const struct lwp_pmu_code *code)
{
    return (struct perf_event_attr){.size = sizeof(struct perf_event_attr),
                                    .type = code->type,
                                    .config = code->config,
                                    .config1 = code->config1,
                                    .config2 = code->config2,
                                    .precise_ip = code->precise_ip,
                                    .exclude_kernel = !code->kernel_too,
                                    .exclude_hv = !code->kernel_too,
                                    .use_clockid = 1,
                                    .clockid = CLOCK_MONOTONIC,
                                    .disabled = 1};
}

static int open_event(struct perf_event_attr *attr, pid_t tid, int leader, int fd_least)
{
    int low = (int)syscall(SYS_perf_event_open, attr, tid, -1, leader, PERF_FLAG_FD_CLOEXEC);
    if (low < 0)
        return -errno;
    int fd = fd_least ? fcntl(low, F_DUPFD_CLOEXEC, fd_least) : -1;
    if (fd < 0)
        return low;
    close(low);
    return fd;
}

static void open_close(int fd)
{
    uint64_t id;
    if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0)
        close(fd);
}

/* Older kernels know the latency only as one number, and some processors are less precise than sysfs says. */
static int open_sampling(struct perf_event_attr *attr, pid_t tid, int leader, int fd_least)
{
    uint64_t latency = attr->sample_type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
    int fd = open_event(attr, tid, leader, fd_least);
    if (fd == -EINVAL && latency == PERF_SAMPLE_WEIGHT_STRUCT) {
        attr->sample_type ^= PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_WEIGHT;
        fd = open_event(attr, tid, leader, fd_least);
    }
    while ((fd == -EINVAL || fd == -EOPNOTSUPP) && attr->precise_ip > 1) {
        attr->precise_ip--;
        fd = open_event(attr, tid, leader, fd_least);
    }
    return fd;
}

/* Adds an event; the first one's attr says which form of the latency the others have, too: one layout for the ring. */
static int open_add(struct lwp_pmu_open *open, const struct lwp_pmu_events *events, unsigned index, pid_t tid,
                    const struct lwp_pmu_wish *wish)
{
    const struct lwp_pmu_event *event = &events->event[index];
    struct perf_event_attr attr = open_attr(&event->code);
    struct lwp_pmu_period range = lwp_pmu_period(events, index);
    uint64_t period = wish->period ? wish->period : range.first, id;
    int leader = -1;
    if (event->has_leader) {
        struct perf_event_attr counts = open_attr(&event->leader);
        counts.remove_on_exec = 1;
        leader = open_event(&counts, tid, -1, wish->fd_least);
        if (leader < 0)
            return leader;
        attr.disabled = 0; /* it runs when its leader does */
    }
    attr.sample_type = open->attr.sample_type;
    attr.sample_period = period + (range.step - period % range.step) % range.step;
    attr.sigtrap = attr.remove_on_exec = 1;
    attr.sig_data = wish->sig_data;
    int fd = open_sampling(&attr, tid, leader, wish->fd_least), status = fd;
    if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ID, &id))
        status = -errno;
    else if (fd >= 0 && open->count == 0)
        status = lwp_perf_ring_map(&open->ring, fd, 1);
    else if (fd >= 0)
        status = attr.sample_type != open->attr.sample_type || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, open->event[0].fd) ? -EINVAL : 0;
    if (status < 0) {
        open_close(fd);
        open_close(leader);
        return status;
    }
    open->attr = open->count ? open->attr : attr;
    open->event[open->count].fd = fd;
    open->event[open->count].leader = leader;
    open->event[open->count].id = id;
    open->event[open->count].period = attr.sample_period;
    open->event[open->count++].range = range;
    return 0;
}

int lwp_pmu_open(struct lwp_pmu_open *open, const struct lwp_pmu_events *events, pid_t tid,
                 const struct lwp_pmu_wish *wish)
{
    int first = -ENOENT;
    *open = (struct lwp_pmu_open){.unit = events->unit, .attr = {.sample_type = open_fields}};
    if (events->unit == LWPS_WEIGHT_CYCLES)
        open->attr.sample_type |= PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC;
    for (unsigned i = 0; i < events->count; i++) {
        int status = open_add(open, events, i, tid, wish);
        if (status && first == -ENOENT)
            first = status;
    }
    return open->count ? 0 : first;
}

void lwp_pmu_switch(const struct lwp_pmu_open *open, bool on)
{
    for (unsigned i = 0; i < open->count; i++)
        ioctl(open->event[i].leader >= 0 ? open->event[i].leader : open->event[i].fd,
              on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void lwp_pmu_set_period(struct lwp_pmu_open *open, unsigned event, uint64_t period)
{
    const struct lwp_pmu_period *range = &open->event[event].range;
    period += (range->step - period % range->step) % range->step;
    if (period == open->event[event].period || ioctl(open->event[event].fd, PERF_EVENT_IOC_PERIOD, &period))
        return;
    open->event[event].period = period;
    open->event[event].restarted = open->unit == LWPS_WEIGHT_EVENTS;
}

static void open_read_sample(struct lwp_pmu_open *open, const struct perf_event_header *header, const uint8_t *bytes,
                             struct lwp_pmu_record *record)
{
    size_t size = header->size - sizeof *header;
    uint64_t id = lwp_perf_sample_id(&open->attr, bytes, size);
    if (!lwp_perf_sample_parse(&open->attr, header->misc, bytes, size, NULL, &record->sample))
        return;
    unsigned event = 0;
    while (event < open->count && open->event[event].id != id)
        event++;
    record->event = event;
    if (event == open->count)
        return;
    record->sample.period = open->event[event].restarted ? 1 : open->event[event].period;
    open->event[event].restarted = false;
}

bool lwp_pmu_next(struct lwp_pmu_open *open, struct lwp_pmu_record *record)
{
    uint8_t bytes[256];
    struct perf_event_header header;
    if (!lwp_perf_ring_take(&open->ring, bytes, sizeof bytes))
        return false;
    memcpy(&header, bytes, sizeof header);
    *record = (struct lwp_pmu_record){.type = header.type, .event = open->count};
    if (header.type == PERF_RECORD_SAMPLE)
        open_read_sample(open, &header, bytes + sizeof header, record);
    size_t at = header.type == PERF_RECORD_LOST ? 8 : header.type == PERF_RECORD_LOST_SAMPLES ? 0 : SIZE_MAX; /* id, lost */
    if (at < sizeof bytes && header.size >= sizeof header + at + sizeof record->lost)
        memcpy(&record->lost, bytes + sizeof header + at, sizeof record->lost);
    return true;
}

void lwp_pmu_close(struct lwp_pmu_open *open)
{
    for (unsigned i = 0; i < open->count; i++) {
        open_close(open->event[i].fd);
        open_close(open->event[i].leader);
    }
    lwp_perf_ring_unmap(&open->ring);
    open->count = 0;
}
