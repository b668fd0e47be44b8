/* A program that opens breakpoint events of its own (perf_event_open, through the C library's syscall) gets all debug
 * registers of all its threads, before the kernel can refuse, and for good: no watchpoint is set from then on.
 * Not seen: bare system calls, and events that another process opens for this one. */
#include "collector/light/own/confinement.h"
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/thread.h"
#include "collector/light/watch/debug_registers.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/uio.h>
#include <unistd.h>

LWP_HIDDEN long lwp_own_perf_event_open(long number, const struct perf_event_attr *attributes, long pid, long cpu,
                                        long group, long flags);

static bool is_breakpoint(const struct perf_event_attr *attributes)
{
    uint32_t type; /* read through the kernel: the pointer may be a bad one */
    struct iovec here = {&type, sizeof type}, there = {(void *)&attributes->type, sizeof type};
    return !lwp_confinement_came() && process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof type && type == PERF_TYPE_BREAKPOINT;
}

static void note_once(void)
{
    static int noted;
    if (!__atomic_exchange_n(&noted, 1, __ATOMIC_RELAXED))
        lwp_thread_note("the program uses hardware breakpoints of its own: from then on lwp did without debug registers, "
                        "and no access got a watchpoint");
}

long lwp_own_perf_event_open(long number, const struct perf_event_attr *attributes, long pid, long cpu, long group,
                             long flags)
{
    enum { MOMENT_NS = 50000000, PAUSE_US = 200 };
    int saved = errno;
    bool theirs = lwp_process_is_ours() && !lwp_is_ours(__builtin_return_address(0)) &&
                  is_breakpoint(attributes);
    if (theirs) {
        lwp_debug_give_up();
        note_once();
    }
    errno = saved;
    long fd = lwp_real_syscall(number, attributes, pid, cpu, group, flags);
    /* one that a thread was using while it was closed goes a moment later */
    while (theirs && fd < 0 && errno == ENOSPC && lwp_clock(CLOCK_MONOTONIC) < lwp_debug_given_up() + MOMENT_NS) {
        usleep(PAUSE_US);
        errno = saved;
        fd = lwp_real_syscall(number, attributes, pid, cpu, group, flags);
    }
    return fd;
}
