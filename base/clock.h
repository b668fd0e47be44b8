/* What time is it, and how much CPU time has a process taken? Async-signal-safe. */
#ifndef LWP_BASE_CLOCK_H
#define LWP_BASE_CLOCK_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

/* Nanoseconds. */
static inline uint64_t lwp_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline double lwp_clock_s(clockid_t clock)
{
    return (double)lwp_clock(clock) * 1e-9;
}

static inline double lwp_seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

/* Without the kernel's time, in which nothing is sampled. */
static inline double lwp_cpu_user_s(const struct rusage *usage)
{
    return lwp_seconds(&usage->ru_utime);
}

static inline double lwp_cpu_s(const struct rusage *usage)
{
    return lwp_cpu_user_s(usage) + lwp_seconds(&usage->ru_stime);
}

#endif
