/* What an object is made of: element size, type, variable name. */
#ifndef LWP_ANALYSIS_ELEMENTS_H
#define LWP_ANALYSIS_ELEMENTS_H

#include "analysis/profile.h"

/* Fills stride of each stream and type, variable, element_bytes, single of each object worth the work. */
void lwp_elements_find(struct lwp_profile *profile);

/* Says why the size of heavy objects' elements is not known. After the objects have names. */
void lwp_elements_notes(struct lwp_profile *profile);

/* Where in its element an offset from the start of the block lies. False: before the first one or behind the last. */
bool lwp_elements_place(const struct lwp_object *object, uint64_t offset, uint64_t *place);

/* The place in its element a stream of an object of known element size keeps to, and the share of its samples that do.
 */
double lwp_elements_stream_place(const struct lwp_profile *profile, const struct lwp_stream *stream, uint64_t *place);

/* How many there were at most; 0: unknown. */
uint64_t lwp_elements_count(const struct lwp_object *object);

/* Whether most of what the stream touches lies behind the elements, when those end there (0: they do not). */
bool lwp_elements_beyond(const struct lwp_stream *stream, uint64_t end);

/* The offset modulo any size a stream keeps to, and the share of its samples that do; headers are not looked at. */
double lwp_elements_residue(const struct lwp_stream *stream, uint64_t element_bytes, uint64_t *residue);

/* Whether the stream's accesses may span several fields or elements. */
bool lwp_elements_packed(const struct lwp_profile *profile, const struct lwp_stream *stream);

#endif
