#include "collector/record/pool.h"

enum { SIZES_MOST = 48 /* of one context, then: various */ };

uint32_t *lwp_pool_slot(const struct lwp_pool_table *table, uint32_t context, uint64_t size, uint32_t bound)
{
    uint64_t hash = (context * 0x9e3779b97f4a7c15u ^ size << 20 ^ bound) * 0xd6e8feb86659fd93u;
    uint32_t mask = table->slot_count - 1, at = (uint32_t)(hash >> 40) & mask;
    for (; table->slots[at]; at = (at + 1) & mask) {
        const struct lwp_pool *pool = &table->pools[table->slots[at]];
        if (pool->context == context && pool->size == size && pool->bound == bound)
            break;
    }
    return &table->slots[at];
}

bool lwp_pool_size_is_distinct(struct lwp_pool_table *table, uint32_t context)
{
    uint8_t *sizes = &table->sizes[context & (sizeof table->sizes - 1)];
    if (*sizes == SIZES_MOST)
        return false;
    ++*sizes;
    return true;
}

int lwp_pool_put(struct lwps_writer *file, uint32_t id, const struct lwp_pool *pool)
{
    return lwps_put_pool(file, &(struct lwps_pool){.id = id, .context = pool->context, .size = pool->size});
}

void lwp_pool_put_count(struct lwps_writer *file, uint32_t id, const struct lwp_pool *pool)
{
    lwps_put_pool_count(file, &(struct lwps_pool_count){.id = id, .allocations = pool->allocations, .frees = pool->frees,
                                                        .peak_blocks = pool->peak, .bytes = pool->bytes});
}
