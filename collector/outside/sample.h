/* A sample of a followed process: looks at what it needs, and writes it. */
#ifndef LWP_COLLECTOR_OUTSIDE_SAMPLE_H
#define LWP_COLLECTOR_OUTSIDE_SAMPLE_H

#include "collector/outside/followed.h"
#include "collector/perf/sample.h"

/* Writes the sample to its thread's file. `attr`: of the event that took it. */
void lwp_outside_sample(struct lwp_followed *followed, const struct perf_event_attr *attr, const struct lwp_perf_sample *from);

#endif
