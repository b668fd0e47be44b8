/* Where recorded heap blocks begin: one byte for each 32 bytes of heap.
 *
 * An allocator whose smallest chunk is 32 bytes starts at most one block in each 32-byte granule, at its start or its
 * middle (the byte's high bit). The low seven bits: 0 none starts here; up to LWP_SHADOW_HOT the hottest pools, the same
 * everywhere; then an index into the dictionary of these 64 KiB; 126 a block whose dictionary was full, which stands in a
 * table by its address; 127 a block with a record of its own. Blocks are owned by one thread when they come and go, so
 * plain byte stores do; dictionaries and the table grow by compare-and-swap; nothing waits. Where the table is full, too,
 * blocks are unknown, never wrong, and so are two blocks in one granule. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_SHADOW_H
#define LWP_COLLECTOR_LIGHT_HEAP_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LWP_SHADOW_BLOCK_MAX = 64 * 1024,
    LWP_SHADOW_HOT = 63,    /* indices 1..63 */
    LWP_SHADOW_ELSEWHERE = 126,
    LWP_SHADOW_LARGE = 127,
    LWP_SHADOW_MIDDLE = 0x80,
    LWP_SHADOW_REGION_BITS = 21,
    LWP_SHADOW_TABLE_BITS = 13,
    LWP_SHADOW_TABLE = 1 << LWP_SHADOW_TABLE_BITS,
    LWP_SHADOW_GRANULE = 32,
    LWP_SHADOW_GRANULES = (1 << LWP_SHADOW_REGION_BITS) / LWP_SHADOW_GRANULE,
    LWP_SHADOW_DICTIONARIES = 32, /* one for 64 KiB */
    LWP_SHADOW_LOCAL = 62,        /* entries of each */
};

struct lwp_shadow_region {
    uint8_t start[LWP_SHADOW_GRANULES];
    uint32_t pools[LWP_SHADOW_DICTIONARIES][LWP_SHADOW_LOCAL + 1];
};

/* address bits 46..34 choose the table, 33..21 the region */
extern struct lwp_shadow_region ***lwp_shadow_tables;
extern uint32_t lwp_shadow_hot[LWP_SHADOW_HOT + 1]; /* index -> pool */

bool lwp_shadow_init(void);

static inline struct lwp_shadow_region *lwp_shadow_region(uint64_t address)
{
    struct lwp_shadow_region **table =
        __atomic_load_n(&lwp_shadow_tables[address >> (LWP_SHADOW_REGION_BITS + LWP_SHADOW_TABLE_BITS) & (LWP_SHADOW_TABLE - 1)],
                        __ATOMIC_ACQUIRE);
    return table ? __atomic_load_n(&table[address >> LWP_SHADOW_REGION_BITS & (LWP_SHADOW_TABLE - 1)], __ATOMIC_ACQUIRE) : NULL;
}

static inline uint8_t *lwp_shadow_byte(struct lwp_shadow_region *region, uint64_t address)
{
    return &region->start[address / LWP_SHADOW_GRANULE & (LWP_SHADOW_GRANULES - 1)];
}

/* The region made, if need be; NULL: no memory. */
struct lwp_shadow_region *lwp_shadow_region_new(uint64_t address);

/* A block begins at `address`, of the pool (or LWP_SHADOW_LARGE) with this index everywhere. */
static inline void lwp_shadow_set(uint64_t address, uint8_t index)
{
    struct lwp_shadow_region *region = lwp_shadow_region(address);
    if (__builtin_expect(!region, 0) && !(region = lwp_shadow_region_new(address)))
        return;
    if (__builtin_expect(address % 16 == 0, 1))
        *lwp_shadow_byte(region, address) = (uint8_t)(index | (address % LWP_SHADOW_GRANULE) << 3);
}

/* The same for a pool that has no index of its own. */
void lwp_shadow_set_local(uint64_t address, uint32_t pool);

/* Returns the index the block had, 0: unknown. */
static inline uint8_t lwp_shadow_clear(uint64_t address)
{
    struct lwp_shadow_region *region = lwp_shadow_region(address);
    if (!region)
        return 0;
    uint8_t *byte = lwp_shadow_byte(region, address), was = *byte;
    if (!was || (was & LWP_SHADOW_MIDDLE) >> 3 != (int)(address % LWP_SHADOW_GRANULE))
        return 0;
    *byte = 0;
    return was & (LWP_SHADOW_MIDDLE - 1);
}

/* The pool of a block that was cleared, which had this index; not LWP_SHADOW_LARGE. 0: not known. */
uint32_t lwp_shadow_forget(uint64_t address, uint8_t index);

/* The nearest pooled block that begins at or below `address`, at most LWP_SHADOW_BLOCK_MAX below. */
bool lwp_shadow_find(uint64_t address, uint32_t *pool, uint64_t *start);

#endif
