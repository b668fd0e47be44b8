/* Whether what was accessed agrees with elements of a size and type. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_FIT_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_FIT_H

#include "analysis/profile/profile.h"

/* The share of a stream's offsets that are at one place, from which it is said to keep to it. */
#define LWP_ELEMENT_KEEPS_TO 0.8

/* The share of the object's accesses that agree with elements of this size and type from `start` on; below 0: no
 * evidence. What lies behind `end` is not asked (0: nothing does). Of a type that is not `exact` every access must keep to one place. */
double lwp_element_fit(const struct lwp_profile *profile, uint32_t index, uint64_t size, const struct lwp_type *type,
                       bool exact, uint64_t start, uint64_t end);

#endif
