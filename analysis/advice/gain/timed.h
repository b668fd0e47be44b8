/* How long do patterns take on this machine? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_TIMED_H
#define LWP_ANALYSIS_ADVICE_GAIN_TIMED_H

#include "analysis/measure/pattern.h"
#include "analysis/profile/profile.h"

/* Times both, or finds their times among those that were taken already: several times where the region takes so much of all time (LWP_NONE:
 * all of it) that what runs differ by would be seen in the program's speed-up. False: not allowed, no time left, or it failed. */
bool lwp_gain_times(struct lwp_profile *profile, uint32_t region, const struct lwp_pattern *before, const struct lwp_pattern *after,
                    struct lwp_pattern_times *times);

/* ... once only: to see whether it is the right pattern. */
bool lwp_gain_times_once(struct lwp_profile *profile, uint32_t region, const struct lwp_pattern *before, const struct lwp_pattern *after,
                         struct lwp_pattern_times *times);

/* By how much one run of a pattern that waits for memory all of the time differs from other runs of it, right after each other: a
 * standard deviation of log(ratio), docs/gains.md. */
static const double lwp_gain_run_off = 0.12;

#endif
