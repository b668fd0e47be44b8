/* What one interrupt of a thread tells: a sample record, and accesses to come that may be watched. See sample.c for the model.
 * All of it is the owning thread's, in its signal handler. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_SAMPLE_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_SAMPLE_H

#include "collector/light/heap/frames.h"
#include "collector/light/own/thread.h"
#include "collector/light/own/timer.h"
#include "collector/light/sampling/pmu.h"
#include "collector/light/sampling/timer_suspension.h"
#include "collector/light/watch/debug_registers.h"
#include "collector/light/watch/sharing.h"
#include "collector/light/watch/watch.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_SAMPLER_STACK = 64 * 1024 };

/* How much of a thread's time goes to instructions that armed registers slow, and what those cost it. */
struct lwp_slowed {
    uint64_t free_ns, free_prone_ns; /* CPU time while nothing was watched; of that at such instructions */
    int64_t owed_ns;                 /* below 0: charged too much so far */
};

/* What a sampled thread has for it; struct lwp_thread's `sampler`. */
struct lwp_sampler {
    struct lwp_code_cache *cache;
    struct lwp_timer *timer; /* or: */
    struct lwp_pmu *pmu;
    uint64_t period_ns, base_period_ns; /* the mean */
    uint64_t next_ns;                   /* until the next sample */
    uint64_t first_ns;                  /* what the thread's first sample stands for; 0: it was taken */
    unsigned of_period;                 /* samples to come after the same time again */
    uint64_t review_cpu_ns, review_spent_ns; /* on samples, at the last review */
    uint64_t since_review; /* periods, with and without a sample */
    unsigned lost;         /* signals since the last sample that came while nothing could be looked at */
    struct lwp_debug_registers registers;
    struct lwp_watches watches;
    struct lwp_sharing sharing;
    struct lwp_slowed slowed;
    struct lwp_rests rests;
    struct lwps_sample pending; /* waits for the execution breakpoint */
    bool waiting;
    struct lwp_frames frames;
    uint64_t last_ns; /* of the last sample, CLOCK_MONOTONIC */
    long waits;       /* of the thread for anything but a processor, when they were last looked at */
    bool debugged;
    uint8_t stack[LWP_SAMPLER_STACK] __attribute__((aligned(64)));
};

/* What a timer's interrupt tells. `cpu_ns`: the thread's CPU time. Returns the instruction whose address only a breakpoint
 * can tell, or 0. */
uint64_t lwp_sample_take(struct lwp_thread *self, struct lwp_sampler *sampler, void *ucontext,
                         struct lwps_sample *sample, uint64_t cpu_ns);

/* What hardware measured; the thread was stopped a few instructions later, or at a page fault's instruction itself. Of
 * several samples taken meanwhile the last one stays in `sample`. `late`: where the thread is now tells nothing of them. */
void lwp_sample_take_measured(struct lwp_thread *self, struct lwp_sampler *sampler, void *ucontext, bool late,
                              uint64_t now_ns, struct lwps_sample *sample, uint64_t cpu_ns);

void lwp_sample_write(struct lwp_thread *self, const struct lwps_sample *sample);

#endif
