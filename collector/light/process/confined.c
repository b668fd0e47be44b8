/* A program that confines itself (seccomp) may be killed for what sampling does, now or in what it executes: everything is
 * written and closed before, and nothing is sampled from then on. Not seen: bare system calls. */
#define _GNU_SOURCE
#include "collector/light/own/real_calls.h"
#include "collector/light/process/foreign.h"
#include "collector/light/process/start.h"
#include "collector/light/watch/system_calls.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void confined_leave(void)
{
    lwp_foreign_leave();
    lwp_process_leave("the program confined itself (seccomp): nothing was sampled from then on");
}

LWP_HIDDEN long lwp_confined_syscall(long number, long a, long b, long c, long d, long e);

long lwp_confined_syscall(long number, long a, long b, long c, long d, long e)
{
    bool by_seccomp = number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER);
    if (by_seccomp || (number == SYS_prctl && a == PR_SET_SECCOMP))
        confined_leave();
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
    if (option == PR_SET_SECCOMP)
        confined_leave();
    return LWP_REAL(prctl)(option, given[0], given[1], given[2], given[3]);
}
