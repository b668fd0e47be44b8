/* What a new layout does to one loop: the loop's accesses are run on this machine in both layouts. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_MEASURED_H
#define LWP_ANALYSIS_ADVICE_GAIN_MEASURED_H

#include "analysis/advice/gain/gain.h"
#include "analysis/advice/gain/visit.h"
#include "analysis/measure/pattern.h"

/* False: it was not measured (not allowed, another machine, no time left, accesses whose order is not known); then only `pace`. */
bool lwp_gain_measure(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_placement *before,
                      const struct lwp_placement *after, struct lwp_gain_measured *measured);

/* The part of all time that is saved, at least and at most, of a loop that takes `whole`. Its share and the ratio come from different
 * samples, so that they are not both at their worst at once: their errors are added as squares. */
struct lwp_gain_range lwp_gain_part(const struct lwp_gain_measured *measured, const struct lwp_share *whole);

/* ---- for other patterns ---- */

/* The pace, or 0 where it is less than what the loop computes takes: then it does not go over all that lies between two of its places, as
 * where they are on pages with something else. */
double lwp_gain_possible_pace(double pace, const struct lwp_gain_visit *visit);

/* The least that a new layout's time can be to today's. `computes`: the part of the run's time that it takes with all data in the nearest
 * cache. `as_long`: the run takes the loop's own time. */
double lwp_gain_least_ratio(const struct lwp_gain_range *stalls, double computes, bool as_long);

/* The most that a loop may be stalled, of its time, where `sampled` is what samples say: what an iteration has loaded is done with after
 * `tail_ns`, the loop takes `core` a round with all data in the nearest cache, and `pace` in all. */
double lwp_gain_stalls_most(double sampled, double tail_ns, double core, double pace);

/* Whether a pattern is the loop: it waits for memory as samples say that the loop does, and takes about the loop's own time (`pace`, ns; 0:
 * not known). *same: no further from that than paces are. */
bool lwp_gain_resembles(const struct lwp_pattern_times *times, const struct lwp_gain_range *stalls, double pace, bool *same);

/* Whether there were several runs, which differ by no more than nine in ten do of a pattern that waits all of the time. */
bool lwp_gain_runs_agree(const struct lwp_pattern_times *times);

/* What times say of the new layout's time to today's: ratio, low and high. `stalls`: the part of its time that the loop was seen to wait;
 * `pace`: of the loop itself, ns; 0: not known. */
void lwp_gain_interval(const struct lwp_pattern_times *times, const struct lwp_gain_range *stalls, double pace,
                       struct lwp_gain_measured *measured);

#endif
