/* How long does a loop take for one element, in the program itself? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_PACE_H
#define LWP_ANALYSIS_ADVICE_GAIN_PACE_H

#include "analysis/profile/traversals.h"

/* Nanoseconds for each `stride` bytes, of a walk over `extent` bytes from one end to the other, again and again; 0: not known. */
double lwp_pace(const struct lwp_traversal_pace *paces, uint32_t count, double stride, double extent);

#endif
