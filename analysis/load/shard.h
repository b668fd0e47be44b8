/* What one of several threads has gathered from the files it read. Shards are merged pairwise, and the last one becomes
 * the profile, with the streams of all. Everything in it is a sum, a minimum, a maximum, a common ancestor or the
 * lowest ranks of something, so that the result does not depend on who read which file when. */
#ifndef LWP_ANALYSIS_LOAD_SHARD_H
#define LWP_ANALYSIS_LOAD_SHARD_H

#include "analysis/load/sample_windows.h"
#include "analysis/profile/communication_counts.h"
#include "analysis/profile/locality_counts.h"
#include "analysis/profile/stream_table.h"
#include "analysis/profile/thread_interaction.h"
#include "analysis/profile/watchpoints.h"
#include "analysis/statistics/interrupts.h"
#include "analysis/statistics/numbered.h"
#include "analysis/statistics/object_uses.h"
#include "analysis/statistics/stall_profile.h"

/* Start from zero. */
struct lwp_shard {
    struct lwp_stream_table streams; /* stays when shards are merged: merge.c joins those of all */
    struct lwp_sample_windows windows;
    struct lwp_watchpoints watchpoints;
    struct lwp_thread_interaction interaction;
    struct lwp_stall_profile stalls;
    struct lwp_locality_counts locality;
    struct lwp_object_uses uses;
    struct lwp_communication_counts communication;
    struct lwp_sum *parts; /* of all samples by the code they fell on (locations.h) */
    size_t part_count;
    struct lwp_interrupts interrupts;
    struct lwp_sum total, stalled;
    uint64_t unknown_weight, samples, samples_with_address;
};

/* All but its streams. */
void lwp_shard_free(struct lwp_shard *shard);

static inline void lwp_shard_part(struct lwp_shard *shard, uint32_t part, uint64_t weight)
{
    LWP_NUMBERED(&shard->parts, part, &shard->part_count);
    lwp_sum_add(&shard->parts[part], weight);
}

/* Adds `from` to `into` and frees it, all but its streams. */
void lwp_shard_merge(struct lwp_shard *into, struct lwp_shard *from);

/* Moves into the profile what the shard holds into which all were merged, and the streams of each, with numbers that do not depend on
 * the order of reading (merge.c). */
void lwp_merge_shards(struct lwp_profile *profile, struct lwp_shard *shard, struct lwp_stream_table *const *tables, size_t table_count);

#endif
