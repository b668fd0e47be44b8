/* Split debug info: the part of a compile unit that is in a .dwo file. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_DWO_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_DWO_H

#include "analysis/program/debug/dwo_package.h"

/* The unit behind the skeleton that the program holds; false: not found, and counted in the module's info.
 * `package` may be NULL. */
bool code_dwo_open(struct code_module *module, struct code_package *package, Dwarf_Die *skeleton, Dwarf_Die *unit);

/* Is the skeleton's .dwo file one that libdw reads in part only? `folder` is where the program is. */
bool code_dwo_scattered(Dwarf_Die *skeleton, const char *folder);

#endif
