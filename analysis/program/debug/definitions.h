/* Where a class is defined that a unit only declares. Compilers leave out the definition of a class with virtual functions in all units but
 * the one with its table of them, and clang that of others in all but those with a constructor (-femit-class-debug-always and
 * -fstandalone-debug have them everywhere). */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_DEFINITIONS_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_DEFINITIONS_H

#include "analysis/program/debug/die.h"

/* Of a struct or class of the same file; false: the DIE is no declaration, or no other unit defines it, or they do so differently. */
bool code_definition_of(Dwarf_Die *declared, Dwarf_Die *definition);

/* Before dwarf_end. */
void code_definitions_forget(Dwarf *dwarf);

#endif
