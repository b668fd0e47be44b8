/* Which of many ranges an address may lie in: one look into a table instead of a binary search over all. */
#ifndef LWP_ANALYSIS_DIRECTORY_H
#define LWP_ANALYSIS_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

struct lwp_directory_slot {
    uint64_t granule;     /* of addresses, plus one; 0: empty */
    uint32_t first, last; /* the ranges that touch it are all among these */
};

/* Start from zero. */
struct lwp_directory {
    struct lwp_directory_slot *slots;
    size_t capacity; /* a power of two; 0: there are no ranges */
    unsigned bits;   /* of an address in its granule */
};

/* Ranges [starts[i], ends[i]), not empty, in ascending order of their starts. Memory: some 64 bytes a range. */
void lwp_directory_build(struct lwp_directory *directory, const uint64_t *starts, const uint64_t *ends, size_t count);
void lwp_directory_free(struct lwp_directory *directory);

static inline size_t lwp_directory_place(const struct lwp_directory *directory, uint64_t granule)
{
    uint64_t x = granule * 0x9e3779b97f4a7c15u;
    return (size_t)(x ^ x >> 32) & (directory->capacity - 1);
}

/* For an address that is asked for soon. */
static inline void lwp_directory_prefetch(const struct lwp_directory *directory, uint64_t address)
{
    if (directory->capacity)
        __builtin_prefetch(&directory->slots[lwp_directory_place(directory, (address >> directory->bits) + 1)]);
}

/* NULL: no range is near. */
static inline const struct lwp_directory_slot *lwp_directory_at(const struct lwp_directory *directory, uint64_t address)
{
    if (!directory->capacity)
        return NULL;
    uint64_t granule = (address >> directory->bits) + 1;
    size_t i = lwp_directory_place(directory, granule);
    while (directory->slots[i].granule != granule) {
        if (!directory->slots[i].granule)
            return NULL;
        i = (i + 1) & (directory->capacity - 1);
    }
    return &directory->slots[i];
}

#endif
