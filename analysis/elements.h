/* What an object is made of: element size, type, variable name. */
#ifndef LWP_ANALYSIS_ELEMENTS_H
#define LWP_ANALYSIS_ELEMENTS_H

#include "analysis/profile.h"

/* Fills stride of each stream and type, variable, element_bytes, single of each object worth the work. */
void lwp_elements_find(struct lwp_profile *profile);

/* The offset within its element an array stream keeps to, and the share of its samples that do. */
double lwp_elements_residue(const struct lwp_stream *stream, uint64_t element_bytes, uint64_t *residue);

#endif
