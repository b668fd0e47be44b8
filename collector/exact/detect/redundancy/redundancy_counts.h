/* The shadow memory of the process, and what it counts as records of a file. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_COUNTS_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_COUNTS_H

#include "collector/exact/detect/redundancy/shadow_threads.h"
#include "collector/exact/program/thread.h"

extern struct lwp_shadow lwp_redundancy_shadow;
extern uint32_t lwp_redundancy_number; /* of the access under way (access_numbers.h) */

/* More than one thread has run: stores are passed to lwp_redundancy_other_threads() first. */
extern bool lwp_redundancy_threads;
extern uint32_t lwp_redundancy_thread; /* the running one, from 0 in the order they ran */
extern struct lwp_shadow_threads lwp_redundancy_storers;
void lwp_redundancy_thread_runs(struct lwp_exact_thread *thread);
/* Before a store of the running thread; `number`: of the access. */
void lwp_redundancy_other_threads(uint64_t address, unsigned bytes, uint32_t number);

/* False: no memory. */
bool lwp_redundancy_counts_start(void);
/* Writes all counts so far to t0.lwps in the process's folder, in place of what was there. */
void lwp_redundancy_counts_write(void);
/* Begins anew. */
void lwp_redundancy_counts_clear(void);

/* From inside of the region to outside, or back: other counts are kept there, and never written. */
void lwp_redundancy_counts_change(void);

#endif
