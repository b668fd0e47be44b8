/* Valgrind's headers, for the files of the tool. Their dialect (UInt, Addr, VG_()) stays inside collector/exact.
 * The headers are GPL-2.0-or-later, and with them the tool's binary is; lwp runs it as a program of its own. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_TOOL_H
#define LWP_COLLECTOR_EXACT_VALGRIND_TOOL_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_basics.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_oset.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"
#pragma GCC diagnostic pop

/* Zeroed pages, or NULL. Valgrind's own function returns the address up to 3.22, a SysRes from 3.23 on. */
static inline void *tool_address(void *address)
{
    return address;
}

static inline void *tool_result(SysRes result)
{
    return sr_isError(result) ? NULL : (void *)sr_Res(result);
}

#define LWP_TOOL_PAGES(bytes) _Generic(VG_(am_shadow_alloc)(0), SysRes: tool_result, default: tool_address)(VG_(am_shadow_alloc)(bytes))

/* An array that holds `count` elements at least; what it held is lost where it grows. */
static inline void *tool_room(void *array, Int *room, Int count, SizeT each)
{
    if (*room >= count)
        return array;
    *room = 2 * count;
    VG_(free)(array);
    return VG_(malloc)("lwp.room", (SizeT)*room * each);
}

#endif
