/* Where threads that communicate should run: groups that share a cache of the machine that ran the program, and for each thread a
 * processor of it. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_THREAD_PLACEMENT_H
#define LWP_ANALYSIS_ADVICE_THREADS_THREAD_PLACEMENT_H

#include "analysis/advice/threads/communication_matrix.h"

#include <jansson.h>

struct lwp_thread_placement {
    size_t *group;         /* of each thread */
    double within, before; /* part of all communication that stays within groups; and within groups of threads that start in turn */
    size_t size;           /* threads of a group at the most */
    unsigned *processors;  /* of each thread; NULL: the machine's caches are not known, or none is shared by some only */
    unsigned level;        /* of the cache that a group shares, 0: unknown */
};

/* `machine`: of run.json. `first`: as of communication_matrix.h. Where no cache is shared by some processors only, pairs stand for
 * groups. In the arena. */
struct lwp_thread_placement lwp_thread_placement(struct lwp_arena *arena, const json_t *machine, const uint64_t *first, size_t threads);

/* The threads of each group: "0 2, 1 3". */
const char *lwp_thread_placement_groups(struct lwp_arena *arena, const struct lwp_thread_placement *placement, size_t threads);

/* OMP_PLACES of it: "{0},{2},{1},{3}"; NULL: no processors are known. */
const char *lwp_thread_placement_places(struct lwp_arena *arena, const struct lwp_thread_placement *placement, size_t threads);

#endif
