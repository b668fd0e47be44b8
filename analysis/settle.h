/* From the last shard to the profile, with numbers that do not depend on who met what first. */
#ifndef LWP_ANALYSIS_SETTLE_H
#define LWP_ANALYSIS_SETTLE_H

#include "analysis/shard.h"

/* Takes over what the shard holds. */
void lwp_settle(struct lwp_profile *profile, struct lwp_shard *shard);

#endif
