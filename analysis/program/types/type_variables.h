/* Where variables are: in a register, in the frame, at a fixed address; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_VARIABLES_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_VARIABLES_H

#include "analysis/program/debug/scopes.h"

enum code_location_kind { CODE_LOCATION_UNKNOWN, CODE_LOCATION_REGISTER, CODE_LOCATION_FRAME, CODE_LOCATION_STATIC };

struct code_location {
    enum code_location_kind kind;
    int8_t reg;     /* ModRM numbering; the variable's value is in it (plus `offset`) */
    int64_t offset; /* from the CFA when in the frame */
    uint64_t address;
};

/* DW_OP_regN or, when `based`, DW_OP_bregN: the register and what is added to it. */
bool code_register_op(const Dwarf_Op *op, bool based, int8_t *reg, int64_t *offset);

/* Where the variable's value is when `pc` executes. `function`: the physical function's DIE, for its frame base. */
struct code_location code_variable_location(struct code_module *module, Dwarf_Die *variable, Dwarf_Die *function,
                                            uint64_t pc);

/* CFA = register + offset at `pc`, for the register given (ModRM numbering). */
bool code_frame_offset(struct code_module *module, uint64_t pc, int8_t reg, int64_t *offset);

#endif
