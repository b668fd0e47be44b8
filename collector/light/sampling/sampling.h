/* What sampling keeps of the process and of each of its threads. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_SAMPLING_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_SAMPLING_H

#include "collector/light/code/unwind.h"
#include "collector/light/own/thread.h"
#include "collector/light/sampling/pmu.h"
#include "collector/light/sampling/timer.h"
#include "collector/light/sampling/timer_suspension.h"
#include "collector/light/watch/watching.h"
#include "collector/perf/events.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct lwp_sampler_options {
    double frequency;    /* Hz of thread CPU time; 0: automatic */
    double max_overhead; /* share, 0.03 */
    const char *timer;   /* LWP_ENV_TIMER */
    bool hardware;       /* lwp_pmu_init was given events: nothing else samples */
    bool all;            /* as often as its period says, unless that costs too much */
    uint8_t verdicts;    /* enum lwps_verdict mask: what watchpoints are for */
};

struct lwp_sampling {
    struct lwp_sampler_options options;
    enum lwp_timer_kind kind; /* of the timer; hardware signals as the synchronous one does */
    bool hardware;
    struct lwp_pmu_counts missed;
    unsigned started, refused; /* threads that are, and that could not be, sampled */
    uint64_t learned_period_ns; /* the period that a thread had last; 0: none has yet */
};

extern struct lwp_sampling lwp_sampling;

enum { LWP_SAMPLER_STACK = 64 * 1024 };

/* A sampled thread. All of it is the thread's, in its signal handler. */
struct lwp_sampler {
    struct lwp_timer *timer; /* or: */
    struct lwp_pmu *pmu;
    uint64_t period_ns, base_period_ns; /* the mean */
    uint64_t next_ns;                   /* until the next sample */
    uint64_t ahead_ns;                  /* of that, before the program goes on: at a thread's start */
    uint64_t first_ns;                  /* what the thread's first sample stands for; 0: it was taken */
    unsigned of_period;                 /* samples to come after the same time again */
    uint64_t review_cpu_ns, review_spent_ns; /* on samples, at the last review */
    uint64_t heap_review_cpu_ns;             /* of allocations */
    uint64_t since_review, since_heap_review; /* periods, with and without a sample */
    unsigned closed;                         /* signals in a row that came while no samples were wanted */
    uint64_t closed_ns;                      /* CPU time between the first and the last of them */
    unsigned lost;                           /* signals since the last sample that came while nothing could be looked at */
    struct lwp_suspension suspension;
    struct lwp_watching watching;
    struct lwps_sample pending; /* waits for the execution breakpoint */
    bool waiting;
    struct lwp_frames frames;
    uint64_t last_ns; /* of the last sample, CLOCK_MONOTONIC */
    long waits;       /* of the thread for anything but a processor, when they were last looked at */
    bool debugged;
    struct lwp_code_cache *cache; /* from here on all is kept for the next thread */
    uint8_t stack[LWP_SAMPLER_STACK] __attribute__((aligned(64)));
};

/* A signal of the timer's, the hardware's or a debug register's. */
struct lwp_interrupt {
    struct lwp_thread *self;
    struct lwp_sampler *sampler; /* its, NULL: not sampled */
    const siginfo_t *info;
    ucontext_t *context;
    int debug; /* the debug register that stopped the thread, -1: none did */
};

static inline uint64_t lwp_interrupt_ip(const struct lwp_interrupt *interrupt)
{
    return (uint64_t)interrupt->context->uc_mcontext.gregs[REG_RIP];
}

#endif
