/* How often a thread is sampled, so that what lwp costs it stays within its budget, and how much of its time a sample stands for. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_RATE_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_RATE_H

#include "collector/light/own/thread.h"
#include "collector/light/sampling/sample.h"

#include <stdint.h>

/* The n-th sampled thread of the process begins (n from 0): not more often than `frequency` Hz of its CPU time. Sets next_ns. */
void lwp_pace_begin(struct lwp_thread *self, struct lwp_sampler *sampler, double frequency, unsigned n);

/* How many periods ended in the kernel, `gap_ns` of CPU time after the last sample. Of a sample once. */
uint64_t lwp_pace_dropped(struct lwp_sampler *sampler, uint64_t gap_ns);
/* ns of CPU time that the sample stands for. After lwp_pace_dropped(). */
uint64_t lwp_pace_weight(const struct lwp_sampler *sampler, uint64_t gap_ns, uint64_t dropped);
/* Charges what leaving the processor has cost in the `ran_ns` of CPU time since the last sample. */
void lwp_pace_charge_switches(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t ran_ns);

/* After some samples, `cpu_ns` into the thread's time: thins them out, or the allocations that are recorded, when they cost too
 * much, and comes back when they got cheaper. */
void lwp_pace_review(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t cpu_ns);
/* Sets the timer to the next sample. */
void lwp_pace_draw(struct lwp_thread *self, struct lwp_sampler *sampler);

/* Between samples of a thread that often leaves the processor (timer_suspension.h): the timer's rest is over; the sample after it could not be
 * taken. */
void lwp_pace_end_rest(struct lwp_thread *self, struct lwp_sampler *sampler);
void lwp_pace_rest_again(struct lwp_thread *self, struct lwp_sampler *sampler);

/* Nothing is wanted of the calling thread for `ns` of wall time: lets its timer be. */
void lwp_pace_pause(struct lwp_thread *self, uint64_t ns);

#endif
