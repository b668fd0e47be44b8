/* Instructions as text, in Intel's syntax. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_DISASSEMBLY_H
#define LWP_ANALYSIS_PROGRAM_FLOW_DISASSEMBLY_H

#include "analysis/program/binary/modules.h"

/* Writes the instruction at the ELF address, unless `text` is NULL, and returns its length in bytes; 0: the module's file has none there.
 */
unsigned lwp_code_disassemble(struct lwp_code *code, uint32_t module, uint64_t address, char *text, size_t room);

#endif
