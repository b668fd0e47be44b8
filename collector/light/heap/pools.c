#define _GNU_SOURCE
#include "collector/light/heap/pools.h"

#include "collector/light/heap/shadow.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"

#include <stddef.h>

enum {
    POOLS_MAX = 1 << 16,
    POOL_SLOTS = 1 << 17,
    SIZES_EACH = 48,       /* distinct sizes of one call path before they are recorded as various */
    VARIOUS_MOST = 2048,   /* bytes: larger blocks of various sizes stay unknown */
    HOT_ALLOCATIONS = 2000, /* of a pool that deserves an index everywhere */
};

struct lwp_pool *lwp_pools;
uint32_t lwp_pool_count;
static uint32_t *pools_slots;
static uint32_t pools_hot;
static bool pools_glibc;

bool lwp_pools_init(bool glibc)
{
    pools_glibc = glibc;
    lwp_pools = lwp_own_memory(POOLS_MAX * sizeof *lwp_pools);
    pools_slots = lwp_own_memory(POOL_SLOTS * sizeof *pools_slots);
    return lwp_pools && pools_slots;
}

static uint32_t pools_slot(uint32_t context, uint64_t size, uint32_t bound)
{
    uint64_t hash = (context * 0x9e3779b97f4a7c15u ^ size << 20 ^ bound) * 0xd6e8feb86659fd93u;
    uint32_t at = (uint32_t)(hash >> 40) & (POOL_SLOTS - 1);
    for (; pools_slots[at]; at = (at + 1) & (POOL_SLOTS - 1)) {
        const struct lwp_pool *pool = &lwp_pools[pools_slots[at]];
        if (pool->context == context && pool->size == size && pool->bound == bound)
            break;
    }
    return at;
}

static uint32_t pools_add(uint32_t context, uint64_t size, uint32_t bound)
{
    uint32_t at = pools_slot(context, size, bound), id = lwp_pool_count + 1;
    if (pools_slots[at])
        return pools_slots[at];
    if (id >= POOLS_MAX ||
        lwps_put_pool(&lwp_process.file, &(struct lwps_pool){.id = id, .context = context, .size = size}))
        return 0;
    lwp_pools[id].context = context;
    lwp_pools[id].size = size;
    lwp_pools[id].bound = bound;
    __atomic_store_n(&lwp_pool_count, id, __ATOMIC_RELEASE);
    pools_slots[at] = id;
    return id;
}

uint32_t lwp_pool_intern(uint32_t context, uint64_t size)
{
    static uint8_t sizes[1 << 12]; /* distinct sizes by context, hashed: a collision only makes sizes various earlier */
    uint32_t at = pools_slot(context, size, (uint32_t)size);
    if (pools_slots[at])
        return pools_slots[at];
    uint8_t *seen = &sizes[context & (sizeof sizes - 1)];
    if (*seen < SIZES_EACH) {
        ++*seen;
        return pools_add(context, size, (uint32_t)size);
    }
    /* What glibc's chunk of that size can hold: the next block begins behind it. Of others that is not known. */
    uint32_t usable = size <= 24 ? 24 : (((uint32_t)size + 8 + 15) & ~15u) - 8;
    return pools_glibc && size <= VARIOUS_MOST ? pools_add(context, 0, usable) : 0;
}

static void pools_promote(struct lwp_pool *pool, uint32_t id)
{
    uint32_t index = __atomic_add_fetch(&pools_hot, 1, __ATOMIC_RELAXED);
    uint8_t none = 0;
    if (index > LWP_SHADOW_HOT) {
        pools_hot = LWP_SHADOW_HOT;
        return;
    }
    __atomic_store_n(&lwp_shadow_hot[index], id, __ATOMIC_RELEASE);
    if (!__atomic_compare_exchange_n(&pool->hot, &none, (uint8_t)index, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return; /* another thread was first: the index is a small loss */
}

void lwp_pool_count_in(uint32_t id, uint64_t allocations, uint64_t frees, uint64_t bytes)
{
    struct lwp_pool *pool = &lwp_pools[id];
    uint64_t all = __atomic_add_fetch(&pool->allocations, allocations, __ATOMIC_RELAXED);
    uint64_t gone = __atomic_add_fetch(&pool->frees, frees, __ATOMIC_RELAXED);
    __atomic_add_fetch(&pool->bytes, bytes, __ATOMIC_RELAXED);
    if (all > gone && all - gone > pool->peak)
        pool->peak = all - gone;
    if (!pool->hot && all >= HOT_ALLOCATIONS && pools_hot < LWP_SHADOW_HOT)
        pools_promote(pool, id);
}

uint64_t lwp_pools_write_counts(void)
{
    uint64_t allocations = 0;
    for (uint32_t id = 1; lwp_pools && id <= lwp_pool_count; id++) {
        const struct lwp_pool *pool = &lwp_pools[id];
        allocations += pool->allocations;
        lwps_put_pool_count(&lwp_process.file,
                            &(struct lwps_pool_count){.id = id, .allocations = pool->allocations, .frees = pool->frees,
                                                      .peak_blocks = pool->peak, .bytes = pool->bytes});
    }
    return allocations;
}

void lwp_pools_again(void)
{
    for (uint32_t id = 1; lwp_pools && id <= lwp_pool_count; id++)
        lwps_put_pool(&lwp_process.file,
                      &(struct lwps_pool){.id = id, .context = lwp_pools[id].context, .size = lwp_pools[id].size});
}
