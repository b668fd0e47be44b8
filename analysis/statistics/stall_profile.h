/* Memory stall by calling context and data object, and over the time of the run: what a flame graph and a timeline are drawn of.
 * Added up while samples are read; sums do not depend on the order of samples. */
#ifndef LWP_ANALYSIS_STATISTICS_STALL_PROFILE_H
#define LWP_ANALYSIS_STATISTICS_STALL_PROFILE_H

#include "analysis/statistics/share.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>

enum { LWP_STALL_BINS = 128 };

/* Stalls of the function at the end of a path (contexts.h) on an object. */
struct lwp_stall_path {
    uint32_t context, object;
    struct lwp_sum sum;
};

/* ... on an object, in a bin of time. */
struct lwp_stall_time {
    uint32_t object, bin;
    uint64_t weight;
};

/* Starts from zero. */
struct lwp_stall_profile {
    struct lwp_stall_path *paths;
    size_t path_count, path_room;
    struct lwp_stall_time *times;
    size_t time_count, time_room;
    struct lwp_map path_index, time_index;
    uint32_t bin_shift; /* a bin is 2^bin_shift ns since the start of its process; 0: there is none yet */
    bool refused;       /* there were too many to keep: nothing is known */
};

/* A sample that stalled; since_start in ns. */
void lwp_stall_profile_add(struct lwp_stall_profile *profile, uint32_t context, uint32_t object, uint64_t since_start, uint64_t weight);

/* Adds `from` to `into` and frees it. */
void lwp_stall_profile_merge(struct lwp_stall_profile *into, struct lwp_stall_profile *from);

/* contexts[old] and objects[old] are the new numbers; sorts by context and object, times by object and bin. */
void lwp_stall_profile_renumber(struct lwp_stall_profile *profile, const uint32_t *contexts, const uint32_t *objects);

void lwp_stall_profile_free(struct lwp_stall_profile *profile);

#endif
