/* How far apart do the blocks of nodes really lie? */
#ifndef LWP_ANALYSIS_ADVICE_PLACEMENT_SPREAD_H
#define LWP_ANALYSIS_ADVICE_PLACEMENT_SPREAD_H

#include "analysis/profile/profile.h"

/* Bytes from one block of the objects to the next one in memory, on average; 0: not known. *error: its standard deviation. */
double lwp_placement_spread(const struct lwp_profile *profile, const uint32_t *objects, size_t object_count, double *error);

#endif
