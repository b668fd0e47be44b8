/* What a perf event says with the SIGTRAP that it sends. glibc has no names yet for these fields of siginfo_t. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_PERF_SIGNAL_H
#define LWP_COLLECTOR_LIGHT_OWN_PERF_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LWP_TRAP_PERF = 6 }; /* si_code */

/* attr.sig_data of the event; 0: the signal comes from elsewhere. */
static inline uint64_t lwp_perf_signal_data(const siginfo_t *info)
{
    uint64_t data; /* si_perf_data */
    if (info->si_code != LWP_TRAP_PERF)
        return 0;
    memcpy(&data, (const char *)&info->si_addr + sizeof(void *), sizeof data);
    return data;
}

/* The signal was blocked when the event happened: the interrupted ip is not where it did. */
static inline bool lwp_perf_signal_is_late(const siginfo_t *info)
{
    enum { FLAG_ASYNC = 1 };
    uint32_t flags; /* si_perf_flags, behind si_perf_data and si_perf_type */
    memcpy(&flags, (const char *)&info->si_addr + 2 * sizeof(void *) + 4, sizeof flags);
    return info->si_code == LWP_TRAP_PERF && info->si_signo == SIGTRAP && flags & FLAG_ASYNC;
}

#endif
