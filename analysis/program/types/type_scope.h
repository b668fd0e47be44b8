/* The variables in scope at an address; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_SCOPE_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_SCOPE_H

#include "analysis/program/debug/scopes.h"

/* Calls `visit` for each variable and parameter in scope at `pc`, innermost scope first, until it returns true. */
typedef bool code_variable_visit(Dwarf_Die *variable, Dwarf_Die *function, void *context);
bool code_variables(struct code_module *module, uint64_t pc, code_variable_visit *visit, void *context);

/* The variable in the frame that holds the offset from the CFA. */
bool code_frame_variable(struct code_module *module, uint64_t pc, int64_t offset, Dwarf_Die *variable, int64_t *start,
                         uint64_t *bytes);

#endif
