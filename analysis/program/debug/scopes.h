/* DWARF by address: the unit, the function, its inlined calls and lexical blocks, and the line table.
 * Indices stay valid as long as the code does. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_SCOPES_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_SCOPES_H

#include "analysis/program/debug/die.h"
#include "analysis/program/debug/frame.h"

/* One subprogram, inlined call or lexical block. */
struct code_scope {
    Dwarf_Die die;
    uint32_t parent;    /* enclosing scope; of scope 0, the function itself, LWP_NONE */
    uint32_t function;  /* the scope of the innermost function or inlined call that this is in, possibly itself */
    uint32_t call_line; /* of an inlined call */
    const char *call_file;
    const char *name;     /* of a function or inlined call, demangled; set on first use */
    uint64_t origin;      /* the same number for all copies of one source function */
    Dwarf_Die *variables; /* and parameters that are declared in it; set on first use (type_variables.c) */
    uint32_t variable_count;
    bool has_variables;
};

/* A function with all its scopes, and which of them is innermost from which address on. */
struct code_scopes {
    struct code_module *module;
    struct code_scope *items; /* parents come before their children */
    uint32_t count;
    struct code_scope_start {
        uint64_t address;
        uint32_t scope; /* LWP_NONE: outside of the function */
    } * starts;
    uint32_t start_count;
    uint64_t visits; /* of variables, by type_variables.c */
    bool looked_for_lists, has_lists; /* of places where a variable is in turn; by type_variables.c */
};

/* Where the function begins; 0: not known. */
uint64_t code_scopes_entry(const struct code_scopes *scopes);

/* The function that holds the address, or NULL. */
struct code_scopes *code_scopes_at(struct code_module *module, uint64_t address);
/* Its innermost scope there; scope 0 when none is narrower. */
uint32_t code_scope_find(const struct code_scopes *scopes, uint64_t address);
const char *code_scope_name(struct code_scopes *scopes, uint32_t scope);
/* Where the function of a scope is declared; 0: not known, or in another file. */
uint32_t code_scope_declared(const struct code_scopes *scopes, uint32_t scope, const char *file);
bool code_scope_holds(const struct code_scopes *scopes, uint32_t outer, uint32_t scope); /* or is it */
/* The innermost scope that both are in. */
uint32_t code_scope_common(const struct code_scopes *scopes, uint32_t a, uint32_t b);

/* The unit's DIE (of the split unit when there is one) that holds the address. */
bool code_unit_at(struct code_module *module, uint64_t address, Dwarf_Die *unit);
/* All units, for searches by name or data address. */
bool code_unit(struct code_module *module, size_t index, Dwarf_Die *unit);

/* `row` is where the line's row of the table begins; it may be NULL. NULL and 0: unknown. */
void code_line_at(struct code_module *module, uint64_t address, const char **file, uint32_t *line, uint64_t *row);
/* The column of that row; 0: unknown. */
uint32_t code_column_at(struct code_module *module, uint64_t address);
/* The line that opens the function which starts at the address (its name or brace); 0: unknown. */
uint32_t code_line_opening(struct code_module *module, uint64_t start);

/* Hands over the rows of the line table in low..high - 1, a part of one function, that begin a statement, by address. */
typedef void code_statement(void *to, uint64_t address, const char *file, uint32_t line);
void code_statements(struct code_module *module, uint64_t low, uint64_t high, code_statement *take, void *to);

/* Frames of an address that DWARF knows, innermost first, from the arena; NULL when it knows none. */
const struct lwp_frame *code_frames(struct code_module *module, uint64_t address, uint32_t *count);

Dwarf *code_dwarf(struct code_module *module); /* NULL without debug info */

void code_scopes_free(struct code_kept *scopes);
void code_debug_free(struct code_debug *debug);

#endif
