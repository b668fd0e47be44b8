/* Where sampling would harm the program it ends.
 *
 * A program that confines itself (seccomp) may be killed for what sampling does, now or in what it executes: everything is
 * written and closed before, and nothing is sampled from then on. Not where it asks for a filter without giving one, which only
 * finds out whether the kernel has filters. So it is where it forbids itself the time stamp counter, which clocks are read by, and where it
 * has its system calls handed to a handler of its own, as Wine has those of Windows programs: it would be handed lwp's. The child of a
 * debugger that is about to become the program (ptrace) has the debugger's traps from there on. Not seen: bare system calls. */
#include "collector/light/own/confinement.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/process/dormant.h"
#include "collector/light/process/foreign.h"
#include "collector/light/process/start.h"
#include "collector/light/sampling/sampler.h"
#include "collector/light/watch/system_calls.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

static void confined_leave(const char *note)
{
    lwp_foreign_leave();
    lwp_process_leave(note);
    lwp_confinement_comes();
}

static const char by_filter[] = "the program confined itself (seccomp): nothing was sampled from then on",
                  without_clock[] = "the program forbade itself the time stamp counter (PR_SET_TSC): nothing was sampled from then on",
                  dispatched[] =
                      "the program handles its system calls itself (PR_SET_SYSCALL_USER_DISPATCH): nothing was sampled from then on";

static void confined_by_prctl(long option, long mode, long filter)
{
    if (option == PR_SET_SECCOMP && (mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter)))
        confined_leave(by_filter);
    else if (option == PR_SET_TSC && mode == PR_TSC_SIGSEGV)
        confined_leave(without_clock);
    else if (option == PR_SET_SYSCALL_USER_DISPATCH && mode)
        confined_leave(dispatched);
}

LWP_HIDDEN long lwp_confined_syscall(long number, long a, long b, long c, long d, long e);

long lwp_confined_syscall(long number, long a, long b, long c, long d, long e)
{
    bool by_seccomp = number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || (a == SECCOMP_SET_MODE_FILTER && c));
    if (by_seccomp)
        confined_leave(by_filter);
    else if (number == SYS_prctl)
        confined_by_prctl(a, b, c);
    return lwp_real_syscall(number, a, b, c, d, e);
}

LWP_EXPORT int prctl(int option, ...)
{
    unsigned long given[4];
    va_list more;
    va_start(more, option);
    for (int i = 0; i < 4; i++)
        given[i] = va_arg(more, unsigned long);
    va_end(more);
    lwp_counted_calls++;
    confined_by_prctl(option, (long)given[0], (long)given[1]);
    return LWP_REAL(prctl)(option, given[0], given[1], given[2], given[3]);
}

static void traced_begin(void)
{
    struct lwp_thread *self = lwp_thread_enter();
    if (self)
        lwp_sampler_detach(self);
    lwp_thread_leave(self);
    lwp_dormant_end(false);
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
