/* Layout advice tried out: the part of the trace that was kept is replayed through the model of the caches, with the data
 * where it is and where it would be. */
#ifndef LWP_ANALYSIS_WHATIF_H
#define LWP_ANALYSIS_WHATIF_H

#include "analysis/regroup.h"
#include "analysis/split.h"

/* Into `replay` of each of them; all zero where nothing was traced. `regroups` may be NULL. */
void lwp_whatif_replay(struct lwp_profile *profile, struct lwp_splits *splits, struct lwp_regroups *regroups);

#endif
