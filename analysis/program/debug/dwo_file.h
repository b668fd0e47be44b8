/* Puts one .dwo file together: of a unit of a package, or of a .dwo file with several sections of one name. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_DWO_FILE_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_DWO_FILE_H

#include "analysis/program/debug/dwo_units.h"

/* The unit of a row (from 1) with the type units that came with it. *data: to be freed by the caller. */
void code_dwo_file_unit(const struct code_dwo_units *units, uint32_t row, uint8_t **data, size_t *bytes);

/* The file's sections, those of one name joined; false: it has none of a .dwo file's. *data: to be freed in either
 * case. */
bool code_dwo_file_join(Elf *elf, uint8_t **data, size_t *bytes);

#endif
