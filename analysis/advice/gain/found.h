/* Fields that are used of the element that a search has found. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_FOUND_H
#define LWP_ANALYSIS_ADVICE_GAIN_FOUND_H

#include "analysis/advice/gain/layout.h"

/* Of a loop over elements of the layout: sets uses[f] of the fields that are accessed behind it through the pointer or index that it goes
 * on with, unless samples show that it goes over many elements for one that it finds. */
void lwp_gain_found(struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t region, bool *uses);

#endif
