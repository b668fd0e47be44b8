/* The heap as the handler needs it: which small block holds an address. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_HEAP_H
#define LWP_COLLECTOR_LIGHT_HEAP_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the live small block that holds `address`. Async-signal-safe, no locks, a few hundred ns at most.
 * False: none known (a large block, a static variable, a stack, freed or foreign memory). Never a wrong block. */
bool lwp_heap_find(uint64_t address, uint32_t *pool, uint64_t *start);

#endif
