/* Where two instructions of one loop were at (nearly) one time: from the accesses of one sample that follow each other
 * closely. */
#ifndef LWP_ANALYSIS_PROFILE_CONCURRENT_H
#define LWP_ANALYSIS_PROFILE_CONCURRENT_H

#include "analysis/profile/traversals.h"

enum { LWP_CONCURRENT_KEPT = 4096 }; /* pairs, and stalls, of one loop */

/* One that follows the other, in a few instructions: of the same iteration or of the next. */
struct lwp_concurrent_pair {
    struct lwp_concurrent_access {
        uint64_t code;           /* of the instruction, in its module's file */
        uint64_t address, start; /* of the data, and of the block or variable it is in */
        uint32_t object;
    } a, b;
};

/* A sample that was stalled on an access. */
struct lwp_concurrent_stall {
    struct lwp_concurrent_access access;
    uint64_t weight;
};

/* Of one loop: uniform samples of all pairs, also of two executions of one instruction, and of all stalls. */
struct lwp_concurrent {
    uint32_t region;
    uint64_t pairs_seen, stalls_seen;
    size_t pair_count, pair_room, stall_count, stall_room;
    struct lwp_concurrent_pair *pairs;
    struct lwp_concurrent_stall *stalls;
};

/* Starts from zero. */
struct lwp_concurrents {
    struct lwp_concurrent *items;
    size_t count, room;
    struct lwp_map *index; /* by region; NULL: none yet */
    uint64_t random;
};

/* The accesses of one sample in their order. */
void lwp_concurrents_sample(struct lwp_concurrents *concurrents, const struct lwp_traversal_access *accesses, int count);
void lwp_concurrents_free(struct lwp_concurrents *concurrents);

#endif
