/* Members laid down one after the other, each aligned as it wants, as C compilers do. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_MEMBER_PACKING_H
#define LWP_ANALYSIS_ADVICE_GAIN_MEMBER_PACKING_H

#include <stdint.h>

struct lwp_member_packing {
    uint64_t bytes;     /* so far */
    uint64_t alignment; /* the largest so far; 0: nothing was laid down */
};

static inline uint64_t lwp_member_packing_round(uint64_t at, uint64_t alignment)
{
    return alignment ? (at + alignment - 1) / alignment * alignment : at;
}

/* Where the member comes to lie. `alignment`: 0 is as good as 1. */
static inline uint64_t lwp_member_packing_add(struct lwp_member_packing *packing, uint64_t bytes, uint64_t alignment)
{
    uint64_t at = lwp_member_packing_round(packing->bytes, alignment);
    packing->bytes = at + bytes;
    packing->alignment = alignment > packing->alignment ? alignment : packing->alignment;
    return at;
}

/* From one element to the next in an array. */
static inline uint64_t lwp_member_packing_size(const struct lwp_member_packing *packing)
{
    return lwp_member_packing_round(packing->bytes, packing->alignment);
}

#endif
