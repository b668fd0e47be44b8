/* In which state were the caches that cores share? How much of them is a program's is another matter from minute to minute. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_STATES_H
#define LWP_ANALYSIS_ADVICE_GAIN_STATES_H

#include "analysis/advice/gain/visit.h"
#include "analysis/measure/pattern.h"

/* Sets before, after and ratio to those of the state in which `before` takes what the loop takes, or what is nearest to that between the
 * states that were timed. `paces`: nanoseconds that the loop may take; both 0: not known, and nothing changes. */
void lwp_gain_choose_state(struct lwp_pattern_times *times, const struct lwp_gain_range *paces);

/* Adds to the interval what other states would make of the ratio: none of the caches that are shared, the most that was seen, and just
 * enough for the new layout but not for today's; without those that measured->paces rules out. Where those are not known, the ratio was no
 * further from what runs show than log(ratio) is in `one_run` more. `sampled`: the part of its time that the loop waits, at most. */
void lwp_gain_states(const struct lwp_pattern_times *times, double core, double sampled, double one_run,
                     struct lwp_gain_measured *measured);

#endif
