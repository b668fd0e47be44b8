/* The variables of functions and units, and where they are: in a register, in the frame, at a fixed address; behind
 * types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_VARIABLES_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_VARIABLES_H

#include "analysis/program/debug/scopes.h"
#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_members.h"

enum code_location_kind { CODE_LOCATION_UNKNOWN, CODE_LOCATION_REGISTER, CODE_LOCATION_FRAME, CODE_LOCATION_STATIC };

struct code_location {
    enum code_location_kind kind;
    int8_t reg;     /* ModRM numbering; the variable's value is in it (plus `offset`) */
    int64_t offset; /* from the CFA when in the frame */
    uint64_t address;
};

/* DW_OP_regN or, when `based`, DW_OP_bregN: the register and what is added to it. */
bool code_register_op(const Dwarf_Op *op, bool based, int8_t *reg, int64_t *offset);

/* Whether a register that the function's parameter is said to be in is only the one that hands it over: the compiler followed no
 * variable there, as GCC does in functions that are too large, and with -fno-var-tracking. */
bool code_parameter_handed_over(struct code_scopes *scopes, uint32_t scope, Dwarf_Die *variable);

/* Where the variable's value is when `pc` executes. `function`: the physical function's DIE, for its frame base. */
struct code_location code_variable_location(struct code_module *module, Dwarf_Die *variable, Dwarf_Die *function, uint64_t pc);

/* CFA = register + offset at `pc`, for the register given (ModRM numbering). */
bool code_frame_offset(struct code_module *module, uint64_t pc, int8_t reg, int64_t *offset);

/* The scope with its variables and parameters listed. */
const struct code_scope *code_scope_with_variables(struct code_scopes *scopes, uint32_t scope);

/* Whether the scope's function is one of the language's library. */
bool code_scope_is_library(struct code_scopes *scopes, uint32_t scope);

/* Calls `visit` for each variable and parameter in scope at `pc`, innermost scope first, until it returns true; meanwhile
 * *scope is that of the variable visited. */
typedef bool code_variable_visit(Dwarf_Die *variable, Dwarf_Die *function, void *context);
struct code_variable_scope {
    uint32_t inlined; /* how deep inlined functions are nested around it */
    bool library;     /* of a function of the language's library: what that calls it is not what the program does */
};
bool code_variables_scoped(struct code_module *module, uint64_t pc, code_variable_visit *visit, void *context,
                           struct code_variable_scope *scope);

/* The variable in the frame that holds the offset from the CFA. */
bool code_frame_variable(struct code_module *module, uint64_t pc, int64_t offset, Dwarf_Die *variable, int64_t *start, uint64_t *bytes);

/* What the pointer points to that is `at` bytes from the CFA, in a variable of the frame. */
bool code_frame_pointer(struct code_module *module, uint64_t pc, int64_t at, struct code_pointee *pointee);

/* Whether it is a parameter to a pointer that the caller has, and has a name for. */
bool code_variable_is_of_caller(Dwarf_Die *variable);

/* What the pointer points to that is `offset` bytes into the variable, which gives it its name. */
bool code_variable_pointer(struct code_module *module, Dwarf_Die *variable, uint64_t offset, struct code_pointee *pointee);

/* What the function's result points to, as its declaration says. */
bool code_returned_pointer(struct code_scopes *function, struct code_pointee *pointee);

/* The static variable that holds the address. */
bool code_static_at(struct code_module *module, uint64_t address, struct code_static *found);

#endif
