/* The shadow memory of the process, and what it counts as records of a file. */
#ifndef LWP_EXACT_REDUNDANCY_COUNTS_H
#define LWP_EXACT_REDUNDANCY_COUNTS_H

#include "collector/exact/shadow.h"

extern struct lwp_shadow lwp_redundancy_shadow;
extern uint32_t lwp_redundancy_number; /* of the access under way (access_numbers.h) */

/* False: no memory. */
bool lwp_redundancy_counts_start(void);
/* Writes all counts to a file t0*.lwps of the process's folder, and begins anew. */
void lwp_redundancy_counts_write(void);
/* In the child of a fork: begins anew without writing. */
void lwp_redundancy_counts_drop(void);

#endif
