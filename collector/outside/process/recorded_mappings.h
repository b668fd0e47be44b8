/* What is mapped in processes by the kernel's records of it: of those that have ended before anybody could look. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_RECORDED_MAPPINGS_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_RECORDED_MAPPINGS_H

#include "base/hash.h"
#include "collector/outside/process/mappings.h"

struct lwp_recorded_process {
    struct lwp_mappings mappings;
    bool fresh; /* none of its CPU time belongs to an earlier program of the process */
};

/* Start from zero. */
struct lwp_recorded_mappings {
    struct lwp_map index; /* pid -> processes[] */
    struct lwp_recorded_process **processes;
    size_t process_count, process_room;
};

void lwp_recorded_free(struct lwp_recorded_mappings *recorded);

/* A child begins with what its parent has, by the parent's records and, where there are none, `known` (may be NULL). */
void lwp_recorded_fork(struct lwp_recorded_mappings *recorded, pid_t parent, pid_t child, const struct lwp_mappings *known);
void lwp_recorded_exec(struct lwp_recorded_mappings *recorded, pid_t pid, bool sampled_before);
void lwp_recorded_end(struct lwp_recorded_mappings *recorded, pid_t pid);

/* The bytes of a PERF_RECORD_MMAP2 behind its header, as a mapping, whose path is among them, of process *pid. False: they are none. */
bool lwp_recorded_read(const uint8_t *bytes, size_t size, struct lwp_mapping *mapping, pid_t *pid);

/* Of processes without a record of fork or exec nothing is kept. */
void lwp_recorded_map(struct lwp_recorded_mappings *recorded, pid_t pid, const struct lwp_mapping *mapping);

/* NULL: nothing is recorded. */
const struct lwp_recorded_process *lwp_recorded_of(const struct lwp_recorded_mappings *recorded, pid_t pid);

#endif
