/* The same structure with its fields in another order. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_REORDER_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_REORDER_H

#include "analysis/advice/layout/split.h"

/* `group` is that of lwp_affinity_cluster. Fills `reordered` (its gain, its order; no declaration yet) and
 * returns true when an order was found that fetches fewer cache lines. */
bool lwp_reorder_try(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity,
                     const int *group, struct lwp_split *reordered);

#endif
