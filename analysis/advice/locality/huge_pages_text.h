/* How is a tip to use huge pages said? */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_HUGE_PAGES_TEXT_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_HUGE_PAGES_TEXT_H

#include "analysis/advice/locality/locality_advice.h"

/* "a, b and c": the tip's objects; in profile->arena. */
const char *lwp_huge_pages_names(struct lwp_profile *profile, const struct lwp_locality_tip *tip);

/* Sets title and next step, in profile->arena, by the tip's objects and its region. */
void lwp_huge_pages_say(struct lwp_profile *profile, struct lwp_locality_tip *tip);

#endif
