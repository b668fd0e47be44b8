/* How much other data goes through a core's caches between two rounds of a loop? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_DISPLACED_H
#define LWP_ANALYSIS_ADVICE_GAIN_DISPLACED_H

#include "analysis/advice/gain/visit.h"
#include "analysis/measure/pattern.h"
#include "analysis/profile/profile.h"

/* Bytes of the objects that loops other than `region` go through, without `objects`: at most so much, as they may run at another time. */
double lwp_gain_displaced(const struct lwp_profile *profile, uint32_t region, const uint32_t *objects, size_t count);

/* Whether a loop of so much weight takes long enough to go through much data beside one of the other weight. */
bool lwp_gain_displaces(double weight, double other);

/* The time of a visit in the new layout, with such data between. False: it is that of the loop alone. INFINITY: it could not be run. */
bool lwp_gain_time_displaced(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_pattern *today,
                             const struct lwp_pattern *changed, double *after);

/* Widens what was measured of a loop alone, and takes its middle. `ratio`: of the new layout's time to today's, where other loops displace
 * the new one's data; INFINITY: not known. How much goes through a core's caches in one turn is not known: the truth lies between. */
void lwp_gain_of_displaced(double ratio, struct lwp_gain_measured *measured);

#endif
