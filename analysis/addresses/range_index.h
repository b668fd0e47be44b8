/* Which of many ranges an address may lie in: one look into a table instead of a binary search over all. */
#ifndef LWP_ANALYSIS_ADDRESSES_RANGE_INDEX_H
#define LWP_ANALYSIS_ADDRESSES_RANGE_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct lwp_range_index_slot {
    uint64_t granule;     /* of addresses, plus one; 0: empty */
    uint32_t first, last; /* the ranges that touch it are all among these */
};

/* Start from zero. */
struct lwp_range_index {
    struct lwp_range_index_slot *slots;
    size_t capacity; /* a power of two; 0: there are no ranges */
    unsigned bits;   /* of an address in its granule */
};

/* Ranges [starts[i], ends[i]), not empty, in ascending order of their starts. Memory: some 64 bytes a range. */
void lwp_range_index_build(struct lwp_range_index *index, const uint64_t *starts, const uint64_t *ends, size_t count);
void lwp_range_index_free(struct lwp_range_index *index);

static inline size_t lwp_range_index_place(const struct lwp_range_index *index, uint64_t granule)
{
    uint64_t x = granule * 0x9e3779b97f4a7c15u;
    return (size_t)(x ^ x >> 32) & (index->capacity - 1);
}

/* For an address that is asked for soon. */
static inline void lwp_range_index_prefetch(const struct lwp_range_index *index, uint64_t address)
{
    if (index->capacity)
        __builtin_prefetch(&index->slots[lwp_range_index_place(index, (address >> index->bits) + 1)]);
}

/* NULL: no range is near. */
static inline const struct lwp_range_index_slot *lwp_range_index_at(const struct lwp_range_index *index, uint64_t address)
{
    if (!index->capacity)
        return NULL;
    uint64_t granule = (address >> index->bits) + 1;
    size_t i = lwp_range_index_place(index, granule);
    while (index->slots[i].granule != granule) {
        if (!index->slots[i].granule)
            return NULL;
        i = (i + 1) & (index->capacity - 1);
    }
    return &index->slots[i];
}

#endif
