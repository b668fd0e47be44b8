/* Where do the fields of a structure lie in memory, today and in another layout? */
#ifndef LWP_ANALYSIS_ADVICE_PLACEMENT_PLACEMENT_H
#define LWP_ANALYSIS_ADVICE_PLACEMENT_PLACEMENT_H

#include "analysis/advice/placement/layout.h"

enum { LWP_PLACEMENT_MALLOC = 16 }; /* what glibc's blocks are aligned to, and where in a page a large one begins */

/* Fields anywhere: the layout as it is, split, reordered, padded, or separate arrays (each a group of one field). */
struct lwp_placement {
    size_t field_count, groups;
    uint64_t offsets[LWP_FIELDS_MAX], bytes[LWP_FIELDS_MAX]; /* of each field, in its group's element */
    int group[LWP_FIELDS_MAX];                               /* of each field, 0 to groups - 1 */
    struct lwp_placement_group {
        uint64_t spacing;   /* from one element to the next */
        uint64_t alignment; /* the first element lies on a multiple of it; 0: of a whole line */
        uint64_t start;     /* ... or this many bytes past one */
    } of[LWP_FIELDS_MAX + 1];
    bool linked;  /* each visit goes through group 0: that is where the pointers to the others are */
    bool pooled;  /* single blocks of malloc's become elements of blocks that hold many */
    bool ordered; /* the elements lie in the order in which the loop goes to them, */
    bool array;   /* ... one after the other, and no link leads from one to the next */
};

/* The layout as it is, in one group. */
void lwp_placement_today(const struct lwp_profile *profile, const struct lwp_layout *layout, struct lwp_placement *placement);

/* Split: `group` of each field as lwp_affinity_cluster left it (-1: cold), `groups` of them. */
void lwp_placement_split(const struct lwp_profile *profile, const struct lwp_layout *layout, const int *group, size_t groups,
                         struct lwp_placement *placement);

/* From one block of malloc's to the next, for blocks of so many bytes allocated one after the other (glibc). */
uint64_t lwp_placement_chunk(uint64_t bytes);

/* ---- members laid down one after the other, each aligned as it wants, as C compilers do ---- */

struct lwp_member_packing {
    uint64_t bytes;     /* so far */
    uint64_t alignment; /* the largest so far; 0: nothing was laid down */
};

static inline uint64_t lwp_round_up(uint64_t at, uint64_t alignment)
{
    return alignment ? (at + alignment - 1) / alignment * alignment : at;
}

/* Where the member comes to lie. `alignment`: 0 is as good as 1. */
static inline uint64_t lwp_member_packing_add(struct lwp_member_packing *packing, uint64_t bytes, uint64_t alignment)
{
    uint64_t at = lwp_round_up(packing->bytes, alignment);
    packing->bytes = at + bytes;
    packing->alignment = alignment > packing->alignment ? alignment : packing->alignment;
    return at;
}

/* Before a field of a container's node: what the program keeps there begins where a pointer may lie. *began: it has. */
void lwp_placement_begin_payload(const struct lwp_layout *layout, size_t field, struct lwp_member_packing *packing, bool *began);

/* From one element to the next in an array. */
static inline uint64_t lwp_member_packing_size(const struct lwp_member_packing *packing)
{
    return lwp_round_up(packing->bytes, packing->alignment);
}

#endif
