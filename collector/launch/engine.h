/* Chooses the engine: the one asked for, or the best that takes samples on this machine. */
#ifndef LWP_LAUNCH_ENGINE_H
#define LWP_LAUNCH_ENGINE_H

#include "base/error.h"
#include "collector/perf/events.h"

#include <stdbool.h>

/* Loads with less latency hit a close cache and are not sampled; the default of perf mem record. */
enum { LWP_ENGINE_LATENCY = 30 };

struct lwp_engine {
    const char *name, *weight_unit; /* as in run.json */
    char event[512];                /* what is counted, in words */
    char pmu[1024];                 /* LWP_ENV_PMU; "": the timer samples */
    bool exact;                     /* it runs under lwp's Valgrind tool, nothing is preloaded */
};

/* `wanted`: auto, timer, pmu or exact; `event`: mem, page-faults, or NULL: not said; `period`: events between samples were given.
 * When the pmu was asked for and does not sample here, the error says why and what to do. */
int lwp_engine_choose(const char *wanted, const char *event, bool period, struct lwp_engine *engine,
                      struct lwp_error *err);

/* Loads and stores as this processor's PMU samples them: 0, or why there are none (an errno as lwp_pmu_probe returns it,
 * ENOENT when none are known), with a sentence in `found`. */
int lwp_engine_pmu(struct lwp_pmu_events *events, struct lwp_error *found);

#endif
