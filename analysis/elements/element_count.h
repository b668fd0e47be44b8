/* How many elements an object has, and how much of its memory they fill. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_COUNT_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_COUNT_H

#include "analysis/profile/profile.h"

/* Finds out how far into its blocks the elements of an array are used: what grows has room for more than there are. From sampled offsets, so
 * about; nothing is found where they go to the end. */
void lwp_element_reach_find(struct lwp_profile *profile, uint32_t object);

/* Bytes of all elements that are used, headers with them. */
uint64_t lwp_element_used(const struct lwp_object *object);

/* How many there were at most, or, with element_reach, about; 0: unknown. */
uint64_t lwp_element_count(const struct lwp_object *object);

#endif
