/* How long does a loop take for one element, in the program itself? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_PACE_H
#define LWP_ANALYSIS_ADVICE_GAIN_PACE_H

#include "analysis/profile/traversals.h"

/* Nanoseconds for each `stride` bytes, of a walk over `extent` bytes from one end to the other, again and again; 0: not known. */
double lwp_pace(const struct lwp_traversal_pace *paces, uint32_t count, double stride, double extent);

/* Bytes from one end to the other of what a thread goes over, of an object of `largest` bytes: all of it, or an equal part where threads
 * have one each. */
double lwp_pace_extent(const struct lwp_traversal *traversal, double stride, double largest);

/* The pace of a loop over an object of `largest` bytes, whether or not threads share it. */
double lwp_pace_of(const struct lwp_traversal *traversal, double stride, double largest);

#endif
