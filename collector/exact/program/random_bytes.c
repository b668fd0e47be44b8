/* The C library takes random bytes for itself: the stack guard from those that the kernel gives each process, and the key by
 * which malloc knows blocks that are free already. Both are stored in memory of the program, and with them other values were
 * loaded and stored in each run. Bytes that the program asks for stay random. */
#include "collector/exact/program/random_bytes.h"

#include <stdbool.h>

extern UWord *VG_(client_auxv); /* of Valgrind's core, not in the headers for tools */

static const UChar key_bytes[] = {0x39, 0xd5, 0xa3, 0xe5, 0x88, 0xe5, 0x19, 0x2d};

void lwp_random_bytes_start(void)
{
    enum { AUXV_RANDOM = 25, RANDOM_BYTES = 16 };
    for (const UWord *entry = VG_(client_auxv); entry && entry[0]; entry += 2)
        if (entry[0] == AUXV_RANDOM)
            VG_(memset)((void *)entry[1], 0x5a, RANDOM_BYTES);
}

/* mkstemp() asks for as many bytes in the same way, but on its stack; the program may do so from getrandom(), but for a variable of
 * its own. In a static program, the variable's name tells. */
static bool random_is_malloc_key(ThreadId id, Addr variable)
{
    DiEpoch now = VG_(current_DiEpoch)();
    const HChar *object, *name;
    PtrdiffT offset;
    VgSectKind section = VG_(DebugInfo_sect_kind)(&object, variable);
    if (section != Vg_SectBSS && section != Vg_SectData)
        return false;
    DebugInfo *asks = VG_(find_DebugInfo)(now, VG_(get_IP)(id));
    if (!asks || VG_(strcmp)(object, VG_(DebugInfo_get_filename)(asks)) != 0)
        return false;
    const HChar *soname = VG_(DebugInfo_get_soname)(asks);
    if (soname && VG_(strncmp)(soname, "libc.so.", 8) == 0)
        return true;
    return VG_(get_datasym_and_offset)(now, variable, &name, &offset) && offset == 0 && VG_(strcmp)(name, "tcache_key") == 0;
}

void lwp_random_bytes_after_call(ThreadId id, UInt number, const UWord *arguments, SysRes result)
{
    enum { NONBLOCK = 1 };
    if (number == __NR_getrandom && arguments[1] == sizeof key_bytes && arguments[2] == NONBLOCK && !sr_isError(result)
        && sr_Res(result) == sizeof key_bytes && random_is_malloc_key(id, arguments[0]))
        VG_(memcpy)((void *)arguments[0], key_bytes, sizeof key_bytes);
}
