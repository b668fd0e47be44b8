/* Functions that change nothing but their own frame: a loop that calls only such ones does nothing but look. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_PURE_H
#define LWP_ANALYSIS_PROGRAM_FLOW_PURE_H

#include "analysis/program/binary/module.h"

/* General registers, a bit each: those that the function and what it calls may change, and those whose value it gets. Compilers make use of
 * that within a file. */
struct code_pure_registers {
    uint32_t written, read;
};

/* Whether the function at `target`, or (0) the one imported in `slot`, is known to be such a one. */
bool code_is_pure(struct code_module *module, uint64_t target, uint64_t slot, struct code_pure_registers *registers);

/* Whether the frame pointer of the function is one: made from the stack pointer, and else only restored from the stack. */
bool code_has_frame_pointer(const struct code_module *module, struct code_range range);

#endif
