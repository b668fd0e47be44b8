/* Split debug info: the part of a compile unit that is in a .dwo file, perhaps packed with others (.dwp). */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_DWO_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_DWO_H

#include "analysis/program/binary/module.h"

/* .dwo files that libdw cannot read where they are. */
struct code_package;

/* The package (.dwp) beside the module's debug info, or NULL. From then on libdw looks for .dwo files in the package's
 * own folder; call it before the DWARF is opened, and code_package_ready() after. */
struct code_package *code_package_open(struct code_module *module);
/* One without contents, for .dwo files that must be joined before libdw can read them. */
struct code_package *code_package_empty(struct code_module *module);
void code_package_ready(struct code_package *package);
void code_package_close(struct code_package *package); /* NULL is fine */

/* The unit behind the skeleton that the program holds; false: not found, and counted in the module's info.
 * `package` may be NULL. */
bool code_dwo_open(struct code_module *module, struct code_package *package, Dwarf_Die *skeleton, Dwarf_Die *unit);

/* Has the skeleton's .dwo file several sections of one name, of which libdw reads one? `folder` is where the program
 * is. */
bool code_dwo_scattered(Dwarf_Die *skeleton, const char *folder);

#endif
