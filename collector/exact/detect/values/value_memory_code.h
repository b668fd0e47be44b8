/* Machine code of steps that access memory: whole aligned words in place, everything else by a call, which is also the way
 * out where what is in place does not do. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_MEMORY_CODE_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_MEMORY_CODE_H

#include "collector/exact/detect/values/value_steps.h"

void lwp_emit_load(const struct lwp_value_step *step);
void lwp_emit_store(const struct lwp_value_step *step);
void lwp_emit_forget(const struct lwp_value_step *step);

/* The ways out of all that were made for the superblock, behind its code. */
void lwp_emit_ways(void);

/* The leaf of the number in rdx to rdx. */
void lwp_emit_leaf(void);

#endif
