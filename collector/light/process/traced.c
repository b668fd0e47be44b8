/* The child of a debugger that is about to become the program: from here on its traps are the debugger's. */
#define _GNU_SOURCE
#include "collector/light/own/process.h"
#include "collector/light/sampling/sampler.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <unistd.h>

static void traced_begin(void)
{
    struct lwp_thread *self = lwp_process.active && getpid() == lwp_process.pid ? lwp_thread_self() : NULL;
    if (!self)
        return;
    self->busy++;
    lwp_sampler_detach(self);
    self->busy--;
}

__attribute__((visibility("default"))) long ptrace(enum __ptrace_request request, ...)
{
    static long (*next)(enum __ptrace_request, ...);
    if (!next)
        next = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
    va_list rest;
    va_start(rest, request);
    pid_t pid = va_arg(rest, pid_t);
    void *address = va_arg(rest, void *), *data = va_arg(rest, void *);
    va_end(rest);
    if (request == PTRACE_TRACEME)
        traced_begin();
    return next(request, pid, address, data);
}
