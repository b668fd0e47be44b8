#include "collector/exact/valgrind/pages.h"

#include "collector/exact/valgrind/tool.h"

#include <asm/unistd.h>

/* Of Valgrind's core, not in the headers for tools. */
extern SysRes VG_(do_syscall)(UWord number, UWord, UWord, UWord, UWord, UWord, UWord, UWord, UWord);

void *lwp_pages_map(size_t bytes)
{
    return LWP_TOOL_PAGES(VG_PGROUNDUP(bytes));
}

void lwp_pages_unmap(void *memory, size_t bytes)
{
    VG_(am_munmap_valgrind)((Addr)memory, VG_PGROUNDUP(bytes));
}

void lwp_pages_large(const void *memory, size_t bytes)
{
    enum { MADVISE_HUGE = 14 };
    VG_(do_syscall)(__NR_madvise, (UWord)memory, bytes, MADVISE_HUGE, 0, 0, 0, 0, 0);
}
