/* How often a thread is sampled, so that what lwp costs it stays within its budget, and how much of its time a sample stands for. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_RATE_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_RATE_H

#include "collector/light/sampling/sampling.h"

#include <stdint.h>

/* The n-th sampled thread of the process begins (n from 0): not more often than `frequency` Hz of its CPU time. Sets next_ns. */
void lwp_rate_begin(struct lwp_thread *self, struct lwp_sampler *sampler, double frequency, unsigned n);

/* The calling thread's timer has begun. Where the first tick is wanted sooner than ticks may follow each other, the timer is ahead of the
 * program by the rest. */
void lwp_rate_begun(struct lwp_thread *self, const struct lwp_sampler *sampler);

/* The timer of the calling thread where it begins in a pause (lwp start). NULL: not possible. */
struct lwp_timer *lwp_rate_start_paused(struct lwp_thread *self, struct lwp_sampler *sampler);

/* A sample, `ran_ns` of CPU time after the last one: charges what the time between has cost, and returns the ns of CPU time that the
 * sample stands for. */
uint64_t lwp_rate_weight(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t ran_ns);

/* The sample that began at `cpu_ns` is done: charges it, adapts the rate to what samples cost, and sets the timer to the next one. */
void lwp_rate_next(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t cpu_ns);

/* A signal came while nothing could be looked at. */
void lwp_rate_lost(struct lwp_thread *self, struct lwp_sampler *sampler);

/* A signal came while no samples are wanted. */
void lwp_rate_closed(struct lwp_thread *self, struct lwp_sampler *sampler);

/* The timer's suspension is over (timer_suspension.h). True: a sample is to be taken now. `nowhere`: in the kernel, or in lwp. */
bool lwp_rate_end_suspension(struct lwp_thread *self, struct lwp_sampler *sampler, bool nowhere);

/* The calling thread's sampling is about to end. */
void lwp_rate_end(struct lwp_thread *self, struct lwp_sampler *sampler);

/* Nothing is wanted of the calling thread for `ns` of wall time: its timer is left alone. */
void lwp_rate_pause(struct lwp_thread *self, uint64_t ns);

#endif
