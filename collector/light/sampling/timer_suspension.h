/* Perf's clock on a thread's CPU time is stopped and started again whenever the thread leaves the processor and comes back:
 * cheap on a processor's own timer, 20 us in some virtual machines, a third of the time of a thread that does so 15,000
 * times a second. Such a thread's timer rests between samples, while a POSIX timer, which costs nothing then but is only
 * looked at some hundred times a second, waits in its stead. Then perf's runs for as many samples as the rest should have had, each
 * after a short while that is drawn, since the POSIX timer's signal comes when the scheduler's tick does: what is in a rest is
 * told by the samples after it. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_TIMER_SUSPENSION_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_TIMER_SUSPENSION_H

#include "collector/light/own/timer.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_rests {
    uint64_t switches, switches_running; /* of the thread, at the last sample and when the timer last began to run */
    uint64_t gap_ns;                     /* CPU time between switches, 0: not known */
    uint64_t wanted_ns;                  /* between samples, as it was drawn when the rest began */
    uint64_t part_ns;                    /* of the rest, that each sample after it stands for */
    unsigned left;                       /* samples to come until the next rest, but for this one */
    bool resting;                        /* now: a tick is one that was under way when perf's clock was stopped */
    bool first;                          /* the sample to come is the first after the rest */
    uint64_t began_ns, short_ns;         /* lwp_timer_ran() when it began, and how long it takes; short_ns 0: it does not rest */
    uint64_t ran_ns;                     /* from then on until this sample */
    uint64_t taken, taken_at_once;       /* samples after rests; of those by the timer's first tick */
};

/* Whether the samples are those after rests. */
static inline bool lwp_rests_rest(const struct lwp_rests *rests)
{
    return rests->short_ns != 0;
}

/* A sample `ran_ns` after the one before. Returns what the switches have cost while the timer ran, ns. */
uint64_t lwp_rests_sample(struct lwp_rests *rests, uint64_t ran_ns);

/* How many ticks were dropped in the kernel before this sample after a rest. */
uint64_t lwp_rests_dropped(struct lwp_rests *rests, const struct lwp_timer *timer);

/* What a sample after a rest stands for: of the time that is its own, the program's part, as far as that is known by which first
 * ticks were dropped in the kernel. */
uint64_t lwp_rests_weight(const struct lwp_rests *rests);

/* After a sample: lets the timer rest, so that the next one is taken in about `next_ns`, when it is worth it and can be done, or
 * run on for what the last rest still owes. False: neither. */
bool lwp_rests_begin(struct lwp_rests *rests, struct lwp_timer *timer, uint64_t next_ns, uint32_t *random);
/* The rest is over, `rested_ns` after the sample before. */
void lwp_rests_end(struct lwp_rests *rests, struct lwp_timer *timer, uint64_t rested_ns);

#endif
