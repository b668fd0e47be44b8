/* Blocks for who asks before the allocator is found, and for lwp itself: from a fixed piece of memory, never given back. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_BUMP_H
#define LWP_COLLECTOR_LIGHT_HEAP_BUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_BUMP_BYTES = 128 * 1024 };

extern char lwp_bump[LWP_BUMP_BYTES];

void *lwp_bump_alloc(size_t size); /* aligned to 16 bytes, zeros; NULL: no room is left */
bool lwp_bump_serves(size_t size); /* for lwp itself, which leaves a half for the others */

/* Copies an old block's first `size` bytes, at most as many as there can be. */
void lwp_bump_copy(void *to, const void *block, size_t size);

static inline bool lwp_bump_has(const void *block)
{
    return (uint64_t)block - (uint64_t)lwp_bump < sizeof lwp_bump;
}

#endif
