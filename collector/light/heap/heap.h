/* The heap: its recording, and which small block holds an address. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_HEAP_H
#define LWP_COLLECTOR_LIGHT_HEAP_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool lwp_heap_start(void);
bool lwp_heap_resolved(void);   /* the allocator is found, or can be: dlsym is not running */
bool lwp_heap_is_glibc(void);   /* the allocator is the C library's, behind the functions here */
void lwp_heap_add_early(void);  /* after the start: what early.h has kept */
void lwp_heap_forget_early(void); /* before the start: what was allocated is not to be known */

/* Before the start, if nothing is kept, in a process of one thread: the calls for small blocks cost the least, and are counted. Not while
 * lwp itself allocates. */
void lwp_heap_idle(void);
uint64_t lwp_heap_idle_calls(void); /* since that was last asked */
void lwp_heap_end_idle(void);

/* Writes the pools' counts; returns all allocations seen, and how many were not recorded. With the process lock held. */
uint64_t lwp_heap_finish(uint64_t *unrecorded);
void lwp_heap_after_fork(void); /* in the child, before its threads start */
void lwp_heap_again(void);      /* child of a fork: pools and live blocks into the new file */

/* Finds the live small block that holds `address`. Async-signal-safe, no locks, a few hundred ns at most.
 * False: none known (a large block, a static variable, a stack, freed or foreign memory). Never a wrong block. */
bool lwp_heap_find(uint64_t address, uint32_t *pool, uint64_t *start);

/* In a function that the program called: where it keeps the address to return to. */
#define LWP_HEAP_FRAME ((const uint64_t *)__builtin_frame_address(0) + 1)

/* Mappings from the threshold on are recorded like large blocks. `frame`: LWP_HEAP_FRAME of the function that the program called. */
void lwp_heap_note_mapping(void *block, size_t size, bool memory, const uint64_t *frame); /* `memory`: of no file */
void lwp_heap_forget_mapping(const void *block, size_t size);
bool lwp_heap_knows_mapping(const void *block, size_t size);

/* What LWP_ALLOC and LWP_FREE of lwp.h call: a block of the program's own allocator. */
void lwp_block_alloc(const void *pool, void *block, size_t size);
void lwp_block_free(const void *pool, void *block, size_t size);

#endif
