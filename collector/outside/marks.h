/* Where a process says LWP_BEGIN() and LWP_END() (lwp.h), and which of them it just did. */
#ifndef LWP_COLLECTOR_OUTSIDE_MARKS_H
#define LWP_COLLECTOR_OUTSIDE_MARKS_H

#include "collector/outside/events.h"
#include "collector/outside/followed.h"
#include "collector/perf/sample.h"

#include <stdbool.h>

/* Breakpoints at all of them, on all threads of a process that begins to be followed. Says where none can be set. `region`: nothing is
 * recorded before the first LWP_BEGIN(), `first`: of the process that was asked for. */
void lwp_marks_follow(struct lwp_events *events, struct lwp_followed *followed, bool region, bool first);

/* A thread came to one of them. NULL: its process is left out. */
void lwp_marks_see(struct lwp_followed *followed, const struct perf_event_attr *attr, const struct lwp_perf_sample *sample);

#endif
