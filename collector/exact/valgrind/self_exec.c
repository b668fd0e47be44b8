/* Programs that execute themselves again by /proc/self/exe. Kept because they would start Valgrind's tool, which is what the
 * kernel takes this process for, and fail: Valgrind answers readlink() for the program, but passes execve() on as it is.
 * Here the program's path takes its place (the linker's --wrap). */
#include "collector/exact/valgrind/tool.h"

#include <asm/unistd.h>

extern Int VG_(cl_exec_fd); /* of Valgrind's core, not in the headers for tools: the program's file */

enum { SYSCALL_NUMBER, SYSCALL_PATH, RED_ZONE = 128 };

static Bool is_own_image(const HChar *path)
{
    HChar by_pid[32];
    if (!VG_(am_is_valid_for_client)((Addr)path, 1, VKI_PROT_READ))
        return False;
    VG_(sprintf)(by_pid, "/proc/%d/exe", VG_(getpid)());
    return VG_(strcmp)(path, "/proc/self/exe") == 0 || VG_(strcmp)(path, by_pid) == 0;
}

void __wrap_vgSysWrap_generic_sys_execve_before(ThreadId id, void *layout, UWord *call, void *status, UWord *flags);
extern void __real_vgSysWrap_generic_sys_execve_before(ThreadId id, void *layout, UWord *call, void *status, UWord *flags);

/* Valgrind takes paths in the program's memory only: below its stack, as long as the exec lasts, should it fail. */
void __wrap_vgSysWrap_generic_sys_execve_before(ThreadId id, void *layout, UWord *call, void *status, UWord *flags)
{
    HChar link[64], path[512], before[sizeof path];
    HChar *place = (HChar *)(VG_(get_SP)(id) - RED_ZONE - sizeof path);
    const UWord given = call[SYSCALL_PATH];
    Bool own = call[SYSCALL_NUMBER] == __NR_execve && is_own_image((const HChar *)given);
    VG_(sprintf)(link, "/proc/self/fd/%d", VG_(cl_exec_fd));
    Int length = own ? (Int)VG_(readlink)(link, path, sizeof path - 1) : 0;
    own = length > 0 && VG_(am_is_valid_for_client)((Addr)place, sizeof path, VKI_PROT_READ | VKI_PROT_WRITE);
    if (own) {
        path[length] = '\0';
        VG_(memcpy)(before, place, sizeof before);
        VG_(memcpy)(place, path, (SizeT)length + 1);
        call[SYSCALL_PATH] = (UWord)place;
    }
    __real_vgSysWrap_generic_sys_execve_before(id, layout, call, status, flags);
    if (own) {
        VG_(memcpy)(place, before, sizeof before);
        call[SYSCALL_PATH] = given;
    }
}
