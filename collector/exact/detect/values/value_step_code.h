/* Machine code of a step (value_steps.h). */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_STEP_CODE_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_STEP_CODE_H

#include "collector/exact/detect/values/value_steps.h"

void lwp_emit_step(const struct lwp_value_step *step);

/* A function for steps, where the codes' memory begins: the operand in rax of the numbers of which there are two, in rax
 * (without its epoch) and rdx. */
void lwp_emit_whole(void);

#endif
