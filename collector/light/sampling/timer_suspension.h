/* Timers of threads that often leave the processor. Perf's clock on a thread's CPU time is stopped and started again whenever the
 * thread leaves the processor and comes back: cheap on a processor's own timer, 20 us in some virtual machines, a third of the time
 * of a thread that does so 15,000 times a second. Such a thread's perf timer is suspended between samples. Meanwhile a POSIX timer
 * runs, which costs nothing then but is only looked at some hundred times a second. When that ends, perf's timer runs for as many
 * samples as the suspension should have had, each after a short random time, since the POSIX timer's signal comes with the scheduler's
 * tick. Those samples stand for the time of the suspension. Where the thread would leave the processor so often meanwhile that this cost
 * more than a sample's own interrupt, a sample is taken at the scheduler's tick itself, or at the first of those that follow which does
 * not come in the kernel. Even an event that does not run costs each switch 1 us and more: where that is dearer than to open it again, it
 * is closed until the suspension ends. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_TIMER_SUSPENSION_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_TIMER_SUSPENSION_H

#include "collector/light/sampling/timer.h"

#include <stdbool.h>
#include <stdint.h>

struct lwp_suspension {
    uint64_t switches, switches_running; /* of the thread, at the last sample and when the timer last began to run */
    bool counts;                         /* these are known: from the first sample on, where another thread started this one's timer */
    uint64_t gap_ns;                     /* CPU time between switches, 0: not known */
    uint64_t wanted_ns;                  /* between samples, as it was drawn when the suspension began */
    uint64_t part_ns;                    /* of the suspension, that each sample after it stands for */
    unsigned left;                       /* samples to come until the next suspension, but for this one */
    bool suspended;                      /* now: a tick is one that was under way when perf's clock was stopped */
    bool pause;                          /* while no samples are wanted */
    bool bounded;                        /* the timer is set to when armed registers have to go */
    bool closes;                         /* worth it to have no event open in this suspension */
    uint64_t closed_at, unopened;        /* switches at which none was open any more, 0: there is one; since the last sample without one */
    bool clean;                          /* there never was one */
    bool first;                          /* the sample to come is the first after the suspension */
    bool at_tick;                        /* it is taken at the tick of the POSIX timer that ends the suspension */
    uint64_t ticked_ns;                  /* CPU time of the first of these ticks, if it came in the kernel; 0: it did not */
    uint64_t began_ns, short_ns;         /* lwp_timer_ran() when it began, and how long it takes; short_ns 0: not in use */
    uint64_t ran_ns;                     /* from then on until this sample */
    uint64_t taken, taken_at_once;       /* samples after suspensions; of those by the timer's first tick */
};

/* Whether the samples are those after suspensions. */
static inline bool lwp_suspension_is_on(const struct lwp_suspension *suspension)
{
    return suspension->short_ns != 0;
}

/* How often the thread has left the processor with an event open, of that while the timer ran, and with none after there was one. */
struct lwp_switched {
    uint64_t open, running, closed;
};

/* The calling thread's timer is about to start: it may have run long before. */
void lwp_suspension_start(struct lwp_suspension *suspension);

/* The timer starts in a pause: no event is opened before that is over. */
void lwp_suspension_start_paused(struct lwp_suspension *suspension);

/* A sample `ran_ns` after the one before. Returns the switches since then. */
struct lwp_switched lwp_suspension_sample(struct lwp_suspension *suspension, uint64_t ran_ns);

/* How many ticks were dropped in the kernel before this sample after a suspension. */
uint64_t lwp_suspension_dropped(struct lwp_suspension *suspension, const struct lwp_timer *timer);

/* What a sample after a suspension stands for: of its own time the program's part, estimated by which first ticks were dropped in
 * the kernel. */
uint64_t lwp_suspension_weight(const struct lwp_suspension *suspension);

/* After a sample: suspends the timer, so that the next one is taken in about `next_ns`, when it is worth it and possible, or lets
 * it run on for the samples that the last suspension still owes. False: neither. */
bool lwp_suspension_begin(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t next_ns, uint32_t *random);
/* While no samples are wanted: suspends it for `ns`, after which it has to be looked again. False: not possible. */
bool lwp_suspension_pause(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t ns);
static inline bool lwp_suspension_is_pause(const struct lwp_suspension *suspension)
{
    return suspension->pause;
}
void lwp_suspension_end_pause(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t next_ns);

/* Whether the timer's event should be closed now, as soon as the thread has no other. */
static inline bool lwp_suspension_closes(const struct lwp_suspension *suspension)
{
    return suspension->suspended && suspension->closes && !suspension->closed_at;
}
void lwp_suspension_close(struct lwp_suspension *suspension, struct lwp_timer *timer);

/* Registers are armed, which costs switches as long as they are: after `ns` that ends, if the suspension takes longer. Then true, and
 * the suspension goes on. */
void lwp_suspension_bound(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t ns);
bool lwp_suspension_end_bound(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t suspended_ns);

/* The suspension is over, `suspended_ns` after the sample before. */
void lwp_suspension_end(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t suspended_ns);

/* At such a tick, at CPU time `cpu_ns`. `nowhere`: within the kernel, or lwp. False: it goes on until the next tick. */
bool lwp_suspension_end_at_tick(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t suspended_ns, uint64_t cpu_ns,
                                bool nowhere);

#endif
