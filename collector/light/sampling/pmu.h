/* Samples of one thread taken by hardware (PEBS, IBS) or by a software event that knows addresses (page faults): in place
 * of the timer. Each sample sends the thread a synchronous SIGTRAP, as the timer does, and lies in a ring by then. */
#ifndef LWP_COLLECTOR_LIGHT_SAMPLING_PMU_H
#define LWP_COLLECTOR_LIGHT_SAMPLING_PMU_H

#include "format/record.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lwp_pmu; /* mmap'ed, one a thread */

struct lwp_pmu_counts {
    uint64_t lost, throttled, kernel;
};

/* Once: takes LWP_ENV_PMU's text and LWP_ENV_PERIOD's number (0: as often as the sampler wants). The unit of costs is LWPS_WEIGHT_NS when
 * there is none, or not a good one: then the timer samples. */
enum lwps_weight_unit lwp_pmu_init(const char *events, uint64_t period);

/* Whether the events can be opened on the calling thread. */
bool lwp_pmu_works(void);

/* NULL: refused. */
struct lwp_pmu *lwp_pmu_start(pid_t tid);

/* Makes it about a sample every `period_ns` of the thread's time, of which `elapsed_ns` went by since the last call; not more
 * often than LWP_ENV_PERIOD says. */
void lwp_pmu_set_rate(struct lwp_pmu *pmu, uint64_t period_ns, uint64_t elapsed_ns);

/* The oldest sample not yet taken, without context, width and home. Passed over are those in the kernel, which are counted,
 * and those of lwp itself: in this library, or after `until` (CLOCK_MONOTONIC), when the handler began. */
bool lwp_pmu_take(struct lwp_pmu *pmu, uint64_t until, struct lwps_sample *sample);

/* Passes over all there are: they were taken of lwp itself. */
void lwp_pmu_drop(struct lwp_pmu *pmu);

void lwp_pmu_run(struct lwp_pmu *pmu, bool on); /* off for a while, and on again */

/* In the process that started it; adds what it missed to `counts`, which all threads share. */
void lwp_pmu_stop(struct lwp_pmu *pmu, struct lwp_pmu_counts *counts);
void lwp_pmu_forget(struct lwp_pmu *pmu); /* in the child of a fork */

#endif
