#include "collector/exact/pages.h"

#include "collector/exact/tool.h"

void *lwp_pages_map(size_t bytes)
{
    return LWP_TOOL_PAGES(VG_PGROUNDUP(bytes));
}

void lwp_pages_unmap(void *memory, size_t bytes)
{
    VG_(am_munmap_valgrind)((Addr)memory, VG_PGROUNDUP(bytes));
}
