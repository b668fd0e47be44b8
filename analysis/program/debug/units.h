/* The compile units of a module's DWARF, found by address; behind scopes.h. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_UNITS_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_UNITS_H

#include "analysis/program/debug/scopes.h"

struct code_function {
    uint64_t low, high;
    Dwarf_Die die; /* of several entries, one for each of its ranges */
};

struct code_unit {
    Dwarf_Die line_die; /* of the skeleton when the unit is split */
    Dwarf_Die die;
    bool is_skeleton;                /* `die` is not known yet: the .dwo file was not opened */
    struct code_function *functions; /* by low; nested ones only when `functions_deep` */
    size_t function_count;
    bool functions_read, functions_deep;
};

struct code_unit *code_unit_find(struct code_module *module, uint64_t address);

#endif
