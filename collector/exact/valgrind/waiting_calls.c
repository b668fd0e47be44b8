#include "collector/exact/valgrind/waiting_calls.h"

#include "collector/exact/valgrind/tool.h"

#include <asm/unistd.h>

bool lwp_call_waits(uint32_t number)
{
    switch (number) {
    case __NR_nanosleep:
    case __NR_clock_nanosleep:
    case __NR_pause:
    case __NR_poll:
    case __NR_ppoll:
    case __NR_select:
    case __NR_pselect6:
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
    case __NR_wait4:
    case __NR_waitid:
    case __NR_rt_sigsuspend:
    case __NR_rt_sigtimedwait:
        return true;
    default:
        return false;
    }
}
