/* Where small blocks begin: one byte for each 32 bytes of heap.
 *
 * An allocator whose smallest chunk is 32 bytes starts at most one block in each 32-byte granule, at its start or its
 * middle. The granule's byte holds 0 (none starts here) or 1..127, an index into the dictionary of its 64 KiB, with the
 * high bit for a start in the middle. Blocks are owned by one thread when they come and go, so plain byte stores do;
 * dictionaries grow by compare-and-swap; nothing here waits. A full dictionary leaves blocks unknown, never wrong. */
#ifndef LWP_LIGHT_SHADOW_H
#define LWP_LIGHT_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

enum { LWP_SHADOW_BLOCK_MAX = 64 * 1024 };

bool lwp_shadow_init(void);

/* `hint` remembers the dictionary index between calls for the same pool. */
void lwp_shadow_set(uint64_t address, uint32_t pool, uint8_t *hint);

/* Returns the pool the block was of, 0 when unknown. */
uint32_t lwp_shadow_clear(uint64_t address);

/* The nearest block that begins at or below `address`, at most LWP_SHADOW_BLOCK_MAX below. */
bool lwp_shadow_find(uint64_t address, uint32_t *pool, uint64_t *start);

#endif
