/* Perf's clock on a thread's CPU time is stopped and started again whenever the thread leaves the processor and comes back:
 * cheap on a processor's own timer, 20 us in some virtual machines, a third of the time of a thread that does so 15,000
 * times a second. Such a thread's timer rests between samples, while a POSIX timer, which costs nothing then but is only
 * looked at some hundred times a second, waits in its stead; then perf's runs for a short while that is drawn each time,
 * since the POSIX timer's signal comes when the scheduler's tick or the end of a system call does. */
#ifndef LWP_LIGHT_RESTS_H
#define LWP_LIGHT_RESTS_H

#include "collector/light/timer.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_rests {
    uint64_t switches, switches_running; /* of the thread, at the last sample and when the timer last began to run */
    uint64_t began_cpu_ns;               /* when that was */
    uint64_t gap_ns;                     /* CPU time between switches, 0: not known */
    uint64_t short_ns;                   /* how long the timer runs after a rest, 0: it does not rest */
    uint64_t taken, taken_at_once;       /* samples after rests; of those by the timer's first tick */
};

/* A sample `ran_ns` after the one before. Returns what the switches have cost while the timer ran, ns. */
uint64_t lwp_rests_sample(struct lwp_rests *rests, uint64_t ran_ns);

/* How many ticks were dropped in the kernel before this sample after a rest. */
uint64_t lwp_rests_dropped(struct lwp_rests *rests, uint64_t cpu_ns);

/* The program's part of the time, as far as it is known by which first ticks were dropped in the kernel: what a sample after a
 * rest stands for is that part of all the time since the one before. */
double lwp_rests_outside_kernel(const struct lwp_rests *rests);

/* Lets the timer rest, so that the next sample is taken in about `next_ns`, when it is worth it and can be done. */
bool lwp_rests_begin(struct lwp_rests *rests, struct lwp_timer *timer, uint64_t next_ns, uint32_t *random);
void lwp_rests_end(struct lwp_rests *rests, struct lwp_timer *timer, uint64_t cpu_ns);

#endif
