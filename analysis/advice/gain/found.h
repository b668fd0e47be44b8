/* Fields that are used of the element that a search has found. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_FOUND_H
#define LWP_ANALYSIS_ADVICE_GAIN_FOUND_H

#include "analysis/advice/gain/layout.h"

/* Of one of the layout's loops: sets uses[f] of the fields that are accessed behind it through the pointer or index that it goes
 * on with, unless samples show that it goes over many elements for one that it finds. Loops that use what it finds, and no other
 * elements, have it as their search. */
void lwp_gain_found(struct lwp_profile *profile, struct lwp_layout *layout, struct lwp_layout_loop *search);

#endif
