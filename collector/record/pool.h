/* Pools: the small blocks of one call path and size (struct lwps_pool), which have no record of their own. Freestanding:
 * usable in a signal handler and under Valgrind; the tables are the caller's. */
#ifndef LWP_COLLECTOR_RECORD_POOL_H
#define LWP_COLLECTOR_RECORD_POOL_H

#include "format/record.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_pool {
    uint64_t size;    /* as recorded; 0: various */
    uint32_t context;
    uint32_t bound;   /* the light engine's: every block of it ends within so many bytes, and nothing else begins there */
    uint64_t allocations, frees, peak, bytes;
    uint64_t left_out, left_out_kept; /* the light engine's: estimates of what it did not record, and of what of it is still there */
    uint8_t hot;      /* the light engine's: its index in the shadow everywhere, 0: none */
};

/* Pools by context, size and bound. */
struct lwp_pool_table {
    struct lwp_pool *pools; /* from id 1 on */
    uint32_t *slots;        /* ids, 0: free; a power of two of them, never full */
    uint32_t slot_count;
    uint8_t sizes[1 << 12]; /* distinct sizes by context, hashed: a collision only makes sizes various earlier */
};

/* The pool's slot, or the free one where its id is to go. */
uint32_t *lwp_pool_slot(const struct lwp_pool_table *table, uint32_t context, uint64_t size, uint32_t bound);

/* Whether one more size of the context gets a pool of its own; the others are recorded as various. */
bool lwp_pool_size_is_distinct(struct lwp_pool_table *table, uint32_t context);

int lwp_pool_put(struct lwps_writer *file, uint32_t id, const struct lwp_pool *pool);
void lwp_pool_put_count(struct lwps_writer *file, uint32_t id, const struct lwp_pool *pool);

#endif
