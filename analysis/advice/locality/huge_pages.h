/* Which data would huge pages be good for, from samples? */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_HUGE_PAGES_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_HUGE_PAGES_H

#include "analysis/advice/gain/measured.h"
#include "analysis/advice/locality/locality_advice.h"

/* Adds tips of the kind "pages", whose `row` is one of `sampled`, in profile->arena: of loops that go anywhere in more memory than the TLB
 * knows the pages of, where a run of their accesses on huge pages was faster. None where nothing is measured, or where the program had
 * huge pages. After lwp_loop_order_advise. */
void lwp_huge_pages_advise(struct lwp_profile *profile, const struct lwp_sampled_locality *sampled, struct lwp_locality_tips *tips);

/* What times of both kinds of pages say of a loop that takes `whole` of all time and waits `stalls` of its own, where `sampled` of the
 * program's time was: sets share, speedup and gain. False: no gain is sure; one run shows none, as what a machine does to pages may slow
 * down either kind for as long as a run takes. */
bool lwp_huge_pages_gain(const struct lwp_pattern_times *times, const struct lwp_gain_range *stalls, const struct lwp_share *whole,
                         double sampled, struct lwp_locality_tip *tip);

#endif
