#include "collector/light/heap/shadow.h"

#include "collector/light/own/hot.h"
#include "collector/light/own/own_memory.h"

#include <sys/syscall.h>
#include <unistd.h>

enum {
    DICTIONARY_PROBES = 8,
    ELSEWHERE_BITS = 14,
    ELSEWHERE_LINE = 8, /* blocks whose addresses have one hash: a cache line */
};

LWP_HOT struct lwp_shadow_region ***lwp_shadow_tables;
uint32_t lwp_shadow_hot[LWP_SHADOW_HOT + 1];
static uint64_t (*shadow_elsewhere)[ELSEWHERE_LINE]; /* address / 16 and, in the low 16 bits, pool */

LWP_HOT uint16_t *lwp_shadow_begin;
LWP_HOT uint64_t *lwp_shadow_any;
LWP_HOT bool lwp_shadow_one_a_granule;

bool lwp_shadow_init(bool one_a_granule)
{
    lwp_shadow_one_a_granule = one_a_granule;
    if (!lwp_shadow_tables)
        lwp_shadow_tables = lwp_own_memory(LWP_SHADOW_TABLE * sizeof *lwp_shadow_tables);
    if (!shadow_elsewhere)
        shadow_elsewhere = lwp_own_memory(sizeof *shadow_elsewhere << ELSEWHERE_BITS);
    if (!lwp_shadow_begin && (lwp_shadow_begin = lwp_own_memory(LWP_SHADOW_PAGES * sizeof *lwp_shadow_begin + LWP_SHADOW_PAGES / 8)))
        lwp_shadow_any = (uint64_t *)(void *)(lwp_shadow_begin + LWP_SHADOW_PAGES);
    return lwp_shadow_tables && shadow_elsewhere && lwp_shadow_begin;
}

/* Puts freshly mapped memory into *place unless another thread was first. */
static void *shadow_install(void *place, void *fresh, size_t bytes)
{
    void *found = NULL;
    if (!fresh)
        return NULL;
    if (__atomic_compare_exchange_n((void **)place, &found, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    syscall(SYS_munmap, fresh, bytes);
    return found;
}

struct lwp_shadow_region *lwp_shadow_region_new(uint64_t address)
{
    if (address >> 47)
        return NULL;
    struct lwp_shadow_region ***slot =
        &lwp_shadow_tables[address >> (LWP_SHADOW_REGION_BITS + LWP_SHADOW_TABLE_BITS) & (LWP_SHADOW_TABLE - 1)];
    struct lwp_shadow_region **table =
        *slot ? *slot : shadow_install(slot, lwp_own_memory(LWP_SHADOW_TABLE * sizeof *table), LWP_SHADOW_TABLE * sizeof *table);
    if (!table)
        return NULL;
    struct lwp_shadow_region **region = &table[address >> LWP_SHADOW_REGION_BITS & (LWP_SHADOW_TABLE - 1)];
    return *region ? *region : shadow_install(region, lwp_own_memory_at_once(sizeof **region), sizeof **region);
}

static uint32_t *shadow_pools(struct lwp_shadow_region *region, uint64_t address)
{
    return region->pools[address >> 16 & (LWP_SHADOW_DICTIONARIES - 1)];
}

/* A few places near the pool's hash, so that a full dictionary is noticed quickly. 0: full. */
static uint8_t shadow_index(uint32_t *pools, uint32_t pool)
{
    for (unsigned probe = 0; probe < DICTIONARY_PROBES; probe++) {
        unsigned i = ((pool * 0x9e3779b1u >> 26) + probe) % LWP_SHADOW_LOCAL + 1;
        uint32_t found = __atomic_load_n(&pools[i], __ATOMIC_RELAXED);
        if (!found && __atomic_compare_exchange_n(&pools[i], &found, pool, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            found = pool;
        if (found == pool)
            return (uint8_t)(i + LWP_SHADOW_HOT);
    }
    return 0;
}

_Static_assert(LWP_SHADOW_HOT + LWP_SHADOW_LOCAL < LWP_SHADOW_ELSEWHERE, "an index of its own for each");

/* Neighbours in memory are neighbours here, so that few pages of the table are touched. */
static uint64_t *shadow_line(uint64_t address)
{
    const uint64_t part = address / (ELSEWHERE_LINE * LWP_SHADOW_GRANULE);
    return shadow_elsewhere[(part ^ part >> ELSEWHERE_BITS) & ((1 << ELSEWHERE_BITS) - 1)];
}

/* Its place among the blocks of its line, NULL: it is not there. */
static uint64_t *shadow_elsewhere_find(uint64_t address)
{
    uint64_t *line = shadow_line(address);
    for (unsigned i = 0; i < ELSEWHERE_LINE; i++)
        if (__atomic_load_n(&line[i], __ATOMIC_RELAXED) >> 16 == address / 16)
            return &line[i];
    return NULL;
}

/* One that was not taken out (its granule was another block's meanwhile) is replaced. */
static bool shadow_elsewhere_put(uint64_t address, uint32_t pool)
{
    uint64_t *line = shadow_line(address), *known = shadow_elsewhere_find(address), entry = address / 16 << 16 | pool;
    if (known)
        __atomic_store_n(known, entry, __ATOMIC_RELAXED);
    for (unsigned i = 0; !known && i < ELSEWHERE_LINE; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&line[i], &none, entry, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            known = &line[i];
    }
    return known;
}

static uint32_t shadow_pool(uint64_t address, uint8_t index)
{
    if (index <= LWP_SHADOW_HOT)
        return lwp_shadow_hot[index];
    if (index != LWP_SHADOW_ELSEWHERE)
        return shadow_pools(lwp_shadow_region(address), address)[index - LWP_SHADOW_HOT];
    const uint64_t *known = shadow_elsewhere_find(address);
    return known ? (uint16_t)__atomic_load_n(known, __ATOMIC_RELAXED) : 0;
}

void lwp_shadow_set_local(uint64_t address, uint32_t pool)
{
    struct lwp_shadow_region *region = lwp_shadow_region(address);
    if (address % 16 || (!region && !(region = lwp_shadow_region_new(address))))
        return;
    uint8_t index = shadow_index(shadow_pools(region, address), pool);
    if (!index && shadow_elsewhere_put(address, pool))
        index = LWP_SHADOW_ELSEWHERE;
    lwp_shadow_set(address, index);
}

uint32_t lwp_shadow_forget(uint64_t address, uint8_t index)
{
    uint32_t pool = shadow_pool(address, index);
    uint64_t *known = index == LWP_SHADOW_ELSEWHERE ? shadow_elsewhere_find(address) : NULL;
    if (known)
        __atomic_store_n(known, 0, __ATOMIC_RELAXED);
    return pool;
}

bool lwp_shadow_find(uint64_t address, uint32_t *pool, uint64_t *start)
{
    if (!lwp_shadow_tables || address >> 47)
        return false;
    uint64_t lowest = address > LWP_SHADOW_BLOCK_MAX ? address - LWP_SHADOW_BLOCK_MAX : LWP_SHADOW_GRANULE;
    uint64_t region_of = UINT64_MAX;
    struct lwp_shadow_region *region = NULL;
    for (uint64_t at = address & ~(uint64_t)(LWP_SHADOW_GRANULE - 1); at >= lowest; at -= LWP_SHADOW_GRANULE) {
        if (at >> LWP_SHADOW_REGION_BITS != region_of) {
            region_of = at >> LWP_SHADOW_REGION_BITS;
            region = lwp_shadow_region(at);
            if (!region)
                return false;
        }
        uint8_t byte = *lwp_shadow_byte(region, at);
        if (!byte) { /* step over eight empty granules at once; the last of them is left to the loop */
            if (at / LWP_SHADOW_GRANULE % 8 == 7 && at >= lowest + 8 * LWP_SHADOW_GRANULE &&
                *(const uint64_t *)(const void *)(lwp_shadow_byte(region, at) - 7) == 0)
                at -= 7 * LWP_SHADOW_GRANULE;
            continue;
        }
        uint64_t begin = at + ((byte & LWP_SHADOW_MIDDLE) >> 3);
        if (begin > address)
            continue;
        byte &= LWP_SHADOW_MIDDLE - 1;
        if (byte == LWP_SHADOW_LARGE)
            return false; /* looked up by address in the analysis */
        *pool = shadow_pool(begin, byte);
        *start = begin;
        return *pool != 0;
    }
    return false;
}
