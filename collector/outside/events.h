/* Timer events on the threads of other processes, and the ring buffers that the kernel writes their records into. */
#ifndef LWP_COLLECTOR_OUTSIDE_EVENTS_H
#define LWP_COLLECTOR_OUTSIDE_EVENTS_H

#include "base/error.h"
#include "base/hash.h"
#include "collector/perf/ring.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lwp_events_thread {
    pid_t tid;
    int *fds; /* one a CPU; NULL: closed */
};

struct lwp_events_cpu {
    int number;
    int output; /* the event that the ring belongs to; -1: none yet */
    struct lwp_perf_ring ring;
};

struct lwp_events {
    struct perf_event_attr attr; /* of all */
    struct {
        uint64_t ns, before_ns, since; /* ns, and before that */
        uint32_t random;
    } period;
    struct lwp_events_cpu *cpus;
    size_t cpu_count;
    struct lwp_events_thread *threads;
    size_t thread_count, thread_room;
    struct lwp_map thread_index; /* tid -> threads[] */
    struct lwp_map owner;        /* id of an event -> threads[] */
    struct lwp_map marks;        /* id of a breakpoint's event -> 1 */
    struct lwp_map marked;       /* tid -> 1: it has them */
    int *mark_fds;
    size_t mark_fd_count, mark_fd_room;
};

/* `period_ns` of a thread's CPU time between samples; `children`: processes that the threads start, too, not only threads. */
int lwp_events_init(struct lwp_events *events, uint64_t period_ns, bool children, struct lwp_error *err);

/* Opens the thread's events, stopped. A thread that has ended meanwhile is none: LWP_ERR_MISSING. The error says what forbids it. */
int lwp_events_add(struct lwp_events *events, pid_t pid, pid_t tid, struct lwp_error *err);

/* Breakpoints of a thread, counting at once: a record each time it comes to one of the addresses. 0, also if it has them already or has
 * ended, or the errno that forbids it. */
int lwp_events_mark(struct lwp_events *events, pid_t tid, const uint64_t *addresses, size_t count);
bool lwp_events_is_mark(const struct lwp_events *events, uint64_t id);
bool lwp_events_is_marked(const struct lwp_events *events, pid_t tid);

/* Ends those of a thread that were opened for it by name. */
void lwp_events_drop(struct lwp_events *events, pid_t tid);

void lwp_events_switch(const struct lwp_events *events, bool on);

/* Now and then by up to a quarter longer or shorter: of samples that are all as far apart nobody knows how often the program went round in
 * between. `now`: of CLOCK_MONOTONIC. */
void lwp_events_vary_period(struct lwp_events *events, uint64_t now);

void lwp_events_set_period(struct lwp_events *events, uint64_t period_ns, uint64_t now);

/* Of events at a time; the kernel goes on to report the one that they began with. Not of inherited ones: those keep theirs. */
uint64_t lwp_events_period(const struct lwp_events *events, uint64_t time);

/* How long the rings may be left alone: a thread that runs all the time fills a quarter of its CPU's meanwhile. */
int lwp_events_interval_ms(const struct lwp_events *events, int most_ms);

/* The thread that the event was opened on, which a later one may have inherited it from; 0: not known. */
pid_t lwp_events_owner(const struct lwp_events *events, uint64_t id);
bool lwp_events_holds(const struct lwp_events *events, pid_t tid);

void lwp_events_close(struct lwp_events *events);

#endif
