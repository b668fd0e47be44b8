/* A parallel loop over independent items. */
#ifndef LWP_BASE_PARALLEL_H
#define LWP_BASE_PARALLEL_H

#include <stddef.h>

/* Cores this process may use, at least 1. */
unsigned lwp_parallel_cores(void);

/* Calls work(of, first, last) for all of [0, count) in chunks of `step`, on at most `jobs` threads (0: one for each core). */
void lwp_parallel(unsigned jobs, size_t count, size_t step, void (*work)(void *of, size_t first, size_t last), void *of);

#endif
