#include "collector/exact/program/pools.h"

#include "collector/exact/program/process.h"
#include "collector/exact/valgrind/tool.h"

enum { POOLS_FIRST = 1024, CONTEXTS_HASHED = 1 << 12, SIZES_EACH = 48 /* distinct sizes of a call path, then: various */ };

struct exact_pool {
    uint32_t context;
    uint64_t size; /* 0: various */
    uint64_t allocations, frees, peak, bytes;
};

static struct exact_pool *pools; /* 1, 2, ... */
static uint32_t *slots;    /* twice as many */
static uint32_t pools_room, pools_count;
static uint8_t sizes_seen[CONTEXTS_HASHED]; /* a collision only makes sizes various earlier */

static uint32_t *pools_slot(uint32_t context, uint64_t size)
{
    uint64_t hash = (context * 0x9e3779b97f4a7c15u ^ size << 20) * 0xd6e8feb86659fd93u;
    uint32_t mask = 2 * pools_room - 1, at = (uint32_t)(hash >> 40) & mask;
    while (slots[at] && (pools[slots[at]].context != context || pools[slots[at]].size != size))
        at = (at + 1) & mask;
    return &slots[at];
}

static void pools_grow(void)
{
    pools_room = pools_room ? 2 * pools_room : POOLS_FIRST;
    pools = VG_(realloc)("lwp.pools", pools, pools_room * sizeof *pools);
    VG_(free)(slots);
    slots = VG_(calloc)("lwp.pools", 2 * pools_room, sizeof *slots);
    for (uint32_t id = 1; id <= pools_count; id++)
        *pools_slot(pools[id].context, pools[id].size) = id;
}

uint32_t lwp_pool_of(uint32_t context, uint64_t size)
{
    if (pools_count + 1 >= pools_room)
        pools_grow();
    uint32_t *slot = pools_slot(context, size);
    if (*slot)
        return *slot;
    uint8_t *seen = &sizes_seen[context & (CONTEXTS_HASHED - 1)];
    if (size && ++*seen > SIZES_EACH) {
        *seen = SIZES_EACH;
        return lwp_pool_of(context, 0);
    }
    *slot = ++pools_count;
    pools[pools_count] = (struct exact_pool){.context = context, .size = size};
    if (lwp_exact_process.active)
        lwps_put_pool(&lwp_exact_process.file, &(struct lwps_pool){.id = pools_count, .context = context, .size = size});
    return pools_count;
}

void lwp_pool_allocated(uint32_t pool, uint64_t size)
{
    uint64_t live = ++pools[pool].allocations - pools[pool].frees;
    pools[pool].bytes += size;
    if (live > pools[pool].peak)
        pools[pool].peak = live;
}

void lwp_pool_freed(uint32_t pool)
{
    pools[pool].frees++;
}

void lwp_pools_write(void)
{
    for (uint32_t id = 1; id <= pools_count; id++)
        lwps_put_pool_count(&lwp_exact_process.file,
                            &(struct lwps_pool_count){.id = id, .allocations = pools[id].allocations, .frees = pools[id].frees,
                                                      .peak_blocks = pools[id].peak, .bytes = pools[id].bytes});
}

void lwp_pools_forget(void)
{
    VG_(free)(pools);
    VG_(free)(slots);
    VG_(memset)(sizes_seen, 0, sizeof sizes_seen);
    pools = NULL;
    slots = NULL;
    pools_room = pools_count = 0;
}
