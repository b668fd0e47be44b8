/* Small blocks by call path and size (struct lwps_pool): they have no record of their own, as in the light engine. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_POOLS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_POOLS_H

#include <stdint.h>

/* The pool of blocks of `size` allocated in `context` (of process.lwps), made when there is none. */
uint32_t lwp_pool_of(uint32_t context, uint64_t size);
void lwp_pool_allocated(uint32_t id, uint64_t size);
void lwp_pool_freed(uint32_t id);
/* Counts of all pools so far. */
void lwp_pools_write(void);
/* A child of fork: its blocks' pools get new records in its file when they are used again. */
void lwp_pools_forget(void);

#endif
