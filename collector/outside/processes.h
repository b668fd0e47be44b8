/* Which processes are sampled, and what is known of them? */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESSES_H
#define LWP_COLLECTOR_OUTSIDE_PROCESSES_H

#include "base/hash.h"
#include "collector/outside/events.h"
#include "collector/outside/followed.h"
#include "collector/outside/process/recorded_mappings.h"
#include "collector/outside/wish.h"

/* Start from zero but for the first three. */
struct lwp_processes {
    const struct lwp_outside_wish *wish;
    struct lwp_events *events;
    const char *dir;             /* of the result */
    struct lwp_followed **items; /* NULL: left out, or it has ended */
    size_t item_count, item_room;
    struct lwp_map index;                  /* pid -> items[] */
    struct lwp_map unwanted;               /* pid -> the phase in which it was found to be called otherwise */
    struct lwp_recorded_mappings recorded; /* of child processes */
    uint32_t phase;
    uint64_t sample_ns;       /* that a sample costs the thread that is sampled */
    uint64_t samples, cpu_ns; /* of those that have ended */
};

/* Begins with the process that is asked for, if it has the name that is wanted, which runs already. */
int lwp_processes_begin(struct lwp_processes *processes, struct lwp_error *err);

/* ... and with its children that run already: later they may have ended before their first sample is looked at. */
void lwp_processes_begin_children(struct lwp_processes *processes);

/* Begins to follow it if it is wanted and is not followed yet; NULL: it is left out. */
struct lwp_followed *lwp_processes_at(struct lwp_processes *processes, pid_t pid);

/* NULL: it is not followed. */
struct lwp_followed *lwp_processes_find(const struct lwp_processes *processes, pid_t pid);

/* The process has started a child, has become another program, has lost a thread, or has mapped something. */
void lwp_processes_fork(struct lwp_processes *processes, pid_t parent, pid_t child);
void lwp_processes_exec(struct lwp_processes *processes, pid_t pid, uint64_t time);
void lwp_processes_thread_end(struct lwp_processes *processes, pid_t pid, pid_t tid, uint64_t time);
void lwp_processes_map(struct lwp_processes *processes, pid_t pid, const struct lwp_mapping *mapping);

/* Looks at what is mapped, which may have changed without a record: of all, or where that was long ago. */
void lwp_processes_refresh(struct lwp_processes *processes, uint64_t now, bool all);

/* The one that was followed first; NULL: there is none any more. */
struct lwp_followed *lwp_processes_first(const struct lwp_processes *processes);

/* CPU time and samples so far. */
void lwp_processes_sum(const struct lwp_processes *processes, uint64_t *cpu_ns, uint64_t *samples);

/* Closes all. `own_ns`: what lwp took, for the process that was asked for. */
void lwp_processes_end(struct lwp_processes *processes, uint64_t time, uint64_t own_ns);

void lwp_processes_free(struct lwp_processes *processes);

#endif
