/* Valgrind gives a forked child a log file of its own, and ends the child if it cannot be created: after the program has changed
 * its root or user, or moved the result. Kept because such a program loses its children; here the child goes on with its parent's
 * log (the linker's --wrap). */
#include "collector/exact/valgrind/tool.h"

/* Of Valgrind's core, not in the headers for tools. */
extern const HChar *VG_(clo_log_fname_unexpanded);
extern HChar *VG_(expand_file_name)(const HChar *option, const HChar *format);

void __wrap_vgPlain_logging_atfork_child(ThreadId id);
extern void __real_vgPlain_logging_atfork_child(ThreadId id);

void __wrap_vgPlain_logging_atfork_child(ThreadId id)
{
    if (!VG_(clo_log_fname_unexpanded))
        return;
    HChar *name = VG_(expand_file_name)("--log-file", VG_(clo_log_fname_unexpanded));
    SysRes made = VG_(open)(name, VKI_O_CREAT | VKI_O_WRONLY, VKI_S_IRUSR | VKI_S_IWUSR);
    VG_(free)(name);
    if (sr_isError(made))
        return;
    VG_(close)((Int)sr_Res(made));
    __real_vgPlain_logging_atfork_child(id);
}
