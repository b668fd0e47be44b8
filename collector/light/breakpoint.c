#define _GNU_SOURCE
#include "collector/light/breakpoint.h"

#include "collector/light/timer.h"

#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BREAKPOINT_DATA = 0x6c777062, FD_MIN = 200, REFUSALS_MOST = 8 };

static struct perf_event_attr breakpoint_attributes(uint64_t ip)
{
    return (struct perf_event_attr){.size = sizeof(struct perf_event_attr),
                                    .type = PERF_TYPE_BREAKPOINT,
                                    .bp_type = HW_BREAKPOINT_X,
                                    .bp_addr = ip,
                                    .bp_len = sizeof(long),
                                    .sample_period = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1,
                                    .disabled = 1,
                                    .sigtrap = 1,
                                    .remove_on_exec = 1,
                                    .sig_data = BREAKPOINT_DATA};
}

static bool breakpoint_open(struct lwp_breakpoint *breakpoint, uint64_t ip)
{
    struct perf_event_attr attributes = breakpoint_attributes(ip);
    int low = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (low < 0)
        return false;
    breakpoint->fd = fcntl(low, F_DUPFD_CLOEXEC, FD_MIN);
    if (breakpoint->fd < 0)
        breakpoint->fd = low;
    else
        close(low);
    breakpoint->open = true;
    return true;
}

bool lwp_breakpoint_arm(struct lwp_breakpoint *breakpoint, uint64_t ip)
{
    if (breakpoint->refusals >= REFUSALS_MOST)
        return false;
    struct perf_event_attr attributes = breakpoint_attributes(ip);
    bool set = breakpoint->open ? ioctl(breakpoint->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attributes) == 0
                                : breakpoint_open(breakpoint, ip);
    if (!set || ioctl(breakpoint->fd, PERF_EVENT_IOC_ENABLE, 0)) {
        breakpoint->refusals++;
        return false;
    }
    breakpoint->armed = true;
    return true;
}

void lwp_breakpoint_disarm(struct lwp_breakpoint *breakpoint)
{
    if (breakpoint->armed)
        ioctl(breakpoint->fd, PERF_EVENT_IOC_DISABLE, 0);
    breakpoint->armed = false;
}

void lwp_breakpoint_close(struct lwp_breakpoint *breakpoint)
{
    /* the program may have closed our descriptor and reused its number: the ioctl fails on its files */
    if (breakpoint->open && ioctl(breakpoint->fd, PERF_EVENT_IOC_DISABLE, 0) == 0)
        close(breakpoint->fd);
    *breakpoint = (struct lwp_breakpoint){0};
}

void lwp_breakpoint_forget(struct lwp_breakpoint *breakpoint)
{
    if (breakpoint->open)
        close(breakpoint->fd);
    *breakpoint = (struct lwp_breakpoint){0};
}

bool lwp_breakpoint_owns(int signal, const siginfo_t *info)
{
    return signal == SIGTRAP && lwp_timer_perf_data(info) == BREAKPOINT_DATA;
}
