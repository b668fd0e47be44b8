/* From an interrupt of a thread to a sample record. See sample.c for the model. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_SAMPLE_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_SAMPLE_H

#include "collector/light/sampling/sampling.h"

/* The timer, or the hardware, interrupted the thread. */
void lwp_sample_take(const struct lwp_interrupt *interrupt);

/* The execution breakpoint did: the pending sample's access is about to run. */
void lwp_sample_hit(const struct lwp_interrupt *interrupt);

/* Writes the pending sample, if there is one, whether or not its breakpoint was hit. */
void lwp_sample_write(struct lwp_thread *self, struct lwp_sampler *sampler);

#endif
