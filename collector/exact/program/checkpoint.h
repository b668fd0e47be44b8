/* What is only known at the end (counts of pairs, of allocations, totals) is written before, too, so that a program that
 * is killed, or for which memory runs out, has lost only what came since. Files of counts are written anew beside the last
 * ones and take their place; the few counts in process.lwps are added at times each twice as late as the one before.
 * How often depends on the clock, what is written at the end does not. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_CHECKPOINT_H
#define LWP_COLLECTOR_EXACT_PROGRAM_CHECKPOINT_H

#include <stdint.h>

/* Called now and then: writes if the last time took less than half a percent of what has passed since. */
void lwp_checkpoint(void);
/* Called before a system call: at one that waits, which may be for ever, five percent will do. */
void lwp_checkpoint_before_call(uint32_t number);

#endif
