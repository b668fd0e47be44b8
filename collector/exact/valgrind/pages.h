/* Zeroed pages from Valgrind, for tables: not the program's memory. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_PAGES_H
#define LWP_COLLECTOR_EXACT_VALGRIND_PAGES_H

#include <stddef.h>

void *lwp_pages_map(size_t bytes); /* NULL: none left */
void lwp_pages_unmap(void *memory, size_t bytes);

/* Asks the kernel for pages of 2 MiB where whole ones fit. For what is accessed all over, such as hash tables, in which each
 * access misses in the TLB else. Not for memory that is filled from one end to the other: that took longer. */
void lwp_pages_large(const void *memory, size_t bytes);

#endif
