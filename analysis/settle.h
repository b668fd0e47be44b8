/* From shards to the profile, with numbers that do not depend on who met what first. */
#ifndef LWP_ANALYSIS_SETTLE_H
#define LWP_ANALYSIS_SETTLE_H

#include "analysis/shard.h"

/* Takes over what the shard holds into which all were merged, and the streams of each. */
void lwp_settle(struct lwp_profile *profile, struct lwp_shard *shard, struct lwp_stream_table *const *tables,
                size_t table_count);

#endif
