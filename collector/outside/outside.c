/* Open -> wait -> drain the rings every some milliseconds -> put the records of all CPUs in order -> samples.
 *
 * The program is not stopped while its threads are listed: they are listed again until no new one is found. A thread that was started
 * meanwhile by one that had its event already has inherited that, and the one opened for it by name is dropped when its first sample
 * shows so. */
#include "collector/outside/outside.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/pattern.h"
#include "collector/code/insn.h"
#include "collector/outside/events.h"
#include "collector/outside/followed.h"
#include "collector/outside/marks.h"
#include "collector/outside/recorded_mappings.h"
#include "collector/outside/sample.h"
#include "collector/outside/sample_cost.h"
#include "collector/outside/tasks.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int outside_passed[] = {SIGQUIT, SIGUSR1, SIGUSR2}; /* and those that end the sampling of others */

enum { RECORD_MOST = 1 << 16, FREQUENCY_FIRST = 1000, FIRST_PERIOD_NS = 1000003, PASSES_MOST = 100 };

static const uint64_t look_ns = 10000; /* that lwp needs to look at a sample, at first */
static const uint64_t refresh_every_ns = 1000000000, review_least_ns = 200000000;
static const int wait_most_ms = 200;

struct outside_record {
    uint64_t time;
    size_t at; /* in the batch's bytes */
};

struct lwp_outside {
    struct lwp_outside_wish wish;
    struct lwp_events events;
    struct lwp_followed **followed;
    size_t followed_count, followed_room;
    struct lwp_map followed_index;         /* pid -> followed[] */
    struct lwp_map unwanted;               /* pid -> the phase in which it was found to be called otherwise */
    struct lwp_recorded_mappings recorded; /* of child processes */
    const char *dir;
    struct outside_record *records;
    size_t record_count, record_room;
    uint8_t *bytes;
    size_t byte_count, byte_room;
    struct lwp_phases *phases;
    bool on; /* samples are wanted */
    uint32_t phase;
    int signals, process; /* descriptors: of signals to lwp, and of the process's end */
    int wait_ms;          /* between looks into the rings */
    uint64_t cost_ns;     /* of a sample, for the thread that is sampled */
    struct {
        uint64_t own_ns, samples, cpu_ns, time;
    } review; /* what it was when the period was last reviewed */
    uint64_t lost, throttled, samples, cpu_ns, own_ns;
};

/* ---- open ---- */

/* Opens events on all threads that have none. Returns how many were new, or an error below 0. */
static int open_threads(struct lwp_outside *outside, pid_t pid, struct lwp_error *err)
{
    struct lwp_tasks threads = {0};
    int status = LWP_OK, added = 0;
    lwp_tasks_of_process(&threads, pid);
    for (size_t i = 0; i < threads.count && (!status || status == LWP_ERR_MISSING); i++) {
        if (lwp_events_holds(&outside->events, threads.items[i]))
            continue;
        status = lwp_events_add(&outside->events, pid, threads.items[i], err);
        added += status == LWP_OK;
    }
    lwp_tasks_free(&threads);
    return status && status != LWP_ERR_MISSING ? status : added;
}

static int open_all(struct lwp_outside *outside, struct lwp_error *err)
{
    int added = 1;
    for (unsigned pass = 0; added > 0 && pass < PASSES_MOST; pass++) {
        struct lwp_tasks processes = {0};
        added = 0;
        lwp_tasks_processes(&processes, outside->wish.pid, outside->wish.children);
        for (size_t i = 0; i < processes.count && added >= 0; i++) {
            int more = open_threads(outside, processes.items[i], err);
            added = more < 0 ? more : added + more;
        }
        lwp_tasks_free(&processes);
    }
    if (added < 0)
        return added;
    if (!outside->events.thread_count)
        return lwp_error_set(err, LWP_ERR_MISSING, "collect: process %d has ended", (int)outside->wish.pid);
    return LWP_OK;
}

static uint64_t outside_period(const struct lwp_outside_wish *wish, uint64_t cost_ns)
{
    double most = wish->max_overhead / 100 * 1e9 / (double)(cost_ns + look_ns),
           frequency = wish->frequency > 0 ? wish->frequency : FREQUENCY_FIRST;
    frequency = frequency < most ? frequency : most;
    return (uint64_t)(1e9 / frequency) | 3; /* not round: programs have rhythms, too */
}

struct lwp_outside *lwp_outside_new(const struct lwp_outside_wish *wish, struct lwp_error *err)
{
    struct lwp_outside *outside = lwp_zeroed(1, sizeof *outside);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    for (size_t i = 0; wish->begin && i < sizeof outside_passed / sizeof *outside_passed; i++)
        sigaddset(&set, outside_passed[i]);
    outside->wish = *wish;
    outside->signals = outside->process = -1;
    int status = lwp_tasks_check(&outside->wish.pid, err);
    if (!status && !lwp_insn_init())
        status = lwp_error_set(err, LWP_ERR_MISSING, "collect: libZydis cannot be loaded; 'lwp doctor' says more");
    if (!status)
        status = lwp_events_init(&outside->events, FIRST_PERIOD_NS, wish->children, err);
    if (!status) {
        outside->cost_ns = lwp_sample_cost(&outside->events.attr);
        lwp_events_set_period(&outside->events, outside_period(wish, outside->cost_ns), lwp_clock(CLOCK_MONOTONIC));
        outside->process = (int)syscall(SYS_pidfd_open, outside->wish.pid, 0);
        sigprocmask(SIG_BLOCK, &set, NULL);
        outside->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        status = open_all(outside, err);
    }
    if (!status)
        return outside;
    lwp_outside_free(outside);
    return NULL;
}

void lwp_outside_free(struct lwp_outside *outside)
{
    if (!outside)
        return;
    lwp_events_close(&outside->events);
    if (outside->signals >= 0)
        close(outside->signals);
    if (outside->process >= 0)
        close(outside->process);
    free(outside->followed);
    free(outside->records);
    free(outside->bytes);
    lwp_map_fini(&outside->followed_index);
    lwp_map_fini(&outside->unwanted);
    lwp_recorded_free(&outside->recorded);
    free(outside);
}

/* ---- processes ---- */

/* One that has ended is called after the first file with code that was mapped there. */
static bool outside_is_wanted(const struct lwp_outside *outside, pid_t pid, const struct lwp_mappings *recorded)
{
    const char *only = outside->wish.only;
    char file[LWP_TASKS_NAME], name[LWP_TASKS_NAME];
    if (!only)
        return true;
    if (lwp_tasks_names(pid, file, name))
        return lwp_pattern_lists(only, file) || lwp_pattern_lists(only, name);
    for (size_t i = 0; recorded && i < recorded->count; i++)
        if (recorded->items[i].execute && recorded->items[i].path[0] == '/')
            return lwp_pattern_lists(only, lwp_path_last(recorded->items[i].path));
    return false;
}

/* `followed` may be NULL: it is left out. */
static void followed_put(struct lwp_outside *outside, pid_t pid, struct lwp_followed *followed)
{
    if (followed)
        lwp_marks_follow(&outside->events, followed, outside->wish.region, pid == outside->wish.pid);
    *lwp_map_at(&outside->followed_index, (uint64_t)pid) = (uint32_t)outside->followed_count;
    LWP_GROW(&outside->followed, outside->followed_count, &outside->followed_room);
    outside->followed[outside->followed_count++] = followed;
}

static struct lwp_followed *followed_at(struct lwp_outside *outside, pid_t pid)
{
    uint32_t at = lwp_map_get(&outside->followed_index, (uint64_t)pid);
    if (at != LWP_MAP_NONE)
        return outside->followed[at];
    struct lwp_error err;
    const struct lwp_recorded_process *recorded = lwp_recorded_of(&outside->recorded, pid);
    const struct lwp_mappings *mappings = recorded ? &recorded->mappings : NULL;
    if (lwp_map_get(&outside->unwanted, (uint64_t)pid) == outside->phase)
        return NULL;
    if (!outside_is_wanted(outside, pid, mappings)) {
        *lwp_map_at(&outside->unwanted, (uint64_t)pid) = outside->phase;
        return NULL;
    }
    struct lwp_followed *followed = lwp_followed_new(outside->dir, pid, mappings, recorded && recorded->fresh, &err);
    if (!followed)
        lwp_log(LWP_LOG_WARNING, "%s; process %d is left out", err.text, (int)pid);
    followed_put(outside, pid, followed);
    return followed;
}

/* Those that run already: later they may have ended before their first sample is looked at. */
static void follow_children(struct lwp_outside *outside)
{
    struct lwp_tasks processes = {0};
    lwp_tasks_processes(&processes, outside->wish.pid, outside->wish.children);
    for (size_t i = 0; i < processes.count; i++)
        followed_at(outside, processes.items[i]);
    lwp_tasks_free(&processes);
}

static void followed_end(struct lwp_outside *outside, pid_t pid, uint64_t time)
{
    uint32_t at = lwp_map_get(&outside->followed_index, (uint64_t)pid);
    struct lwp_followed *followed = at != LWP_MAP_NONE ? outside->followed[at] : NULL;
    if (!followed)
        return;
    outside->samples += followed->samples;
    outside->cpu_ns += lwp_followed_user_ns(followed) + followed->system_ns - followed->system_first_ns;
    uint64_t own_ns = pid == outside->wish.pid ? outside->own_ns : 0;
    lwp_followed_close(followed, time, own_ns + followed->samples * outside->cost_ns);
    outside->followed[at] = NULL;
}

/* ---- records ---- */

static int record_order(const void *a, const void *b)
{
    const struct outside_record *x = a, *y = b;
    return x->time != y->time ? (x->time < y->time ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

static uint64_t record_time(const struct perf_event_attr *attr, const struct perf_event_header *header, const uint8_t *bytes)
{
    uint64_t time = 0;
    size_t size = header->size - sizeof *header, at = 3 * sizeof time; /* of a sample: behind id, ip and tid */
    if (header->type != PERF_RECORD_SAMPLE) {
        struct lwp_perf_trailer trailer = lwp_perf_trailer(attr);
        at = size >= trailer.bytes ? size - trailer.bytes + trailer.time : size;
    }
    if (at + sizeof time <= size)
        memcpy(&time, bytes + at, sizeof time);
    return time;
}

/* Moves what is in the rings to the batch. */
static void records_take(struct lwp_outside *outside)
{
    outside->record_count = outside->byte_count = 0;
    for (size_t i = 0; i < outside->events.cpu_count; i++) {
        struct lwp_perf_ring *ring = &outside->events.cpus[i].ring;
        if (!ring->page)
            continue;
        for (;;) {
            if (outside->byte_room < outside->byte_count + RECORD_MOST) {
                outside->byte_room = outside->byte_room * 2 + RECORD_MOST;
                outside->bytes = lwp_allocated(realloc(outside->bytes, outside->byte_room));
            }
            uint8_t *record = outside->bytes + outside->byte_count;
            struct perf_event_header header;
            if (!lwp_perf_ring_take(ring, record, RECORD_MOST))
                break;
            memcpy(&header, record, sizeof header);
            uint64_t time = record_time(&outside->events.attr, &header, record + sizeof header);
            LWP_PUSH(outside->record, (struct outside_record){time, outside->byte_count});
            outside->byte_count += (header.size + 7u) & ~7u;
        }
    }
    qsort(outside->records, outside->record_count, sizeof *outside->records, record_order);
}

static void on_sample(struct lwp_outside *outside, const struct perf_event_header *header, const uint8_t *bytes)
{
    uint64_t callers[1];
    struct lwp_perf_sample sample;
    size_t size = header->size - sizeof *header;
    const struct perf_event_attr *attr = &outside->events.attr;
    if (!lwp_perf_sample_parse(attr, header->misc, bytes, size, callers, &sample) || !sample.user)
        return;
    if (!outside->wish.children && (pid_t)sample.pid != outside->wish.pid)
        return;
    uint64_t id = lwp_perf_sample_id(attr, bytes, size);
    pid_t owner = lwp_events_owner(&outside->events, id);
    if (lwp_events_is_mark(&outside->events, id)) {
        lwp_marks_see(followed_at(outside, (pid_t)sample.pid), attr, &sample);
        return;
    }
    if (owner != (pid_t)sample.tid && lwp_events_holds(&outside->events, (pid_t)sample.tid))
        lwp_events_drop(&outside->events, (pid_t)sample.tid); /* inherited, too: this one is enough */
    else if (owner == (pid_t)sample.tid && !lwp_events_holds(&outside->events, owner))
        return;
    if (owner == (pid_t)sample.tid)
        sample.period = lwp_events_period(&outside->events, sample.time);
    struct lwp_followed *followed = followed_at(outside, (pid_t)sample.pid);
    if (followed && !followed->outside_region)
        lwp_outside_sample(followed, attr, &sample);
}

struct task_record { /* PERF_RECORD_FORK and PERF_RECORD_EXIT */
    uint32_t pid, parent_pid, tid, parent_tid;
    uint64_t time;
};

static void on_exit_record(struct lwp_outside *outside, const uint8_t *bytes)
{
    struct task_record task;
    memcpy(&task, bytes, sizeof task);
    uint32_t at = lwp_map_get(&outside->followed_index, task.pid);
    if (at != LWP_MAP_NONE && outside->followed[at])
        lwp_followed_thread_end(outside->followed[at], (pid_t)task.tid, task.time);
    lwp_events_drop(&outside->events, (pid_t)task.tid);
    if (task.pid == task.tid)
        lwp_recorded_end(&outside->recorded, (pid_t)task.pid);
}

static void on_fork_record(struct lwp_outside *outside, const uint8_t *bytes)
{
    struct task_record task;
    memcpy(&task, bytes, sizeof task);
    uint32_t at = lwp_map_get(&outside->followed_index, task.parent_pid);
    const struct lwp_followed *parent = at != LWP_MAP_NONE ? outside->followed[at] : NULL;
    if (!outside->wish.children || task.pid == task.parent_pid)
        return;
    *lwp_map_at(&outside->followed_index, task.pid) = LWP_MAP_NONE; /* another process had the number */
    *lwp_map_at(&outside->unwanted, task.pid) = LWP_MAP_NONE;
    lwp_recorded_fork(&outside->recorded, (pid_t)task.parent_pid, (pid_t)task.pid, parent ? &parent->interpreter->remote.mappings : NULL);
}

/* The process has become another program. */
static void on_exec_record(struct lwp_outside *outside, pid_t pid, uint64_t time)
{
    bool sampled = lwp_map_get(&outside->followed_index, (uint64_t)pid) != LWP_MAP_NONE;
    followed_end(outside, pid, time);
    *lwp_map_at(&outside->unwanted, (uint64_t)pid) = LWP_MAP_NONE;
    if (sampled)
        *lwp_map_at(&outside->followed_index, (uint64_t)pid) = LWP_MAP_NONE;
    lwp_recorded_exec(&outside->recorded, pid, sampled);
}

static void on_mapping_record(struct lwp_outside *outside, const uint8_t *bytes, size_t size)
{
    struct lwp_mapping mapping;
    pid_t pid;
    if (!lwp_recorded_read(bytes, size, &mapping, &pid))
        return;
    uint32_t at = lwp_map_get(&outside->followed_index, (uint64_t)pid);
    struct lwp_followed *followed = at != LWP_MAP_NONE ? outside->followed[at] : NULL;
    lwp_recorded_map(&outside->recorded, pid, &mapping);
    if (!followed || !mapping.execute || mapping.path[0] != '/')
        return;
    const struct lwp_remote_module *module = lwp_remote_module_at(&followed->interpreter->remote, mapping.start);
    followed->stale |= module && strcmp(module->path, mapping.path); /* a library where another one was */
}

static void records_read(struct lwp_outside *outside)
{
    for (size_t i = 0; i < outside->record_count; i++) {
        struct perf_event_header header;
        const uint8_t *bytes = outside->bytes + outside->records[i].at;
        uint64_t lost = 0;
        uint32_t pid = 0;
        memcpy(&header, bytes, sizeof header);
        bytes += sizeof header;
        if (header.size < sizeof header + 16)
            continue;
        memcpy(&pid, bytes, sizeof pid);
        switch (header.type) {
        case PERF_RECORD_SAMPLE:
            on_sample(outside, &header, bytes);
            break;
        case PERF_RECORD_LOST:
            memcpy(&lost, bytes + 8, sizeof lost);
            outside->lost += lost;
            break;
        case PERF_RECORD_LOST_SAMPLES:
            memcpy(&lost, bytes, sizeof lost);
            outside->lost += lost;
            break;
        case PERF_RECORD_THROTTLE:
            outside->throttled++;
            break;
        case PERF_RECORD_EXIT:
            if (header.size >= sizeof header + sizeof(struct task_record))
                on_exit_record(outside, bytes);
            break;
        case PERF_RECORD_FORK:
            if (header.size >= sizeof header + sizeof(struct task_record))
                on_fork_record(outside, bytes);
            break;
        case PERF_RECORD_MMAP2:
            on_mapping_record(outside, bytes, header.size - sizeof header);
            break;
        case PERF_RECORD_COMM:
            if (header.misc & PERF_RECORD_MISC_COMM_EXEC)
                on_exec_record(outside, (pid_t)pid, outside->records[i].time);
            break;
        default:
            break;
        }
    }
}

/* ---- run ---- */

/* What is mapped may have changed without a record. */
static void refresh_all(struct lwp_outside *outside, uint64_t now, bool all)
{
    for (size_t i = 0; i < outside->followed_count; i++)
        if (outside->followed[i] && (all || lwp_followed_is_old(outside->followed[i], now)))
            lwp_followed_refresh(outside->followed[i], now);
}

/* lwp start and lwp stop; between them the threads have no event that counts. */
static void outside_change(void *of, bool on)
{
    struct lwp_outside *outside = of;
    if (outside->on == on)
        return;
    if (on) /* much may have changed */
        refresh_all(outside, lwp_clock(CLOCK_MONOTONIC), true);
    lwp_events_switch(&outside->events, on);
    outside->on = on;
    outside->phase += on;
}

/* Waits, at most until `until`. True: it is over. */
static bool outside_wait(struct lwp_outside *outside, uint64_t until, struct lwp_outside_end *end)
{
    uint64_t now = lwp_clock(CLOCK_MONOTONIC);
    struct pollfd polled[3] = {{.fd = outside->signals, .events = POLLIN},
                               {.fd = outside->process, .events = POLLIN},
                               {.fd = outside->phases ? lwp_phases_fd(outside->phases) : -1, .events = POLLIN}};
    int wait_ms = outside->wait_ms;
    if (until && until < now + (uint64_t)wait_ms * 1000000)
        wait_ms = until > now ? (int)((until - now) / 1000000) + 1 : 0;
    int ready = poll(polled, 3, wait_ms);
    struct signalfd_siginfo info;
    if (ready > 0 && polled[2].revents & POLLIN)
        lwp_phases_serve(outside->phases, outside_change, outside);
    if (ready > 0 && polled[0].revents & POLLIN && read(outside->signals, &info, sizeof info) == sizeof info) {
        if (!outside->wish.begin)
            end->ended_by = (int)info.ssi_signo;
        else if (info.ssi_code != SI_KERNEL && info.ssi_pid != (uint32_t)outside->wish.pid) /* a terminal's have reached it */
            kill(outside->wish.pid, (int)info.ssi_signo);
    }
    end->process_ended = ready > 0 && polled[1].revents;
    if (outside->process < 0)
        end->process_ended = kill(outside->wish.pid, 0) && errno == ESRCH;
    return end->ended_by || end->process_ended || (until && lwp_clock(CLOCK_MONOTONIC) >= until);
}

/* CPU time of the processes, and samples, so far. */
static void outside_sum(const struct lwp_outside *outside, uint64_t *cpu_ns, uint64_t *samples)
{
    *cpu_ns = outside->cpu_ns;
    *samples = outside->samples;
    for (size_t i = 0; i < outside->followed_count; i++) {
        const struct lwp_followed *followed = outside->followed[i];
        if (!followed)
            continue;
        *cpu_ns += lwp_followed_user_ns(followed) + followed->system_ns - followed->system_first_ns;
        *samples += followed->samples;
    }
}

/* Samples less often where that costs more than it may. */
static void outside_review(struct lwp_outside *outside, uint64_t now)
{
    uint64_t own_ns = lwp_clock(CLOCK_PROCESS_CPUTIME_ID), samples, cpu_ns;
    if (now < outside->review.time + refresh_every_ns)
        return;
    outside_sum(outside, &cpu_ns, &samples);
    double spent = (double)(own_ns - outside->review.own_ns) + (double)(samples - outside->review.samples) * (double)outside->cost_ns;
    double most = (double)(cpu_ns - outside->review.cpu_ns) * outside->wish.max_overhead / 100;
    bool judged = outside->review.time && cpu_ns > outside->review.cpu_ns + review_least_ns;
    if (judged && spent > most) {
        double times = spent / most < 4 ? spent / most : 4;
        lwp_events_set_period(&outside->events, (uint64_t)((double)outside->events.attr.sample_period * times) | 3, now);
    }
    outside->review.own_ns = own_ns;
    outside->review.samples = samples;
    outside->review.cpu_ns = cpu_ns;
    outside->review.time = now;
}

static void outside_drain(struct lwp_outside *outside)
{
    records_take(outside);
    records_read(outside);
}

static void outside_say(struct lwp_outside *outside, struct lwp_followed *followed)
{
    char text[512];
    if (!followed)
        return;
    lwp_followed_note(followed,
                      "Sampled from outside, without lwp's library in the program: where heap blocks were allocated is not known, nor "
                      "are redundancy, sharing and communication.");
    if (followed->interpreter->remote.unreadable)
        lwp_followed_note(followed,
                          "The process's memory could not be read (ptrace is restricted, see kernel.yama.ptrace_scope): thread-local "
                          "variables are not known.");
    if (outside->lost) {
        snprintf(text, sizeof text, "The kernel lost %llu records, since lwp did not read them in time: lower -F.",
                 (unsigned long long)outside->lost);
        lwp_followed_note(followed, text);
    }
    if (outside->throttled) {
        snprintf(text, sizeof text, "The kernel throttled sampling %llu times: lower -F.", (unsigned long long)outside->throttled);
        lwp_followed_note(followed, text);
    }
}

int lwp_outside_run(struct lwp_outside *outside, const char *dir, struct lwp_phases *phases, struct lwp_outside_end *end,
                    struct lwp_error *err)
{
    const struct lwp_outside_wish *wish = &outside->wish;
    *end = (struct lwp_outside_end){0};
    outside->dir = dir;
    outside->phases = phases;
    uint64_t begun = lwp_clock(CLOCK_MONOTONIC), own_before = lwp_clock(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t from = begun + (uint64_t)(wish->delay_s * 1e9);
    const bool held = wish->begin && wish->delay_s <= 0; /* until its events count; else it runs by then */
    bool over = false;
    if (wish->begin && !held)
        wish->begin(wish->of);
    while (!over && wish->delay_s > 0 && lwp_clock(CLOCK_MONOTONIC) < from) {
        outside_wait(outside, from, end);
        over = end->ended_by || end->process_ended;
    }
    outside->wait_ms = lwp_events_interval_ms(&outside->events, wait_most_ms);
    if (!phases || lwp_phases_now(phases).on) /* first, so that an exec from now on leaves a record */
        outside_change(outside, true);
    if (held)
        wish->begin(wish->of);
    if (!held && outside_is_wanted(outside, wish->pid, NULL)) { /* else it is only now becoming what it will be */
        struct lwp_followed *first = lwp_followed_new(dir, wish->pid, NULL, false, err);
        if (!first)
            return err->status;
        followed_put(outside, wish->pid, first);
    }
    if (!held)
        follow_children(outside);
    if (outside->on) /* what was mapped while they were looked at */
        refresh_all(outside, lwp_clock(CLOCK_MONOTONIC), true);
    begun = lwp_clock(CLOCK_MONOTONIC);
    uint64_t until = wish->duration_s > 0 ? begun + (uint64_t)(wish->duration_s * 1e9) : 0;
    while (!over) {
        over = outside_wait(outside, until, end);
        outside_drain(outside);
        if (!outside->on)
            continue;
        lwp_events_vary_period(&outside->events, lwp_clock(CLOCK_MONOTONIC));
        refresh_all(outside, lwp_clock(CLOCK_MONOTONIC), false);
        outside_review(outside, lwp_clock(CLOCK_MONOTONIC));
    }
    lwp_events_switch(&outside->events, false);
    uint64_t now = lwp_clock(CLOCK_MONOTONIC);
    refresh_all(outside, now, true);
    outside_drain(outside);
    outside->own_ns = lwp_clock(CLOCK_PROCESS_CPUTIME_ID) - own_before;
    struct lwp_followed *shown = NULL; /* the first process, if it is still there */
    for (size_t i = 0; i < outside->followed_count && !shown; i++)
        shown = outside->followed[i];
    if (shown)
        shown->lost += outside->lost;
    outside_say(outside, shown);
    for (size_t i = 0; i < outside->followed_count; i++)
        if (outside->followed[i])
            followed_end(outside, outside->followed[i]->pid, now);
    end->wall_s = (double)(now - begun) * 1e-9;
    end->cpu_s = (double)outside->cpu_ns * 1e-9;
    end->lost = outside->lost;
    end->throttled = outside->throttled;
    return LWP_OK;
}
