/* .dwp packages: the .dwo files of a whole program in one. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_DWO_PACKAGE_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_DWO_PACKAGE_H

#include "analysis/program/binary/module.h"

struct code_package;

/* The package beside the module's debug info, or NULL. From then on libdw looks for .dwo files in the package's own
 * folder; call it before the DWARF is opened, and code_package_ready() after. */
struct code_package *code_package_open(struct code_module *module);
/* One without contents, for .dwo files that must be changed before libdw can read them: such as is `scattered`. */
struct code_package *code_package_empty(struct code_module *module);
bool code_package_scattered(const char *dwo_path);
void code_package_ready(struct code_package *package);
void code_package_close(struct code_package *package);

const char *code_package_folder(const struct code_package *package);
const char *code_package_program_folder(const struct code_package *package); /* where the program really is */

/* Puts the unit with the id into the folder as the .dwo file `name`; false: not there, or not a name for this. */
bool code_package_unpack(struct code_package *package, uint64_t id, const char *name);
/* Puts the file there, as libdw can read it. */
bool code_package_gather(struct code_package *package, const char *dwo_path, const char *name);
void code_package_remove(struct code_package *package, const char *name);

#endif
