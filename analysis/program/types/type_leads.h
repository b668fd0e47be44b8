/* Which structs a type leads to: through pointers, arrays and members; behind types.h. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_LEADS_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_LEADS_H

#include "analysis/program/types/type_cache.h"

struct code_lead {
    const struct lwp_type *type; /* of the struct led to */
    Dwarf_Die die;               /* its DIE, stripped */
    const char *path;            /* "" for a variable itself, "edges" or "list.first" for members */
    const char *joint;           /* between this and a member: "->", "." or "[]." */
};

struct code_leads {
    struct code_lead *items;
    size_t count, capacity;
};

/* What a variable of the type leads to at once: what it points to, holds, or is. The caller frees `items`. */
void code_leads_of_type(struct code_module *module, Dwarf_Die type, struct code_leads *leads);

/* What the pointers and arrays among a struct's members lead to; kept, so it costs once. */
const struct code_leads *code_leads_of_struct(struct code_module *module, Dwarf_Die *type);

/* The variables of the unit outside of functions that lead anywhere; kept. The paths begin with the variable's name. */
const struct code_leads *code_leads_of_unit(struct code_module *module, Dwarf_Die *unit);

#endif
