/* The size of an object's elements as far as its addresses tell. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_SIZE_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_SIZE_H

#include "analysis/elements/element_covers.h"
#include "analysis/profile/profile.h"

struct lwp_element_evidence {
    struct lwp_profile *profile;
    uint32_t object;
    uint64_t stride;                  /* what nearly all accesses step by, or a multiple of it; 0: nothing in common */
    double probability;               /* that it is no multiple of what they step by */
    uint64_t bytes;                   /* element size by the addresses alone; 0: they leave it open */
    bool several;                     /* parts of the block have different strides: it holds several arrays */
    bool bytewise;                    /* most accesses are one byte wide */
    struct lwp_element_covers covers; /* own */
};

/* After the streams have their strides. Several objects may be asked about at once: code is looked at under the
 * profile's lock. */
void lwp_element_evidence_find(struct lwp_profile *profile, uint32_t object, struct lwp_element_evidence *evidence);
void lwp_element_evidence_free(struct lwp_element_evidence *evidence);

/* Whether elements of this size (of a type that may be it) can give these addresses. */
bool lwp_element_evidence_allows(const struct lwp_element_evidence *evidence, uint64_t bytes);

#endif
