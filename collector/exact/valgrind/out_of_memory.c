/* When Valgrind runs out of memory it prints its map of the address space to the program's stderr, then statistics, and exits. Kept
 * because the result would be lost and the program's output changed, and because the statistics crash before the first thread is there:
 * in place of the map (the linker's --wrap), memory that was reserved for this moment is released, the result is written with it, and the
 * process ends. */
#include "collector/exact/valgrind/out_of_memory.h"

#include "collector/exact/valgrind/tool.h"

enum { RESERVE = 8 << 20 };

void __wrap_vgPlain_am_show_nsegments(Int level, const HChar *who);
extern void __real_vgPlain_am_show_nsegments(Int level, const HChar *who);

static void *reserve;
static void (*out_of_memory_write)(void);

void lwp_out_of_memory_start(void (*write)(void))
{
    reserve = LWP_TOOL_PAGES(RESERVE);
    out_of_memory_write = write;
}

void __wrap_vgPlain_am_show_nsegments(Int level, const HChar *who)
{
    void (*write)(void) = out_of_memory_write;
    if (VG_(strcmp)(who, "out_of_memory") != 0) { /* printed for debugging Valgrind */
        __real_vgPlain_am_show_nsegments(level, who);
        return;
    }
    out_of_memory_write = NULL;
    if (reserve)
        VG_(am_munmap_valgrind)((Addr)reserve, RESERVE);
    reserve = NULL;
    if (write)
        write();
    VG_(umsg)("memory management: out of memory: nothing is traced from here on\n"); /* exact_messages.c looks for it */
    VG_(exit)(1);
}
