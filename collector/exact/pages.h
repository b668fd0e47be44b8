/* Zeroed pages from Valgrind, for tables: not the program's memory. */
#ifndef LWP_EXACT_PAGES_H
#define LWP_EXACT_PAGES_H

#include <stddef.h>

void *lwp_pages_map(size_t bytes); /* NULL: none left */
void lwp_pages_unmap(void *memory, size_t bytes);

#endif
