/* Does what a loop loads lead on from what it loaded an iteration before? */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_LOOP_CHAIN_H
#define LWP_ANALYSIS_PROGRAM_FLOW_LOOP_CHAIN_H

#include "analysis/program/flow/code_loops.h"

/* False only where it does not on any way through the loop's code, calls and inner loops included. */
bool code_loop_may_chain(const struct code_module *module, const struct flow_function *function, uint32_t loop);

#endif
