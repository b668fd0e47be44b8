/* What is left out of Valgrind's core, as it costs the program's time and nothing of it is asked for (the linker's --wrap):
 * half of the start-up is debug information of the system's libraries, and a tenth of translating is checks of VEX's own
 * intermediate code. */
#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdbool.h>

/* One block in so many is checked, which still finds what is wrong with them all. */
enum { CHECKED_EACH = 16 };

void __wrap_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat, IRType guest_word);
extern void __real_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat, IRType guest_word);

void __wrap_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat, IRType guest_word)
{
    static UInt blocks;
    if (++blocks % CHECKED_EACH == 0)
        __real_sanityCheckIRSB(block, caller, flat, guest_word);
}

/* For Valgrind's stack traces, of which lwp reads but the innermost line. */
void __wrap_vgModuleLocal_read_callframe_info_dwarf3(void);

void __wrap_vgModuleLocal_read_callframe_info_dwarf3(void)
{
}

/* That line is told of programs (which have no soname), where a signal has ended one; analysis reads the others itself. */
bool lwp_core_reads_lines(const DebugInfo *module);

bool lwp_core_reads_lines(const DebugInfo *module)
{
    return VG_(strcmp)(VG_(DebugInfo_get_soname)(module), "NONE") == 0;
}

/* Its other arguments, which differ from version to version, are passed on as they are. */
__asm__(".globl __wrap_vgModuleLocal_read_debuginfo_dwarf3\n"
        "__wrap_vgModuleLocal_read_debuginfo_dwarf3:\n"
        "  push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9; sub $8, %rsp\n"
        "  call lwp_core_reads_lines\n"
        "  add $8, %rsp; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi\n"
        "  test %al, %al\n"
        "  jne __real_vgModuleLocal_read_debuginfo_dwarf3\n"
        "  ret\n");
