/* Addresses are divided into granules of one size, the smallest at which each range touches few granules on average; a hash table has
 * the ranges of each granule. Among blocks of similar sizes that is one or two; where one is a million times as large as the
 * others, many small ones share a granule and are searched. */
#include "analysis/addresses/range_index.h"

#include "base/pages.h"

enum { GRANULES_PER_RANGE = 2, SMALLEST = 6, ADDRESS_BITS = 63 };

static size_t index_granules(const uint64_t *starts, const uint64_t *ends, size_t count, unsigned bits)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (size_t)(((ends[i] - 1) >> bits) - (starts[i] >> bits)) + 1;
    return sum;
}

static struct lwp_range_index_slot *index_slot(struct lwp_range_index *index, uint64_t granule)
{
    size_t i = lwp_range_index_place(index, granule);
    while (index->slots[i].granule && index->slots[i].granule != granule)
        i = (i + 1) & (index->capacity - 1);
    return &index->slots[i];
}

void lwp_range_index_build(struct lwp_range_index *index, const uint64_t *starts, const uint64_t *ends, size_t count)
{
    *index = (struct lwp_range_index){0};
    if (!count)
        return;
    unsigned low = SMALLEST, high = ADDRESS_BITS; /* the larger granules are, the fewer there are */
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (index_granules(starts, ends, count, middle) <= GRANULES_PER_RANGE * count)
            high = middle;
        else
            low = middle + 1;
    }
    index->bits = low;
    index->capacity = 1;
    while (index->capacity < 2 * GRANULES_PER_RANGE * count)
        index->capacity *= 2;
    index->slots = lwp_pages_alloc(index->capacity * sizeof *index->slots);
    for (size_t i = 0; i < count; i++)
        for (uint64_t at = starts[i] >> low; at <= (ends[i] - 1) >> low; at++) {
            struct lwp_range_index_slot *slot = index_slot(index, at + 1);
            if (!slot->granule)
                *slot = (struct lwp_range_index_slot){.granule = at + 1, .first = (uint32_t)i};
            slot->last = (uint32_t)i;
        }
}

void lwp_range_index_free(struct lwp_range_index *index)
{
    lwp_pages_free(index->slots, index->capacity * sizeof *index->slots);
    *index = (struct lwp_range_index){0};
}
