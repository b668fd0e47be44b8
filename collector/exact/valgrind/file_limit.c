/* How many files the program may have open. Kept because Valgrind takes the soft limit for the hard one, as its own files are right
 * above, and refuses to lower the hard one: servers that set both to what they need (memcached) do not start. Here Valgrind's files
 * are moved to the end of what the kernel allows, and the hard limit is lowered in Valgrind's books (the linker's --wrap). The
 * program sees a hard limit that is RESERVED lower than without Valgrind. */
#include "collector/exact/valgrind/file_limit.h"

#include "collector/exact/valgrind/tool.h"

/* Of Valgrind's core, not in the headers for tools. The program's limits, and the file of the program. */
extern Int VG_(fd_soft_limit), VG_(fd_hard_limit), VG_(cl_exec_fd);
extern Int VG_(fcntl)(Int fd, Int command, Addr argument);
extern Int VG_(getrlimit)(Int resource, struct vki_rlimit *limit);
extern Int VG_(setrlimit)(Int resource, const struct vki_rlimit *limit);

/* The kernel's table of a process' files has 8 bytes for each number up to the highest that is open. */
enum { RESERVED = 12, MOST = 1 << 20 };

static struct vki_rlimit limit_of_kernel; /* what this process may have open with Valgrind's files */
static Bool limit_lowered;                /* by the program: its hard limit is that of what it executes, too */

void lwp_file_limit_start(void)
{
    struct vki_rlimit before, all;
    if (VG_(getrlimit)(VKI_RLIMIT_NOFILE, &before))
        return;
    limit_of_kernel = all = before;
    all.rlim_cur = before.rlim_max < MOST ? before.rlim_max : MOST;
    if (all.rlim_cur <= before.rlim_cur || VG_(setrlimit)(VKI_RLIMIT_NOFILE, &all))
        return;
    Int hard = (Int)all.rlim_cur - RESERVED;
    Int moved = VG_(cl_exec_fd) == -1 ? hard : VG_(fcntl)(VG_(cl_exec_fd), VKI_F_DUPFD, hard);
    if (moved < hard) {
        VG_(setrlimit)(VKI_RLIMIT_NOFILE, &before);
        return;
    }
    if (VG_(cl_exec_fd) != -1) {
        VG_(fcntl)(moved, VKI_F_SETFD, VKI_FD_CLOEXEC);
        VG_(close)(VG_(cl_exec_fd));
        VG_(cl_exec_fd) = moved;
    }
    VG_(fd_hard_limit) = hard;
    limit_of_kernel = all;
}

void lwp_file_limit_before_exec(void)
{
    struct vki_rlimit limit = limit_of_kernel;
    limit.rlim_cur = (unsigned long)VG_(fd_soft_limit);
    if (limit_lowered)
        limit.rlim_max = (unsigned long)VG_(fd_hard_limit);
    if (limit.rlim_max)
        VG_(setrlimit)(VKI_RLIMIT_NOFILE, &limit);
}

void lwp_file_limit_after_exec(void)
{
    struct vki_rlimit limit;
    if (VG_(getrlimit)(VKI_RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = limit.rlim_max < limit_of_kernel.rlim_cur ? limit.rlim_max : limit_of_kernel.rlim_cur;
    VG_(setrlimit)(VKI_RLIMIT_NOFILE, &limit);
}

/* Valgrind's function for a call, and what it refers to: where ASKED lowers the hard limit, as everyone may, Valgrind has to find
 * it lowered already. Nothing else changes. */
typedef void call_before(ThreadId id, void *layout, UWord *call, void *status, UWord *flags);

static Bool limit_before_call(const struct vki_rlimit *asked)
{
    Bool lower = VG_(am_is_valid_for_client)((Addr)asked, sizeof *asked, VKI_PROT_READ) && asked->rlim_cur <= asked->rlim_max &&
                 asked->rlim_max < (unsigned long)VG_(fd_hard_limit);
    if (lower)
        VG_(fd_hard_limit) = (Int)asked->rlim_max;
    return lower;
}

call_before __wrap_vgSysWrap_generic_sys_setrlimit_before, __real_vgSysWrap_generic_sys_setrlimit_before;
call_before __wrap_vgSysWrap_linux_sys_prlimit64_before, __real_vgSysWrap_linux_sys_prlimit64_before;

/* setrlimit(resource, limit) */
void __wrap_vgSysWrap_generic_sys_setrlimit_before(ThreadId id, void *layout, UWord *call, void *status, UWord *flags)
{
    if (call[1] == VKI_RLIMIT_NOFILE && limit_before_call((const struct vki_rlimit *)call[2]))
        limit_lowered = True;
    __real_vgSysWrap_generic_sys_setrlimit_before(id, layout, call, status, flags);
}

/* prlimit64(process, resource, new limit, old limit) */
void __wrap_vgSysWrap_linux_sys_prlimit64_before(ThreadId id, void *layout, UWord *call, void *status, UWord *flags)
{
    const Int hard = VG_(fd_hard_limit);
    struct vki_rlimit *old = (struct vki_rlimit *)call[4];
    Bool own = call[1] == 0 || (Int)call[1] == VG_(getpid)();
    Bool lower = own && call[2] == VKI_RLIMIT_NOFILE && limit_before_call((const struct vki_rlimit *)call[3]);
    __real_vgSysWrap_linux_sys_prlimit64_before(id, layout, call, status, flags);
    if (lower && VG_(am_is_valid_for_client)((Addr)old, sizeof *old, VKI_PROT_READ | VKI_PROT_WRITE))
        old->rlim_max = (unsigned long)hard;
    limit_lowered |= lower;
}
