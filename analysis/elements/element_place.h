/* Where in the elements of an object accesses are. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_PLACE_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_PLACE_H

#include "analysis/profile/profile.h"

/* From the start of one element to that of the next; of single blocks, to the end of the block. */
static inline uint64_t lwp_element_spacing(const struct lwp_object *object)
{
    return object->element_spacing ? object->element_spacing : object->element_bytes;
}

/* Where in its element an offset from the start of the block lies. False: before the first one or behind the last. */
bool lwp_element_place(const struct lwp_object *object, uint64_t offset, uint64_t *place);

/* The place in its element a stream of an object of known element size keeps to, and the share of its samples that do.
 */
double lwp_element_stream_place(const struct lwp_profile *profile, const struct lwp_stream *stream, uint64_t *place);

/* Whether most of what the stream touches lies behind the elements, when those end there (0: they do not). */
bool lwp_element_beyond(const struct lwp_stream *stream, uint64_t end);

/* Whether most of it lies before the first element, in a header. */
bool lwp_element_before(const struct lwp_stream *stream, uint64_t start);

/* The offset modulo any size a stream keeps to, and the share of its samples that do; headers are not looked at. */
double lwp_element_residue(const struct lwp_stream *stream, uint64_t element_bytes, uint64_t *residue);

/* Whether it copies or fills, by a library or an instruction that goes on by itself: where elements begin makes no difference to it. */
bool lwp_element_copies(const struct lwp_profile *profile, const struct lwp_stream *stream);

/* Whether the stream's accesses may span several fields or elements. */
bool lwp_element_packed(const struct lwp_profile *profile, const struct lwp_stream *stream);

#endif
