#include "collector/light/heap/pools.h"

#include "collector/light/heap/shadow.h"
#include "collector/light/own/hot.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"

#include <stddef.h>

enum {
    POOLS_MAX = 1 << 16,
    POOL_SLOTS_FIRST = 1 << 10, /* a page: most processes have few pools */
    VARIOUS_CHUNK = 2048, /* bytes: of larger blocks of various sizes up to 1/16 at their end is unknown */
    HOT_ALLOCATIONS = 2000, /* of a pool that deserves an index everywhere */
};

struct lwp_pool *lwp_pools;
uint32_t lwp_pool_count;
static LWP_LARGE struct lwp_pool_table pools_table;
static uint32_t pools_hot;
static bool pools_glibc;
static uint64_t pools_allocations, pools_frees; /* of all that were counted in */

bool lwp_pools_init(bool glibc)
{
    pools_glibc = glibc;
    lwp_pools = lwp_own_memory(POOLS_MAX * sizeof *lwp_pools);
    pools_table.pools = lwp_pools;
    pools_table.slots = lwp_own_memory(POOL_SLOTS_FIRST * sizeof *pools_table.slots);
    pools_table.slot_count = POOL_SLOTS_FIRST;
    return lwp_pools && pools_table.slots;
}

/* Room for one more. Under the process's lock. */
static bool pools_grow(void)
{
    enum { TIMES = 4 };
    const struct lwp_pool_table old = pools_table;
    if (lwp_pool_count < old.slot_count / 2)
        return true;
    uint32_t *slots = lwp_own_memory(old.slot_count * TIMES * sizeof *slots);
    if (!slots)
        return false;
    pools_table.slots = slots;
    pools_table.slot_count = old.slot_count * TIMES;
    for (uint32_t id = 1; id <= lwp_pool_count; id++)
        *lwp_pool_slot(&pools_table, lwp_pools[id].context, lwp_pools[id].size, lwp_pools[id].bound) = id;
    lwp_own_unmap(old.slots, old.slot_count * sizeof *slots);
    return true;
}

static uint32_t pools_add(uint32_t context, uint64_t size, uint32_t bound)
{
    uint32_t id = lwp_pool_count + 1;
    if (!pools_grow())
        return 0;
    uint32_t *slot = lwp_pool_slot(&pools_table, context, size, bound);
    if (*slot)
        return *slot;
    if (id >= POOLS_MAX)
        return 0;
    lwp_pools[id] = (struct lwp_pool){.context = context, .size = size, .bound = bound};
    if (lwp_pool_put(&lwp_process.file, id, &lwp_pools[id]))
        return 0;
    __atomic_store_n(&lwp_pool_count, id, __ATOMIC_RELEASE);
    *slot = id;
    return id;
}

/* Blocks of some sizes share a pool. Behind what glibc's chunk of that size can hold the next block begins; otherwise nothing else
 * begins within as many bytes as the smallest of them has. */
static uint32_t pool_various_bound(uint32_t size)
{
    if (pools_glibc && size <= VARIOUS_CHUNK)
        return size <= 24 ? 24 : ((size + 8 + 15) & ~15u) - 8;
    unsigned low_bits = size < 16 ? 0 : 27 - (unsigned)__builtin_clz(size);
    return size >> low_bits << low_bits;
}

uint32_t lwp_pool_intern(uint32_t context, uint64_t size)
{
    uint32_t known = *lwp_pool_slot(&pools_table, context, size, (uint32_t)size);
    if (known)
        return known;
    if (lwp_pool_size_is_distinct(&pools_table, context))
        return pools_add(context, size, (uint32_t)size);
    return pools_add(context, 0, pool_various_bound((uint32_t)size));
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

/* Much is counted in one by one, with nothing for most of the sums. */
static uint64_t pools_add_to(uint64_t *sum, uint64_t more)
{
    return more ? __atomic_add_fetch(sum, more, __ATOMIC_RELAXED) : __atomic_load_n(sum, __ATOMIC_RELAXED);
}

/* A block that is freed stands for as many as one that is still there does on average. `kept`: recorded blocks before that. */
static uint64_t pools_left_out_kept(struct lwp_pool *pool, const struct lwp_pool_counts *counts, uint64_t kept)
{
    uint64_t left_out = pools_add_to(&pool->left_out_kept, counts->left_out);
    if (!left_out || !counts->frees)
        return left_out;
    uint64_t gone = counts->frees < kept ? (uint64_t)((unsigned __int128)left_out * counts->frees / kept) : left_out;
    return __atomic_sub_fetch(&pool->left_out_kept, gone, __ATOMIC_RELAXED);
}

void lwp_pool_count_in(uint32_t id, const struct lwp_pool_counts *counts)
{
    struct lwp_pool *pool = &lwp_pools[id];
    uint64_t all = pools_add_to(&pool->allocations, counts->allocations), gone = pools_add_to(&pool->frees, counts->frees);
    pools_add_to(&pool->bytes, counts->bytes);
    pools_add_to(&pool->left_out, counts->left_out);
    uint64_t kept = all > gone ? all - gone : 0, most = kept + pools_left_out_kept(pool, counts, kept + counts->frees);
    if (most > pool->peak && most <= all + pool->left_out)
        pool->peak = most;
    if (!pool->hot && all >= HOT_ALLOCATIONS && pools_hot < LWP_SHADOW_HOT)
        pools_promote(pool, id);
    pools_add_to(&pools_allocations, counts->allocations);
    pools_add_to(&pools_frees, counts->frees);
}

double lwp_pools_kept(void)
{
    uint64_t all = __atomic_load_n(&pools_allocations, __ATOMIC_RELAXED), gone = __atomic_load_n(&pools_frees, __ATOMIC_RELAXED);
    return !all ? 1 : gone < all ? 1 - (double)gone / (double)all : 0;
}

uint64_t lwp_pools_write_counts(void)
{
    uint64_t allocations = 0;
    for (uint32_t id = 1; lwp_pools && id <= lwp_pool_count; id++) {
        struct lwp_pool all = lwp_pools[id];
        allocations += all.allocations;
        all.allocations += all.left_out;
        all.frees += all.left_out > all.left_out_kept ? all.left_out - all.left_out_kept : 0;
        lwp_pool_put_count(&lwp_process.file, id, &all);
    }
    return allocations;
}

void lwp_pools_again(void)
{
    for (uint32_t id = 1; lwp_pools && id <= lwp_pool_count; id++)
        lwp_pool_put(&lwp_process.file, id, &lwp_pools[id]);
}
