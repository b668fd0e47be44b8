/* From shards to the profile, with numbers that do not depend on the order of reading. */
#ifndef LWP_ANALYSIS_LOAD_MERGE_H
#define LWP_ANALYSIS_LOAD_MERGE_H

#include "analysis/load/shard.h"

/* Takes over what the shard holds into which all were merged, and the streams of each. */
void lwp_merge_shards(struct lwp_profile *profile, struct lwp_shard *shard, struct lwp_stream_table *const *tables, size_t table_count);

#endif
