/* Which registers hold pointer variables, over which addresses of a function; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_SEEDS_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_SEEDS_H

#include "analysis/program/debug/scopes.h"
#include "analysis/program/types/type_members.h"

struct code_seed {
    uint64_t low, high;
    uint32_t scope; /* where the variable is known */
    bool scoped;    /* only where that scope is: the location itself has no bounds */
    int8_t reg;
    int64_t offset; /* the register is the pointer plus this */
    struct code_pointee pointee;
};

struct code_seeds {
    struct code_seed *items; /* by low */
    size_t count, capacity;
};

/* The caller frees `items`. */
void code_seeds_of(struct code_scopes *scopes, struct code_seeds *seeds);

#endif
