/* Debug information entries of possibly damaged DWARF: steps, names, files. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_DIE_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_DIE_H

#include "analysis/program/binary/module.h"

/* Steps through children with guards against damaged trees: each DIE must come after the one before it. */
bool code_die_child(Dwarf_Die *die, Dwarf_Die *child);
bool code_die_next(Dwarf_Die *die, Dwarf_Die *next);

bool code_die_is_struct(Dwarf_Die *die); /* struct, class or union */
bool code_die_is_c(Dwarf_Die *die);      /* of a unit in C: struct names need the keyword */

/* "ns::Outer::Particle"; the plain name in C. NULL: it has none. From the arena. */
const char *code_die_name(struct lwp_code *code, Dwarf_Die *die);

/* A path of the unit's line table, made absolute with its compilation folder, without "./" and doubled slashes. */
const char *code_file_name(struct lwp_code *code, Dwarf_Die *unit, const char *path);

/* The file that DW_AT_decl_file or DW_AT_call_file of the DIE names, or NULL. */
const char *code_die_file(struct lwp_code *code, Dwarf_Die *die, unsigned attribute);

#endif
