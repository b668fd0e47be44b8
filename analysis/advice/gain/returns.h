/* How long a loop takes for a visit, from how long it takes to come back to an element. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_RETURNS_H
#define LWP_ANALYSIS_ADVICE_GAIN_RETURNS_H

#include "analysis/advice/gain/visit.h"

/* Nanoseconds a visit, its 90 % interval; both 0: not known. So many threads run the loop: each on all elements, or on a part. */
struct lwp_gain_range lwp_gain_returns(struct lwp_profile *profile, const struct lwp_gain_visit *visit, unsigned threads);

/* Times after which one instruction was at a place again, µs. */
struct lwp_gain_returned {
    double count, sum, squares;
    double own; /* the sum of what the collector took beside them */
};

/* The mean of all such times, 90 %; both 0: not known. `gap`: µs from one sample to the next, each of which may take a watch's place. */
struct lwp_gain_range lwp_gain_return_time(const struct lwp_gain_returned *seen, double gap);

/* The part of the time between that the loop ran, at least, where no places show when it was there: others may have had the processor. */
double lwp_gain_return_part(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, unsigned threads);

#endif
