/* Where recorded heap blocks begin: one byte for each 32 bytes of heap.
 *
 * An allocator whose smallest chunk is 32 bytes starts at most one block in each 32-byte granule, at its start or its
 * middle (the byte's high bit). The low seven bits: 0 none starts here; up to LWP_SHADOW_HOT the hottest pools, the same
 * everywhere; then an index into the dictionary of these 64 KiB; 126 a block whose dictionary was full, which stands in a
 * table by its address; 127 a block with a record of its own. Blocks are owned by one thread when they come and go, so
 * plain byte stores do; dictionaries and the table grow by compare-and-swap; nothing waits. Where the table is full, too,
 * blocks are unknown, never wrong, and so are two blocks in one granule.
 *
 * Once recording is thinned out most blocks that are freed are unknown, and to find that out in the byte costs a cache miss for each.
 * So what begins in 1 KiB of heap (modulo 512 MiB) is counted, and a bit says whether that is not 0: 64 KiB of bits, which stay in
 * the nearer caches. A bit that is set says little: with several threads none is cleared again. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_SHADOW_H
#define LWP_COLLECTOR_LIGHT_HEAP_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/single_threaded.h>

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
    LWP_SHADOW_PAGE = 1024,
    LWP_SHADOW_PAGES = 1 << 19,
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

extern uint16_t *lwp_shadow_begin; /* how many recorded blocks begin in each page of 1 KiB */
extern uint64_t *lwp_shadow_any;   /* a bit for each */
extern bool lwp_shadow_one_a_granule;

/* `one_a_granule`: as glibc's, the allocator begins no two blocks in one granule. Else two threads may put theirs there at the same time.
 */
bool lwp_shadow_init(bool one_a_granule);

static inline struct lwp_shadow_region *lwp_shadow_region(uint64_t address)
{
    struct lwp_shadow_region **table =
        __atomic_load_n(&lwp_shadow_tables[address >> (LWP_SHADOW_REGION_BITS + LWP_SHADOW_TABLE_BITS) & (LWP_SHADOW_TABLE - 1)],
                        __ATOMIC_ACQUIRE);
    return table ? __atomic_load_n(&table[address >> LWP_SHADOW_REGION_BITS & (LWP_SHADOW_TABLE - 1)], __ATOMIC_ACQUIRE) : NULL;
}

/* The first address behind `address` where there may be a region; it has none itself. */
static inline uint64_t lwp_shadow_next(uint64_t address)
{
    const unsigned table_bits = LWP_SHADOW_REGION_BITS + LWP_SHADOW_TABLE_BITS,
                   bits = lwp_shadow_tables[address >> table_bits & (LWP_SHADOW_TABLE - 1)] ? LWP_SHADOW_REGION_BITS : table_bits;
    return ((address >> bits) + 1) << bits;
}

static inline uint8_t *lwp_shadow_byte(struct lwp_shadow_region *region, uint64_t address)
{
    return &region->start[address / LWP_SHADOW_GRANULE & (LWP_SHADOW_GRANULES - 1)];
}

static inline uint32_t lwp_shadow_page(uint64_t address)
{
    return address / LWP_SHADOW_PAGE % LWP_SHADOW_PAGES;
}

/* One block more, or one less, begins at `address`. */
static inline void lwp_shadow_count(uint64_t address, int more)
{
    const uint32_t page = lwp_shadow_page(address);
    uint64_t *any = &lwp_shadow_any[page / 64], bit = (uint64_t)1 << page % 64;
    if (__builtin_expect(!__libc_single_threaded, 0)) {
        __atomic_fetch_add(&lwp_shadow_begin[page], (uint16_t)more, __ATOMIC_RELAXED);
        if (!(__atomic_load_n(any, __ATOMIC_RELAXED) & bit))
            __atomic_fetch_or(any, bit, __ATOMIC_RELAXED);
        return;
    }
    const uint16_t count = lwp_shadow_begin[page] = (uint16_t)(lwp_shadow_begin[page] + more);
    if (count == (more > 0)) /* else the bit is as it was */
        *any = count ? *any | bit : *any & ~bit;
}

/* Puts `fresh` in the place of *was; false: the byte is another one by now, and becomes *was. So each that is put is counted once, and
 * taken off once. */
static inline bool lwp_shadow_swap(uint8_t *byte, uint8_t *was, uint8_t fresh)
{
    if (!lwp_shadow_one_a_granule)
        return __atomic_compare_exchange_n(byte, was, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    *byte = fresh;
    return true;
}

/* The region made, if need be; NULL: no memory. */
struct lwp_shadow_region *lwp_shadow_region_new(uint64_t address);

/* A block begins at `address`, of the pool (or LWP_SHADOW_LARGE) with this index everywhere. */
static inline void lwp_shadow_set(uint64_t address, uint8_t index)
{
    struct lwp_shadow_region *region = lwp_shadow_region(address);
    if (__builtin_expect(!region, 0) && !(region = lwp_shadow_region_new(address)))
        return;
    if (__builtin_expect(address % 16 != 0, 0))
        return;
    uint8_t *byte = lwp_shadow_byte(region, address);
    const uint8_t fresh = (uint8_t)(index | (address % LWP_SHADOW_GRANULE) << 3);
    uint8_t was = *byte;
    if (fresh) /* first: never is fewer counted than there are */
        lwp_shadow_count(address, 1);
    while (!lwp_shadow_swap(byte, &was, fresh))
        ;
    if (was)
        lwp_shadow_count(address, -1);
}

/* The same for a pool that has no index of its own. */
void lwp_shadow_set_local(uint64_t address, uint32_t pool);

/* False: the block that begins at `address` is unknown. */
static inline bool lwp_shadow_may_know(uint64_t address)
{
    const uint32_t page = lwp_shadow_page(address);
    return __atomic_load_n(&lwp_shadow_any[page / 64], __ATOMIC_RELAXED) >> page % 64 & 1 &&
           __atomic_load_n(&lwp_shadow_begin[page], __ATOMIC_RELAXED);
}

static inline bool lwp_shadow_is_at(uint8_t byte, uint64_t address)
{
    return byte && (byte & LWP_SHADOW_MIDDLE) >> 3 == (int)(address % LWP_SHADOW_GRANULE);
}

/* Whether a block that is known begins there. */
static inline bool lwp_shadow_begins(uint64_t address)
{
    struct lwp_shadow_region *region = lwp_shadow_region(address);
    return region && lwp_shadow_is_at(*lwp_shadow_byte(region, address), address);
}

/* Returns the index the block had, 0: unknown. */
static inline uint8_t lwp_shadow_clear(uint64_t address)
{
    struct lwp_shadow_region *region = lwp_shadow_region(address);
    if (!region)
        return 0;
    uint8_t *byte = lwp_shadow_byte(region, address), was = *byte;
    if (!lwp_shadow_is_at(was, address) || !lwp_shadow_swap(byte, &was, 0))
        return 0;
    lwp_shadow_count(address, -1);
    return was & (LWP_SHADOW_MIDDLE - 1);
}

/* The pool of a block that was cleared, which had this index; not LWP_SHADOW_LARGE. 0: not known. */
uint32_t lwp_shadow_forget(uint64_t address, uint8_t index);

/* The nearest pooled block that begins at or below `address`, at most LWP_SHADOW_BLOCK_MAX below. */
bool lwp_shadow_find(uint64_t address, uint32_t *pool, uint64_t *start);

#endif
