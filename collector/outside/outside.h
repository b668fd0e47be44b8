/* Samples processes that run already, from lwp's own process: nothing is loaded into them, and they are not stopped. */
#ifndef LWP_COLLECTOR_OUTSIDE_OUTSIDE_H
#define LWP_COLLECTOR_OUTSIDE_OUTSIDE_H

#include "base/error.h"
#include "collector/outside/wish.h"
#include "collector/phases/phases.h"

#include <stdbool.h>
#include <stdint.h>

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
