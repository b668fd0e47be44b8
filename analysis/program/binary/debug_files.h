/* ELF files, opened with care, and where debug info is that is not in the module's own file. */
#ifndef LWP_ANALYSIS_PROGRAM_BINARY_DEBUG_FILES_H
#define LWP_ANALYSIS_PROGRAM_BINARY_DEBUG_FILES_H

#include "analysis/program/binary/module.h"

/* An ELF file of this machine's kind, opened; NULL, and the reason, when it is not. */
Elf *code_elf_file_open(const char *path, int *fd, enum lwp_module_file *reason);
void code_elf_file_close(Elf *elf, int fd);

/* The next section after `previous` (NULL: the first) of the type (SHT_NULL: any) or, when a name is given, of that
 * name and with contents; NULL: no more. Damaged headers are skipped, and absurdly many are not read to the end. */
Elf_Scn *code_elf_section(Elf *elf, Elf_Scn *previous, uint32_t type, const char *name, GElf_Shdr *header);

bool code_elf_has_dwarf(Elf *elf); /* and it is not made to fill the memory */
bool code_elf_unpacks_well(Elf *elf);
bool code_elf_has_section(Elf *elf, const char *name);
bool code_elf_same_build(Elf *elf, const void *build_id, size_t bytes);

/* Finds the separate file for module->elf and makes it module->debug_elf. */
void code_debug_file_find(struct code_module *module);

/* The same from the servers that DEBUGINFOD_URLS names, if it does. */
bool code_debug_download(struct code_module *module);

/* The folder of the file with the DWARF. */
void code_debug_folder(const struct code_module *module, char *folder, size_t room);

/* The package of .dwo files that may belong to the module (.dwp). */
bool code_debug_package_path(const struct code_module *module, char *path, size_t room);

/* The file that the DWARF shares with others (dwz), by the name and the build-id that it gives;
 * `folder` is where the DWARF is. */
Elf *code_debug_alternate_find(const char *folder, const char *name, const void *id, size_t id_bytes, int *fd);

#endif
