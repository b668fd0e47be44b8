/* Work on many things of which each is done for itself, side by side. */
#ifndef LWP_BASE_PARALLEL_H
#define LWP_BASE_PARALLEL_H

#include <stddef.h>

/* Cores this process may use, at least 1. */
unsigned lwp_parallel_cores(void);

/* Calls work(of, first, last) until all of [0, count) is done, with as many threads as `jobs` says (0: as there are
 * cores) and can be had; each takes `step` at a time. */
void lwp_parallel(unsigned jobs, size_t count, size_t step, void (*work)(void *of, size_t first, size_t last), void *of);

#endif
