/* Direct calls of a module by what they call; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_CALLERS_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_CALLERS_H

#include "analysis/program/binary/module.h"

struct code_call {
    uint64_t target, pc;
};

/* The calls of the function that begins at `target`; kept after the module's code was read through once. */
const struct code_call *code_calls_of(struct code_module *module, uint64_t target, size_t *count);

#endif
