/* Registers that a loop keeps on the stack. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_LOOP_SPILLS_H
#define LWP_ANALYSIS_PROGRAM_FLOW_LOOP_SPILLS_H

#include "analysis/program/flow/code_loops.h"

/* How many of the loop's stores, without those of loops inside it, only put a value that it never changes where a call leaves it as it is. */
uint32_t code_loop_spills(const struct code_module *module, const struct flow_function *function, uint32_t loop);

#endif
