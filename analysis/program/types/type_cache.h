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
    struct lwp_map *by_die;      /* type DIE and typedef DIE -> index in the code's types, or TYPES_UNKNOWN */
    struct lwp_map *alias_units; /* units whose typedefs are in alias_of already */
    struct lwp_map *alias_of;    /* struct without a name -> index in aliases, its typedef */
    Dwarf_Die *aliases;
    size_t alias_count, alias_capacity;
    struct code_static *statics;
    size_t static_count;
    bool statics_read;
    struct lwp_map *leads_by_die; /* struct or unit DIE -> index in leads (type_leads.c) */
    struct code_leads **leads;
    size_t leads_count, leads_capacity;
    struct lwp_map *candidates_by_scope; /* -> index in candidates (type_candidates.c) */
    struct code_candidates {
        const struct lwp_candidate *items;
        size_t count;
    } * candidates;
    size_t candidates_count, candidates_capacity;
    struct lwp_map *flow_by_function; /* its first address -> index in flows (type_flow.c) */
    struct code_flow_answers **flows;
    size_t flow_count, flow_capacity;
    struct code_call *calls; /* by target (type_callers.c) */
    size_t call_count;
    bool calls_read;
    int flow_depth; /* callers looked into right now */
    Dwarf_CFI *cfi;
    bool cfi_read;
};

struct code_types *code_types_of(struct code_module *module);

/* The type of a DIE (cv and typedefs still on it); NULL: unknown. Arrays: see type_die_array first. */
const struct lwp_type *code_type(struct code_module *module, Dwarf_Die type);

/* Fills in the type's kind, fields, parts and is_class from the struct's, union's or class's DIE; bytes and language are known.
 * False: the debug info contradicts itself. */
bool code_type_fields(struct lwp_code *code, struct lwp_type *type, Dwarf_Die *die);

/* The DIE of the static variable that holds the address. */
bool code_static_at(struct code_module *module, uint64_t address, struct code_static *found);

void code_types_free(struct code_types *types);

#endif
