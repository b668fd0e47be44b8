/* Large allocations in huge pages where the system has them: random access to large tables otherwise spends most of its time
 * in TLB misses. Never returns NULL, like base/arena.h. */
#ifndef LWP_BASE_PAGES_H
#define LWP_BASE_PAGES_H

#include <stddef.h>

/* Zeroed, aligned to a pair of cache lines. */
void *lwp_pages_alloc(size_t bytes);
void lwp_pages_free(void *memory, size_t bytes); /* as many as were asked for; NULL is fine */

/* Room for one more of `count` items, like LWP_GROW. */
void *lwp_pages_grow(void *items, size_t count, size_t *capacity, size_t size);
#define LWP_PAGES_GROW(items, count, capacity)                                                                         \
    (*(items) = lwp_pages_grow(*(items), (count), (capacity), sizeof **(items)))

#endif
