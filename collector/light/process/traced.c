/* The child of a debugger that is about to become the program: from here on its traps are the debugger's. */
#define _GNU_SOURCE
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/sampling/sampler.h"

#include <stdarg.h>
#include <sys/ptrace.h>

static void traced_begin(void)
{
    struct lwp_thread *self = lwp_thread_enter();
    if (self)
        lwp_sampler_detach(self);
    lwp_thread_leave(self);
}

LWP_EXPORT long ptrace(enum __ptrace_request request, ...)
{
    va_list more;
    va_start(more, request);
    pid_t pid = va_arg(more, pid_t);
    void *address = va_arg(more, void *), *data = va_arg(more, void *);
    va_end(more);
    if (request == PTRACE_TRACEME)
        traced_begin();
    return LWP_REAL(ptrace)(request, pid, address, data);
}
