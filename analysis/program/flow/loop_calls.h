/* What a loop calls. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_LOOP_CALLS_H
#define LWP_ANALYSIS_PROGRAM_FLOW_LOOP_CALLS_H

#include "analysis/program/flow/code_loops.h"

/* Whether all that a loop calls, which itself stores nothing, is free of side effects, and gets something that stays the same each time:
 * what is looked for. */
bool code_loop_calls_compare(struct lwp_code *code, struct code_module *module, const struct flow_function *function, uint32_t loop);

#endif
