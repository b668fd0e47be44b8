/* Start and end of heap recording, for start.c and threads.c. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_HEAP_RECORDING_H
#define LWP_COLLECTOR_LIGHT_HEAP_HEAP_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

bool lwp_heap_start(void);
uint64_t lwp_heap_finish(void); /* writes the pools' counts; returns all allocations seen. With the process lock held */
void lwp_heap_after_fork(void); /* in the child, before its threads start */
void lwp_heap_again(void);      /* child of a fork: pools and live blocks into the new file */

#endif
