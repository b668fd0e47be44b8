#include "collector/exact/program/exec.h"

#include "collector/exact/program/process.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

extern Bool VG_(clo_trace_children); /* of Valgrind's core, not in the headers for tools */

static bool exec_untraced; /* what is being executed is not traced, though its like are */

bool lwp_exec_is(UInt number)
{
    return number == __NR_execve || number == __NR_execveat;
}

/* NULL: it is not known from where on it counts. */
static const HChar *exec_path(UInt number, const UWord *arguments)
{
    const HChar *path = (const HChar *)arguments[number == __NR_execveat];
    if (!VG_(am_is_valid_for_client)((Addr)path, 1, VKI_PROT_READ))
        return NULL;
    return number == __NR_execve || *path == '/' || (Int)arguments[0] == AT_FDCWD ? path : NULL;
}

bool lwp_exec_may_succeed(UInt number, const UWord *arguments)
{
    const HChar *path = exec_path(number, arguments);
    struct vg_stat st;
    return number == __NR_execveat || (path && !sr_isError(VG_(stat)(path, &st)));
}

static bool exec_is_32_bit(const HChar *path)
{
    UChar head[EI_NIDENT];
    SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
    if (sr_isError(opened))
        return false;
    bool whole = VG_(read)((Int)sr_Res(opened), head, sizeof head) == sizeof head;
    VG_(close)((Int)sr_Res(opened));
    return whole && VG_(memcmp)(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS32;
}

void lwp_exec_before(UInt number, const UWord *arguments)
{
    const HChar *path = VG_(clo_trace_children) ? exec_path(number, arguments) : NULL, *why = NULL;
    HChar text[512];
    struct vg_stat st;
    if (!path || sr_isError(VG_(stat)(path, &st)))
        return;
    if (st.mode & (VKI_S_ISUID | VKI_S_ISGID))
        why = "is setuid or setgid";
    else if (exec_is_32_bit(path))
        why = "is a 32-bit program";
    if (!why)
        return;
    VG_(snprintf)(text, sizeof text, "%s, which the program started, %s: it ran as usual and was not traced.", path, why);
    lwp_exact_process_note(text);
    exec_untraced = true;
    VG_(clo_trace_children) = False;
}

void lwp_exec_after(void)
{
    if (exec_untraced)
        VG_(clo_trace_children) = True;
    exec_untraced = false;
}
