/* Valgrind reads the line tables of every image at start-up; lwp reads them itself, in the analysis. They are read of the
 * program only, for the line that a fatal signal's message names. Kept because reading all of them makes the start of a
 * small program take nearly twice as long, and that of sqlite3 a third longer. */
#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>

bool lwp_line_tables_wanted(const DebugInfo *image);

/* A program has no soname. */
bool lwp_line_tables_wanted(const DebugInfo *image)
{
    return VG_(strcmp)(VG_(DebugInfo_get_soname)(image), "NONE") == 0;
}

/* The other arguments differ between versions of Valgrind: they are passed on untouched. */
__asm__(".globl __wrap_vgModuleLocal_read_debuginfo_dwarf3\n"
        "__wrap_vgModuleLocal_read_debuginfo_dwarf3:\n"
        "  push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9; sub $8, %rsp\n"
        "  call lwp_line_tables_wanted\n"
        "  add $8, %rsp; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi\n"
        "  test %al, %al\n"
        "  jne __real_vgModuleLocal_read_debuginfo_dwarf3\n"
        "  ret\n");
