/* Which data would huge pages be good for, from samples? */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_HUGE_PAGES_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_HUGE_PAGES_H

#include "analysis/advice/locality/locality_advice.h"

/* Adds tips of the kind "pages", whose `row` is one of `sampled`, in profile->arena: of loops that go anywhere in more memory than the TLB
 * knows the pages of, where a run of their accesses on huge pages was faster. None where nothing is measured, or where the program had
 * huge pages. After lwp_loop_order_advise. */
void lwp_huge_pages_advise(struct lwp_profile *profile, const struct lwp_sampled_locality *sampled, struct lwp_locality_tips *tips);

#endif
