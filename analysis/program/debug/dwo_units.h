/* Packages of .dwo files (.dwp), and .dwo files put together again as libdw can read them. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_DWO_UNITS_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_DWO_UNITS_H

#include "analysis/program/binary/module.h"

/* What a package holds; NULL: not a package, or a damaged one. It refers to the file. */
struct code_dwo_units *code_dwo_units_read(Elf *elf);
void code_dwo_units_free(struct code_dwo_units *units); /* NULL is fine */

/* The .dwo file of the unit with the id, with the type units that came with it; false: not there. *data: to be freed.
 */
bool code_dwo_file_unit(const struct code_dwo_units *units, uint64_t id, uint8_t **data, size_t *bytes);

/* The .dwo file's sections, those of one name joined; false: it has none of a .dwo file's. *data: to be freed in either
 * case. */
bool code_dwo_file_join(Elf *elf, uint8_t **data, size_t *bytes);

/* Has the .dwo file several sections of one name? */
bool code_dwo_file_scattered(Elf *elf);

#endif
