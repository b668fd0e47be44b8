/* Which variable's value, or which member's, a register holds: the exact answers; behind types.h. */
#ifndef LWP_ANALYSIS_TYPE_VALUES_H
#define LWP_ANALYSIS_TYPE_VALUES_H

#include "analysis/scopes.h"

struct code_value {
    Dwarf_Die type;   /* of the variable or member */
    const char *name; /* "p", "graph->nodes" */
};

/* What the register holds before the instruction at `pc` runs. */
bool code_value_in(struct code_module *module, uint64_t pc, int8_t reg, struct code_value *value);

/* Where the result of the call that returns to `pc` goes. */
bool code_value_of_result(struct code_module *module, uint64_t pc, struct code_value *value);

/* Calls `visit` for each variable and parameter in scope at `pc`, innermost scope first, until it returns true. */
typedef bool code_variable_visit(Dwarf_Die *variable, Dwarf_Die *function, void *context);
bool code_variables(struct code_module *module, uint64_t pc, code_variable_visit *visit, void *context);

/* The variable in the frame that holds the offset from the CFA. */
bool code_frame_variable(struct code_module *module, uint64_t pc, int64_t offset, Dwarf_Die *variable, int64_t *start,
                         uint64_t *bytes);

#endif
