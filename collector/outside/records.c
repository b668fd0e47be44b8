#include "collector/outside/records.h"

#include "collector/outside/marks.h"
#include "collector/outside/sample.h"

#include <string.h>

struct task_record { /* PERF_RECORD_FORK and PERF_RECORD_EXIT */
    uint32_t pid, parent_pid, tid, parent_tid;
    uint64_t time;
};

/* Moves what is in the rings to the batch. */
static void records_take(struct lwp_perf_batch *batch, struct lwp_events *events)
{
    lwp_perf_batch_drop(batch, batch->record_count);
    for (size_t i = 0; i < events->cpu_count; i++)
        while (events->cpus[i].ring.page && lwp_perf_ring_take(&events->cpus[i].ring, lwp_perf_batch_room(batch), LWP_PERF_RECORD_MOST))
            lwp_perf_batch_keep(batch, &events->attr);
    lwp_perf_batch_sort(batch);
}

/* Whether a sample of a thread counts: one that has an event of its own, and has inherited one as well, has two of each. */
static bool records_count(struct lwp_events *events, pid_t tid, pid_t owner)
{
    if (owner != tid && lwp_events_holds(events, tid))
        lwp_events_drop(events, tid); /* the one that is inherited is enough */
    return owner != tid || lwp_events_holds(events, owner);
}

static void on_sample(struct lwp_processes *processes, const struct perf_event_header *header, const uint8_t *bytes)
{
    uint64_t callers[1];
    struct lwp_perf_sample sample;
    struct lwp_events *events = processes->events;
    const size_t size = header->size - sizeof *header;
    const struct perf_event_attr *attr = &events->attr;
    if (!lwp_perf_sample_parse(attr, header->misc, bytes, size, callers, &sample) || !sample.user)
        return;
    const pid_t pid = (pid_t)sample.pid, tid = (pid_t)sample.tid;
    if (!processes->wish->children && pid != processes->wish->pid)
        return;
    const uint64_t id = lwp_perf_sample_id(attr, bytes, size);
    const pid_t owner = lwp_events_owner(events, id);
    if (lwp_events_is_mark(events, id)) {
        lwp_marks_see(lwp_processes_at(processes, pid), attr, &sample);
        return;
    }
    if (!records_count(events, tid, owner))
        return;
    if (owner == tid)
        sample.period = lwp_events_period(events, sample.time);
    struct lwp_followed *followed = lwp_processes_at(processes, pid);
    if (followed && !followed->outside_region)
        lwp_outside_sample(followed, attr, &sample);
}

static void on_exit_record(struct lwp_processes *processes, const uint8_t *bytes)
{
    struct task_record task;
    memcpy(&task, bytes, sizeof task);
    lwp_processes_thread_end(processes, (pid_t)task.pid, (pid_t)task.tid, task.time);
    lwp_events_drop(processes->events, (pid_t)task.tid);
}

static void on_fork_record(struct lwp_processes *processes, const uint8_t *bytes)
{
    struct task_record task;
    memcpy(&task, bytes, sizeof task);
    if (processes->wish->children && task.pid != task.parent_pid)
        lwp_processes_fork(processes, (pid_t)task.parent_pid, (pid_t)task.pid);
}

static void on_mapping_record(struct lwp_processes *processes, const uint8_t *bytes, size_t size)
{
    struct lwp_mapping mapping;
    pid_t pid;
    if (lwp_recorded_read(bytes, size, &mapping, &pid))
        lwp_processes_map(processes, pid, &mapping);
}

/* `bytes`: behind the header, 16 at least. */
static void record_read(struct lwp_outside_records *records, struct lwp_processes *processes, const struct perf_event_header *header,
                        const uint8_t *bytes, uint64_t time)
{
    const size_t size = header->size - sizeof *header;
    uint64_t lost;
    uint32_t pid;
    switch (header->type) {
    case PERF_RECORD_SAMPLE:
        on_sample(processes, header, bytes);
        break;
    case PERF_RECORD_LOST:
        memcpy(&lost, bytes + 8, sizeof lost);
        records->lost += lost;
        break;
    case PERF_RECORD_LOST_SAMPLES:
        memcpy(&lost, bytes, sizeof lost);
        records->lost += lost;
        break;
    case PERF_RECORD_THROTTLE:
        records->throttled++;
        break;
    case PERF_RECORD_EXIT:
        if (size >= sizeof(struct task_record))
            on_exit_record(processes, bytes);
        break;
    case PERF_RECORD_FORK:
        if (size >= sizeof(struct task_record))
            on_fork_record(processes, bytes);
        break;
    case PERF_RECORD_MMAP2:
        on_mapping_record(processes, bytes, size);
        break;
    case PERF_RECORD_COMM:
        memcpy(&pid, bytes, sizeof pid);
        if (header->misc & PERF_RECORD_MISC_COMM_EXEC)
            lwp_processes_exec(processes, (pid_t)pid, time);
        break;
    default:
        break;
    }
}

void lwp_outside_drain(struct lwp_outside_records *records, struct lwp_processes *processes)
{
    const struct lwp_perf_batch *batch = &records->batch;
    records_take(&records->batch, processes->events);
    for (size_t i = 0; i < batch->record_count; i++) {
        struct perf_event_header header;
        const uint8_t *bytes = batch->bytes + batch->records[i].at;
        memcpy(&header, bytes, sizeof header);
        if (header.size >= sizeof header + 16)
            record_read(records, processes, &header, bytes + sizeof header, batch->records[i].time);
    }
}

void lwp_outside_records_free(struct lwp_outside_records *records)
{
    lwp_perf_batch_free(&records->batch);
}
