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

/* Where elements begin: every `spacing` bytes from `start` on, in the whole block, or in each `page` of it (slabs). */
struct lwp_element_lattice {
    uint64_t spacing, start, page; /* start < spacing; page 0: the whole block */
    double share;                  /* of the accesses that agree; below 0: the code says nothing of that type */
};

/* That of the accesses through pointers to the type. `spacing`: how far apart elements are, 0: to be found, at least the type's size.
 * An element begins where the address is, less its place by code. */
struct lwp_element_lattice lwp_element_code_lattice(const struct lwp_element_code *code, const struct lwp_type *type, uint64_t spacing);

/* The share of the object's accesses that lie between elements of the type though the lattice has no room there: all that pointers of
 * the type lead to lie further apart, and what is between has no type (a header before an entry of any size). 0: none; else the lattice
 * is the wider one. */
double lwp_element_code_between(const struct lwp_profile *profile, uint32_t index, const struct lwp_element_code *code,
                                const struct lwp_type *type, struct lwp_element_lattice *lattice);

/* Whether it is good enough to name elements by. */
#define LWP_ELEMENT_LATTICE_GOOD 0.9
#define LWP_ELEMENT_LATTICE_SURE 0.99 /* fewer disagree than may where fields are named */

/* Where the elements of accesses through pointers to the type begin; the caller frees them. */
struct lwp_element_base {
    uint64_t at;
    double weight; /* in accesses */
};
struct lwp_element_base *lwp_element_code_bases(const struct lwp_element_code *code, const struct lwp_type *type, size_t *count);

/* Whether pointers to the type lead to several places of a block. */
bool lwp_element_code_several(const struct lwp_element_code *code, const struct lwp_type *type);

/* The structure that has the size of the block and that pointers to its beginning lead to: the block is one of it, whatever the strides
 * within are. NULL: none, or it is used too little to be sure. */
const struct lwp_type *lwp_element_code_whole(const struct lwp_element_code *code, uint64_t block_bytes, const char **variable);

/* Makes objects of their own of the elements that the code tells apart in a block whose elements are not known otherwise: arenas,
 * slabs, pools, several arrays or types in one block (element_parts.c). Whether there were any: streams have to be linked then. */
bool lwp_element_parts_carve(struct lwp_profile *profile, uint32_t index, const struct lwp_element_code *code);

/* The line and function of a stream's accesses, for a sentence. */
const char *lwp_element_where(struct lwp_profile *profile, const struct lwp_stream *stream);

/* How far an object's fields by address and by code agree (element_agreement.c); after its elements are decided. */
void lwp_element_agreement_check(struct lwp_profile *profile, uint32_t index, const struct lwp_element_code *code);

#endif
