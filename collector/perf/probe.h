/* Whether something can be measured here: by doing it. */
#ifndef LWP_PERF_PROBE_H
#define LWP_PERF_PROBE_H

#include "collector/perf/event.h"

/* Runs `probe` in a child process, since it may take signals. What it returns: 0 or an errno; EINTR: a signal killed it. */
int lwp_probe(int (*probe)(const void *given), const void *given);

/* For lwp_probe(): whether debug registers stop a thread. ENODATA: they can be opened, but do not. */
int lwp_probe_breakpoint(const void *unused);

/* Takes samples of its own loads and stores, in the way the sampler does. 0, or why not: an errno; ENODATA: the events
 * can be opened, but no sample has come whose address is right. */
int lwp_pmu_probe(const struct lwp_pmu_events *events);

/* One sentence for what lwp_pmu_probe returned, without a full stop. */
const char *lwp_pmu_probe_text(int why);

#endif
