/* Where debug info lies that is not in the module's own file. */
#ifndef LWP_ANALYSIS_DEBUG_FILES_H
#define LWP_ANALYSIS_DEBUG_FILES_H

#include "analysis/code_internal.h"

/* An ELF file of this machine's kind, opened; NULL, and the reason, when it is not. */
Elf *code_elf_file_open(const char *path, int *fd, enum lwp_module_file *reason);
void code_elf_file_close(Elf *elf, int fd);

bool code_elf_has_dwarf(Elf *elf);
bool code_elf_has_section(Elf *elf, const char *name);
bool code_elf_same_build(Elf *elf, const void *build_id, size_t bytes);

/* Finds the separate file for module->elf and makes it module->debug_elf. */
void code_debug_file_find(struct code_module *module);

/* The file that the DWARF of `debug_elf` shares with others (dwz), when it is not where libdw looks itself. */
Elf *code_debug_alternate_find(Dwarf *dwarf, int *fd);

#endif
