/* Which tables of lists have lists so long that searches wait for them? */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_LONG_LISTS_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_LONG_LISTS_H

#include "analysis/advice/locality/locality_advice.h"

/* Adds tips of the kind "lists", whose `row` is one of `sampled`, in profile->arena. After lwp_locality_sampled_find(). */
void lwp_long_lists_advise(struct lwp_profile *profile, const struct lwp_sampled_locality *sampled, struct lwp_locality_tips *tips);

/* Whether one of them is about the loop, or about these nodes. */
bool lwp_long_lists_are_in(const struct lwp_locality_tips *tips, uint32_t region);
bool lwp_long_lists_are_of(const struct lwp_locality_tips *tips, uint32_t nodes);

#endif
