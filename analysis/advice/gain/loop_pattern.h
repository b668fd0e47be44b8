/* Which pattern has a loop's accesses? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_LOOP_PATTERN_H
#define LWP_ANALYSIS_ADVICE_GAIN_LOOP_PATTERN_H

#include "analysis/advice/gain/gain.h"
#include "analysis/advice/gain/visit.h"
#include "analysis/measure/pattern.h"

/* The loop's accesses in a layout. `chain`: cycles that a visit waits for the one before; `spacing`: of today's elements. False: they
 * cannot be run. */
bool lwp_gain_pattern(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_placement *placement, double chain,
                      double spacing, struct lwp_pattern *pattern);

/* Threads that were in the loop at one time, as far as that was seen of its first array; else of those of the program as many as work
 * as much as the busiest. */
unsigned lwp_gain_threads(const struct lwp_profile *profile, const struct lwp_gain_visit *visit);

/* Cycles a visit of the loop's chain beside its sums with a factor. */
double lwp_gain_chain_cycles(const struct lwp_loop_work *work, double visits);

/* Sets how much a round of a loop computes that makes so many `visits`, and how long it waits for the round before. */
void lwp_gain_computes(const struct lwp_loop_work *work, double visits, struct lwp_pattern *pattern);

#endif
