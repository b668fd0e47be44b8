/* The last step of merge.c: from one table of streams for each reading thread to the profile's. */
#ifndef LWP_ANALYSIS_LOAD_MERGE_STREAMS_H
#define LWP_ANALYSIS_LOAD_MERGE_STREAMS_H

#include "analysis/profile/stream_table.h"

/* The new number of each context and object, the region of each part; owned by whoever made them. */
struct lwp_merge_numbers {
    uint32_t *contexts, *objects, *regions;
};

struct lwp_merge_streams;

/* `weight`: of all samples. The tables stay the caller's until lwp_merge_streams_finish. */
struct lwp_merge_streams *lwp_merge_streams_new(struct lwp_profile *profile, struct lwp_stream_table *const *tables,
                                                  size_t table_count, uint64_t weight);

/* Gives what a table holds its new numbers. Several tables may be numbered at once. */
void lwp_merge_streams_number(struct lwp_merge_streams *merge, const struct lwp_merge_numbers *numbers,
                               size_t table);

/* When all have theirs: makes the profile's streams and the sums of its objects, frees the tables and `merge`. Beside
 * it beside(of, i, i + 1) is called for each i below `count`: what is not about streams, the longest first. */
void lwp_merge_streams_finish(struct lwp_merge_streams *merge, size_t count,
                               void (*beside)(void *of, size_t first, size_t last), void *of);

#endif
