/* A loop that walks an array or a text inside of elements: it leaves parts of a larger stride out. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_WALK_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_WALK_H

#include "analysis/elements/element_streams.h"

/* The size of an element whose inner array is walked by `stride`, when another field of it is used, too; else 0, and
 * *open says whether such a walk is seen. */
uint64_t lwp_element_walk_around(const struct lwp_element_streams *streams, uint64_t stride, bool *open);

/* The probability that no loop walks an array inside of larger elements, when another one, that fills or copies them,
 * hides among all accesses what it leaves out: by what the loops leave out each for itself. Elements of many parts are
 * expected less than of few: their tests weigh 1 / parts^2 (weighted Bonferroni). */
double lwp_element_walk_none(const struct lwp_element_streams *streams, uint64_t stride);

#endif
