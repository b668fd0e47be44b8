#include "collector/exact/program/thread.h"

#include "collector/exact/program/process.h"
#include "collector/exact/program/trace_words.h"

struct lwp_exact_thread *lwp_thread_now;

/* The kernel's name of the first thread is the tool's. */
const HChar *lwp_thread_name(uint32_t tid, HChar *name)
{
    HChar path[64];
    VG_(snprintf)(path, sizeof path, "/proc/self/task/%u/comm", tid);
    Int fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);
    Int length = fd >= 0 ? VG_(read)(fd, name, LWP_THREAD_NAME_BYTES - 1) : 0;
    if (fd >= 0)
        VG_(close)(fd);
    while (length > 0 && name[length - 1] == '\n')
        length--;
    name[length > 0 ? length : 0] = '\0';
    return VG_(strncmp)(name, "lwp-amd64", 9) == 0 ? VG_(basename)(VG_(args_the_exename)) : name;
}

struct lwps_writer *lwp_thread_file(struct lwp_exact_thread *thread)
{
    HChar name[LWP_THREAD_NAME_BYTES];
    if (thread->opened)
        return &thread->file;
    if (thread->failed || !lwp_exact_process.active)
        return NULL;
    VG_(snprintf)(name, sizeof name, "t%u", thread->tid);
    thread->opened = lwp_exact_process_open(&thread->file, name, thread->tid);
    thread->failed = !thread->opened;
    if (thread->failed)
        return NULL;
    lwps_put_thread(&thread->file, &(struct lwps_thread){.tid = thread->tid, .time = lwp_trace_time(),
                                                         .stack_low = thread->stack_low, .stack_high = thread->stack_high,
                                                         .name = lwp_thread_name(thread->tid, name)});
    return &thread->file;
}
