/* What each loop touches of an object within one stride: several elements at a time, as unrolled and vectorised loops
 * do? */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_COVERS_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_COVERS_H

#include "analysis/elements/element_streams.h"
#include "analysis/profile/profile.h"

enum { LWP_ELEMENT_PARTS = 512 }; /* at most, in one stride */

struct lwp_element_covers {
    uint64_t stride;
    struct element_cover *items; /* own, one a loop */
    size_t count;
};

/* From the streams that step by `stride` or a multiple of it, and the code beside them. */
void lwp_element_covers_find(struct lwp_profile *profile, const struct lwp_element_streams *streams, uint64_t stride,
                             struct lwp_element_covers *covers);
void lwp_element_covers_free(struct lwp_element_covers *covers);

/* Whether every loop may be one over elements of `size`. */
bool lwp_element_covers_repeat(const struct lwp_element_covers *covers, uint64_t size);

/* Whether the equal parts of `size` are such as nobody would write down as one structure: several fields of different
 * widths over and over, or four and more times the same field with gaps between. */
bool lwp_element_covers_plainly_repeat(const struct lwp_element_covers *covers, uint64_t size);

#endif
