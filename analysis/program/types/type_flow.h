/* What the registers of a function point to, everywhere in it; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_FLOW_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_FLOW_H

#include "analysis/program/types/type_members.h"

/* Where a memory operand leads: `offset` bytes from where a `pointee` begins, up to multiples of `modulus`. */
struct code_target {
    struct code_pointee pointee;
    int64_t offset;
    uint64_t modulus;
};

/* Of the instruction at `pc`; false: unknown. */
bool code_flow_target(struct code_module *module, uint64_t pc, struct code_target *target);

/* What it keeps in the types of a module; before code_types_free. NULL: nothing. */
void code_flow_answers_free(struct code_types *types);

#endif
