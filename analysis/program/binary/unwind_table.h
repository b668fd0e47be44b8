/* Function bounds from .eh_frame: what is left in a stripped file. */
#ifndef LWP_ANALYSIS_PROGRAM_BINARY_UNWIND_TABLE_H
#define LWP_ANALYSIS_PROGRAM_BINARY_UNWIND_TABLE_H

#include "analysis/program/binary/module.h"

/* The ranges of all frame descriptions, unsorted; the caller frees them. NULL when there are none. */
struct code_range *code_unwind_ranges(Elf *elf, size_t *count);

#endif
