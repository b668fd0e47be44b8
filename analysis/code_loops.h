/* Loops of the machine code, numbered across all modules; behind analysis/code.h. */
#ifndef LWP_ANALYSIS_CODE_LOOPS_H
#define LWP_ANALYSIS_CODE_LOOPS_H

#include "analysis/code_internal.h"

/* The innermost loop that holds the address, or LWP_NONE. The function is decoded when first asked about. */
uint32_t code_loop_at(struct code_module *module, struct code_range function, uint64_t address);

void code_flow_free(struct code_flow *flow);

#endif
