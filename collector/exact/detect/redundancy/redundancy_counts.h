/* The shadow memory of the process, and what it counts as records of a file. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_COUNTS_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_COUNTS_H

#include "collector/exact/detect/redundancy/shadow.h"

extern struct lwp_shadow lwp_redundancy_shadow;
extern uint32_t lwp_redundancy_number; /* of the access under way (access_numbers.h) */

/* False: no memory. */
bool lwp_redundancy_counts_start(void);
/* Writes all counts so far to t0.lwps in the process's folder, in place of what was there. */
void lwp_redundancy_counts_write(void);
/* Begins anew. */
void lwp_redundancy_counts_clear(void);

/* From inside of the region to outside, or back: other counts are kept there, and never written. */
void lwp_redundancy_counts_change(void);

#endif
