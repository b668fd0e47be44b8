/* Samples processes that run already, from lwp's own process: nothing is loaded into them, and they are not stopped. */
#ifndef LWP_COLLECTOR_OUTSIDE_OUTSIDE_H
#define LWP_COLLECTOR_OUTSIDE_OUTSIDE_H

#include "base/error.h"
#include "collector/phases/phases.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lwp_outside_wish {
    pid_t pid;
    bool children;              /* its child processes, too */
    const char *only;           /* patterns (base/pattern.h) of the programs that are wanted; NULL: all */
    bool region;                /* nothing is recorded before a process says LWP_BEGIN() */
    double frequency;           /* samples a second of a thread's CPU time; 0: automatic */
    double max_overhead;        /* percent of the process's CPU time, which the frequency is kept below */
    double delay_s, duration_s; /* duration 0: until it ends */
    void (*begin)(
        void *of); /* lets a program begin that lwp holds: signals are for that, too, and do not end the sampling; NULL: it runs */
    void *of;
};

struct lwp_outside_end {
    double wall_s, cpu_s; /* sampled; cpu_s: of the processes meanwhile */
    bool process_ended;
    int ended_by; /* the signal sent to lwp that did, 0: none */
    uint64_t lost, throttled;
};

struct lwp_outside;

/* Opens the events, which do not count yet. NULL: `err` says what is in the way. SIGINT, SIGTERM and SIGHUP stay blocked. */
struct lwp_outside *lwp_outside_new(const struct lwp_outside_wish *wish, struct lwp_error *err);

/* Samples into the result directory `dir` until the time is over, the process has ended, or a signal says so, and only when the phases
 * (NULL: nobody changes them) are on. */
int lwp_outside_run(struct lwp_outside *outside, const char *dir, struct lwp_phases *phases, struct lwp_outside_end *end,
                    struct lwp_error *err);

void lwp_outside_free(struct lwp_outside *outside);

#endif
