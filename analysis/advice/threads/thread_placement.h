/* Which threads should run side by side: groups of those that communicate most, as large as the sets of processors that
 * share a cache. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_THREAD_PLACEMENT_H
#define LWP_ANALYSIS_ADVICE_THREADS_THREAD_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

/* group[i] becomes the group of thread i; groups have at most `size` threads each. `first`: row: writer. Greedy: the
 * group that is being made takes the thread that communicates most with it. */
void lwp_thread_placement_group(const uint64_t *first, size_t threads, size_t size, size_t *group);

/* Part of all communication that stays within groups. */
double lwp_thread_placement_within(const uint64_t *first, size_t threads, const size_t *group);

#endif
