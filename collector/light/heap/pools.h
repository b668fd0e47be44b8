/* The pools of this process (collector/record/pool.h); counts are added to by all threads, now and then. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_POOLS_H
#define LWP_COLLECTOR_LIGHT_HEAP_POOLS_H

#include "collector/record/pool.h"

#include <stdbool.h>
#include <stdint.h>

extern struct lwp_pool *lwp_pools; /* ids 1 .. lwp_pool_count */
extern uint32_t lwp_pool_count;

bool lwp_pools_init(bool glibc); /* its own allocator is used: how its chunks lie is known */

/* The pool of blocks of `size` bytes from this context. With the process lock held. 0: tables are full. */
uint32_t lwp_pool_intern(uint32_t context, uint64_t size);

/* What a thread counted of a pool. */
struct lwp_pool_counts {
    uint64_t allocations, frees; /* of blocks that are recorded */
    uint64_t left_out;           /* allocations for which these stand too, on average */
    uint64_t bytes;              /* of both */
};

/* Adds them; gives busy pools an index of their own. */
void lwp_pool_count_in(uint32_t pool, const struct lwp_pool_counts *counts);

/* Of all blocks that were counted in the part that is still there; 1: there were none. */
double lwp_pools_kept(void);

/* Of all blocks, as far as the recorded ones say. Returns how many of these there were. */
uint64_t lwp_pools_write_counts(void);
void lwp_pools_again(void);            /* into the new file of a fork's child */

#endif
