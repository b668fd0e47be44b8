/* The program's stack begins with argc, argv, NULL, envp, NULL, and the auxiliary vector, one behind the other, as the
 * dynamic linker wants it: with fewer variables the vector moves down. Where all of it lies is left as it is; how long
 * Valgrind's variables are is `lwp collect`'s matter (launch/exact.c). */
#include "collector/exact/valgrind/environment.h"

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>

extern UWord *VG_(client_auxv); /* of Valgrind's core, not in the headers for tools */

static bool starts_with(const HChar *text, const HChar *start)
{
    return VG_(strncmp)(text, start, VG_(strlen)(start)) == 0;
}

/* LD_PRELOAD=OURS, or LD_PRELOAD=OURS:REST, of which the rest is the program's own. */
static bool is_all_ours(HChar *variable)
{
    static const HChar preload[] = "LD_PRELOAD=", ours[] = "/vgpreload_core-amd64-linux.so";
    enum { NAME = sizeof preload - 1, OURS = sizeof ours - 1 };
    if (starts_with(variable, "VALGRIND_LIB="))
        return true;
    if (!starts_with(variable, preload))
        return false;
    HChar *end = variable + NAME;
    while (*end && *end != ':' && *end != ' ')
        end++;
    if (end - variable < NAME + OURS || !starts_with(end - OURS, ours))
        return false;
    VG_(memmove)(variable + NAME, *end ? end + 1 : end, VG_(strlen)(*end ? end + 1 : end) + 1);
    return !variable[NAME];
}

void lwp_environment_hide(void)
{
    UWord *vector = VG_(client_auxv), *end = vector, *from, *to;
    if (!vector)
        return;
    for (; end[0]; end += 2) {}
    end += 2;
    for (from = vector - 1; from[-1]; from--) {}
    for (to = from; *from; from++)
        if (!is_all_ours((HChar *)*from))
            *to++ = *from;
    *to++ = 0;
    VG_(memmove)(to, vector, (SizeT)((HChar *)end - (HChar *)vector));
    VG_(client_auxv) = to;
}
