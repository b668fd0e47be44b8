/* Memory of lwp's own within the program. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_OWN_MEMORY_H
#define LWP_COLLECTOR_LIGHT_OWN_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroes, touched lazily. NULL: none left. Given back by munmap. */
void *lwp_own_memory(size_t bytes);

/* The same, and all of it is going to be touched: its pages are got by one system call, where a page fault for each takes 12 us in a guest
 * of PVM. Or untouched pages of what lwp_own_memory gave are; refused: they come lazily. */
void *lwp_own_memory_at_once(size_t bytes);
void lwp_own_memory_touch(void *pages, size_t bytes);

/* At most LWP_OWN_SMALL zeroes, mostly without a system call. Given back by lwp_own_small_free. */
enum { LWP_OWN_SMALL = 64 };
void *lwp_own_small(void);
void lwp_own_small_free(void *small);

/* As mmap. imports.c has every mmap that lwp and its libraries call be this one. */
void *lwp_own_map(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);

/* As munmap, likewise. */
int lwp_own_unmap(void *memory, size_t bytes);

/* From now on nothing is unmapped: other threads may still look at it while the process ends. */
void lwp_own_memory_keep(void);

/* Debug register `which` (below LWP_OWN_STOPS) stops the calling thread at accesses to these bytes; 0 bytes: at none. A stop that lwp
 * causes itself, in a handler that blocks SIGTRAP, costs as much as a sample; and where a virtual machine loses its cause the kernel sends
 * a SIGTRAP that no mask holds back, and the program dies. */
enum { LWP_OWN_STOPS = 4 };
void lwp_own_stops_at(unsigned which, uint64_t address, unsigned bytes);
bool lwp_own_stops(uint64_t address, size_t bytes); /* whether reading there stops the calling thread */

/* Copies what can be read there, without a fault or a stop, and by calls that sandboxes let through; false: not all can. */
bool lwp_own_copy(void *to, const void *from, size_t bytes);

#endif
