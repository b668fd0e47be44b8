/* The small symbol table that some distributions leave in stripped programs. */
#ifndef LWP_ANALYSIS_PROGRAM_BINARY_MINI_SYMBOLS_H
#define LWP_ANALYSIS_PROGRAM_BINARY_MINI_SYMBOLS_H

#include <libelf.h>

/* The ELF file packed in .gnu_debugdata, or NULL. The caller ends it, then frees *memory. */
Elf *lwp_mini_symbols_open(Elf *elf, void **memory);

#endif
