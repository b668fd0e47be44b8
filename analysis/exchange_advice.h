/* What to do about communication: the optimisations of Mazaheri et al., table 1, as the metrics call for them. */
#ifndef LWP_ANALYSIS_EXCHANGE_ADVICE_H
#define LWP_ANALYSIS_EXCHANGE_ADVICE_H

#include "analysis/exchange.h"

enum { LWP_EXCHANGE_ADVICE = 4 };

/* Sentences for a region, in the profile's arena; returns how many. */
size_t lwp_exchange_advise(struct lwp_profile *profile, const struct lwp_exchange *found, const struct lwp_exchange_region *region,
                           const char *advice[LWP_EXCHANGE_ADVICE]);

#endif
