/* Debug information entries of possibly damaged DWARF: steps, names, files. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_DIE_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_DIE_H

#include "analysis/program/binary/module.h"

/* The children of a DIE, one after the other; addr NULL: no more. In a damaged tree each must come after the one before
 * it, so that no loop goes round for ever. */
Dwarf_Die code_die_first(Dwarf_Die *parent);
Dwarf_Die code_die_after(Dwarf_Die *die);

/* The first child of the tag and the name. */
bool code_die_named(Dwarf_Die *parent, int tag, const char *name, Dwarf_Die *child);

/* The value of a constant attribute; false: there is none, or not of this kind. */
bool code_die_number(Dwarf_Die *die, unsigned attribute, uint64_t *value);

/* The bound of an array: of forms without a sign only -1 is below 0 (old compilers, for no elements). */
bool code_die_bound(Dwarf_Die *die, unsigned attribute, int64_t *value);

bool code_die_is_struct(Dwarf_Die *die); /* struct, class or union */
bool code_die_is_c(Dwarf_Die *die);      /* of a unit in C: struct names need the keyword */

/* "ns::Outer::Particle"; the plain name in C. NULL: it has none. From the arena. */
const char *code_die_name(struct lwp_code *code, Dwarf_Die *die);

/* The plain name of a variable or member, interned; "": it has none. */
const char *code_die_label(struct lwp_code *code, Dwarf_Die *die);

/* A path of the unit's line table, made absolute with its compilation folder, without "./" and doubled slashes. */
const char *code_file_name(struct lwp_code *code, Dwarf_Die *unit, const char *path);

/* The file that DW_AT_decl_file or DW_AT_call_file of the DIE names, or NULL. */
const char *code_die_file(struct lwp_code *code, Dwarf_Die *die, unsigned attribute);

#endif
