/* What the files behind analysis/program/types/types.h keep for each module, and what they ask of each other. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_CACHE_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_CACHE_H

#include "analysis/program/binary/module.h"
#include "analysis/program/types/types.h"

/* A variable at a fixed address. */
struct code_static {
    uint64_t start, bytes;
    Dwarf_Die die;
};

struct code_types {
    struct code_kept by_die; /* type DIE and typedef DIE -> struct lwp_type, NULL: unknown */
    struct code_kept
        aliases; /* DIE of a struct without a name -> DIE of its typedef; of a unit looked through -> any */
    struct code_static *statics;
    size_t static_count;
    bool statics_read;
    struct code_kept leads;      /* struct or unit DIE -> struct code_leads (type_leads.c) */
    struct code_kept candidates; /* scope -> struct code_candidates (candidates.c) */
    struct code_kept holds;      /* type, offset and a type -> whether it is there (type_members.c) */
    struct code_kept members;    /* type and offset -> struct code_pointee, NULL: no pointer is there (type_members.c) */
    struct code_kept pointers;   /* function's first address -> struct code_pointers (pointer_flow.c) */
    struct code_call *calls;     /* by target (pointer_flow.c) */
    size_t call_count;
    bool calls_read;
    struct lwp_map *wraps; /* call -> whether its function is a wrapper (candidates.c) */
    int callers_deep; /* callers looked into right now */
    Dwarf_CFI *cfi;
    bool cfi_read;
};

struct code_types *code_types_of(struct code_module *module);
void code_types_free(struct code_types *types); /* but for `pointers` */

/* The type of a DIE (cv and typedefs still on it); NULL: unknown. Arrays: see type_die_array first. */
const struct lwp_type *code_type(struct code_module *module, Dwarf_Die type);

/* The structure of the program's that a node of the C++ library keeps, and where in the node. */
struct code_payload {
    Dwarf_Die die; /* addr NULL: none */
    uint64_t at;
};

/* Fills in the type's kind, fields, parts, is_class and is_derived from the struct's, union's or class's DIE; bytes and language
 * are known. False: the debug info contradicts itself. */
bool code_type_fields(struct lwp_code *code, struct lwp_type *type, Dwarf_Die *die, struct code_payload *payload);

/* Leads (type_leads.c): which structs a type leads to, through pointers, arrays and members. */
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
