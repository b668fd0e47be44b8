#define _GNU_SOURCE
#include "collector/light/shadow.h"

#include <stddef.h>
#include <sys/mman.h>

enum {
    GRANULE = 32,
    REGION_BITS = 21,
    REGION_GRANULES = (1 << REGION_BITS) / GRANULE,
    DICTIONARY_BITS = 16,
    DICTIONARIES = 1 << (REGION_BITS - DICTIONARY_BITS),
    DICTIONARY_SIZE = 128,
    DICTIONARY_PROBES = 8,
    TABLE_BITS = 13,
    TABLE_SIZE = 1 << TABLE_BITS,
    MIDDLE = 0x80,
};

struct region {
    uint8_t start[REGION_GRANULES];
    uint32_t pools[DICTIONARIES][DICTIONARY_SIZE];
};

/* address bits 47..34 choose the table, 33..21 the region */
static struct region ***shadow_tables;

static void *shadow_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool lwp_shadow_init(void)
{
    if (!shadow_tables)
        shadow_tables = shadow_map(TABLE_SIZE * sizeof *shadow_tables);
    return shadow_tables != NULL;
}

static struct region *shadow_region(uint64_t address)
{
    struct region **table = __atomic_load_n(&shadow_tables[address >> (REGION_BITS + TABLE_BITS) & (TABLE_SIZE - 1)],
                                            __ATOMIC_ACQUIRE);
    return table ? __atomic_load_n(&table[address >> REGION_BITS & (TABLE_SIZE - 1)], __ATOMIC_ACQUIRE) : NULL;
}

/* Puts freshly mapped memory into *place unless another thread was first. */
static void *shadow_install(void *place, size_t bytes)
{
    void *fresh = shadow_map(bytes), *found = NULL;
    if (!fresh)
        return NULL;
    if (__atomic_compare_exchange_n((void **)place, &found, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    munmap(fresh, bytes);
    return found;
}

static __attribute__((noinline)) struct region *shadow_region_new(uint64_t address)
{
    struct region ***slot = &shadow_tables[address >> (REGION_BITS + TABLE_BITS) & (TABLE_SIZE - 1)];
    struct region **table = *slot ? *slot : shadow_install(slot, TABLE_SIZE * sizeof *table);
    if (!table)
        return NULL;
    struct region **region = &table[address >> REGION_BITS & (TABLE_SIZE - 1)];
    return *region ? *region : shadow_install(region, sizeof(struct region));
}

/* A few places near the pool's hash, so that a full dictionary is noticed quickly. Index 0 stays free: it means none. */
static __attribute__((noinline)) uint8_t shadow_index(uint32_t *pools, uint32_t pool)
{
    for (unsigned probe = 0; probe < DICTIONARY_PROBES; probe++) {
        uint8_t i = (uint8_t)((pool * 0x9e3779b1u >> 25) + probe) & (DICTIONARY_SIZE - 1);
        if (!i)
            continue;
        uint32_t found = __atomic_load_n(&pools[i], __ATOMIC_RELAXED);
        if (!found && __atomic_compare_exchange_n(&pools[i], &found, pool, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return i;
        if (found == pool)
            return i;
    }
    return 0;
}

static uint32_t *shadow_pools(struct region *region, uint64_t address)
{
    return region->pools[address >> DICTIONARY_BITS & (DICTIONARIES - 1)];
}

static uint8_t *shadow_granule(struct region *region, uint64_t address)
{
    return &region->start[address / GRANULE & (REGION_GRANULES - 1)];
}

void lwp_shadow_set(uint64_t address, uint32_t pool, uint8_t *hint)
{
    struct region *region = shadow_region(address);
    if (!region && !(region = shadow_region_new(address)))
        return;
    uint32_t *pools = shadow_pools(region, address);
    uint8_t index = *hint;
    if (pools[index] != pool || !index)
        *hint = index = shadow_index(pools, pool);
    if (address % 16 == 0)
        *shadow_granule(region, address) = index ? (uint8_t)(index | (address % GRANULE ? MIDDLE : 0)) : 0;
}

uint32_t lwp_shadow_clear(uint64_t address)
{
    struct region *region = shadow_region(address);
    if (!region)
        return 0;
    uint8_t *granule = shadow_granule(region, address), was = *granule;
    if (!was || (was & MIDDLE ? 16u : 0u) != address % GRANULE)
        return 0;
    *granule = 0;
    return shadow_pools(region, address)[was & (MIDDLE - 1)];
}

bool lwp_shadow_find(uint64_t address, uint32_t *pool, uint64_t *start)
{
    if (!shadow_tables || address >> 47)
        return false;
    uint64_t lowest = address > LWP_SHADOW_BLOCK_MAX ? address - LWP_SHADOW_BLOCK_MAX : 0;
    uint64_t at = address & ~(uint64_t)(GRANULE - 1);
    struct region *region = NULL;
    uint64_t region_of = UINT64_MAX;
    for (; at >= lowest && at; at -= GRANULE) {
        if (at >> REGION_BITS != region_of) {
            region_of = at >> REGION_BITS;
            region = shadow_region(at);
            if (!region)
                return false;
        }
        uint8_t byte = *shadow_granule(region, at);
        if (!byte) {
            /* skip eight granules at a time where all are empty */
            while ((at / GRANULE & 7) == 7 && at - 7 * GRANULE >= lowest &&
                   *(const uint64_t *)(shadow_granule(region, at) - 7) == 0) {
                at -= 8 * GRANULE;
                if (at >> REGION_BITS != region_of || at < lowest)
                    break;
            }
            if (at >> REGION_BITS != region_of || at < lowest || *shadow_granule(region, at) == 0) {
                if (at >> REGION_BITS != region_of)
                    at += GRANULE; /* the loop steps into the lower region */
                continue;
            }
            byte = *shadow_granule(region, at);
        }
        uint64_t begin = at + (byte & MIDDLE ? 16 : 0);
        if (begin > address)
            continue;
        *pool = shadow_pools(region, at)[byte & (MIDDLE - 1)];
        *start = begin;
        return *pool != 0;
    }
    return false;
}
