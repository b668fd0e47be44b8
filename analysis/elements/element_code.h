/* The second witness of where in its element an access is: its code. A pointer's type and the instruction's displacement give a
 * field without any address; the address gives a place in the block without any type. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_CODE_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_CODE_H

#include "analysis/profile/profile.h"

enum { LWP_ELEMENT_CODE_STREAMS = 512 };

/* What the code says of an object's accesses, but for those through pointers to plain bytes, which may be to anything. */
struct lwp_element_code {
    struct lwp_element_spoken {
        const struct lwp_stream *stream;
        struct lwp_code_place place;
    } items[LWP_ELEMENT_CODE_STREAMS];
    size_t count;
    double accesses; /* of all its streams that are looked at, also where the code says nothing */
};

bool lwp_element_same_type(const struct lwp_type *a, const struct lwp_type *b);

void lwp_element_code_collect(struct lwp_profile *profile, uint32_t index, struct lwp_element_code *code);

/* The share of the accesses through pointers to the type that lie in elements `spacing` bytes apart, and where the first of these
 * begins: *start < spacing. Below 0: the code says nothing of that type. */
double lwp_element_code_start(const struct lwp_element_code *code, const struct lwp_type *type, uint64_t spacing, uint64_t *start);

/* How far an object's fields by address and by code agree (element_agreement.c); after its elements are decided. */
void lwp_element_agreement_check(struct lwp_profile *profile, uint32_t index, const struct lwp_element_code *code);

#endif
