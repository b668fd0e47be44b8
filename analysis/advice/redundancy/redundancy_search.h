/* Linear searches: how many elements they look at, and what a better search saves. */
#ifndef LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_SEARCH_H
#define LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_SEARCH_H

#include "analysis/advice/redundancy/redundancy.h"

static inline bool lwp_redundancy_is_search(enum lwp_cause cause)
{
    return cause == LWP_CAUSE_LINEAR_SEARCH || cause == LWP_CAUSE_FULL_SEARCH;
}

/* In the loop that searches: the load, or the call of the function that compares. */
uint32_t lwp_redundancy_search_place(struct lwp_profile *profile, uint32_t load);

/* The loop that searches, of a load or call in it, or in a loop inside it that compares; LWP_NONE: unknown code. */
uint32_t lwp_redundancy_search_region(struct lwp_profile *profile, uint32_t place);

/* Of the samples' weight: the loop, those inside it, and what they call, as far as loads of it were watched. */
struct lwp_share lwp_redundancy_search_share(struct lwp_profile *profile, uint32_t loop);

/* Fills the line's `searched` and `saved`, and raises its `stake` to all of the loop, of loops inside it and of what they call. */
void lwp_redundancy_search(struct lwp_profile *profile, const struct lwp_redundancy *item, struct lwp_redundant_line *line);

#endif
