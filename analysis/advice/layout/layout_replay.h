/* Layout advice tried out: the part of the trace that was kept is replayed through the model of the caches, with the data
 * where it is and where it would be. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_LAYOUT_REPLAY_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_LAYOUT_REPLAY_H

#include "analysis/advice/layout/regroup.h"
#include "analysis/advice/layout/split.h"

/* Into `replay` of each of them; all zero where nothing was traced. `regroups` may be NULL. */
void lwp_layout_replay(struct lwp_profile *profile, struct lwp_splits *splits, struct lwp_regroups *regroups);

#endif
