#include "collector/exact/program/pools.h"

#include "collector/exact/program/process.h"
#include "collector/exact/valgrind/tool.h"
#include "collector/record/pool.h"

enum { POOLS_FIRST = 1024 };

static struct lwp_pool_table table; /* slots: twice as many as there is room for pools */
static uint32_t pools_room, pools_count;

static void pools_grow(void)
{
    pools_room = pools_room ? 2 * pools_room : POOLS_FIRST;
    table.slot_count = 2 * pools_room;
    table.pools = VG_(realloc)("lwp.pools", table.pools, pools_room * sizeof *table.pools);
    VG_(free)(table.slots);
    table.slots = VG_(calloc)("lwp.pools", table.slot_count, sizeof *table.slots);
    for (uint32_t id = 1; id <= pools_count; id++)
        *lwp_pool_slot(&table, table.pools[id].context, table.pools[id].size, 0) = id;
}

uint32_t lwp_pool_of(uint32_t context, uint64_t size)
{
    if (pools_count + 1 >= pools_room)
        pools_grow();
    uint32_t *slot = lwp_pool_slot(&table, context, size, 0);
    if (*slot)
        return *slot;
    if (size && !lwp_pool_size_is_distinct(&table, context))
        return lwp_pool_of(context, 0);
    *slot = ++pools_count;
    table.pools[pools_count] = (struct lwp_pool){.context = context, .size = size};
    if (lwp_exact_process.active)
        lwp_pool_put(&lwp_exact_process.file, pools_count, &table.pools[pools_count]);
    return pools_count;
}

void lwp_pool_allocated(uint32_t id, uint64_t size)
{
    struct lwp_pool *pool = &table.pools[id];
    uint64_t live = ++pool->allocations - pool->frees;
    pool->bytes += size;
    if (live > pool->peak)
        pool->peak = live;
}

void lwp_pool_freed(uint32_t id)
{
    table.pools[id].frees++;
}

void lwp_pools_write(void)
{
    for (uint32_t id = 1; id <= pools_count; id++)
        lwp_pool_put_count(&lwp_exact_process.file, id, &table.pools[id]);
}

void lwp_pools_forget(void)
{
    VG_(free)(table.pools);
    VG_(free)(table.slots);
    VG_(memset)(&table, 0, sizeof table);
    pools_room = pools_count = 0;
}
