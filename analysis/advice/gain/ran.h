/* Which code of a loop hardly ever runs? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_RAN_H
#define LWP_ANALYSIS_ADVICE_GAIN_RAN_H

#include "analysis/profile/profile.h"

/* Leaves out of *work, that of the region, the blocks that few samples fell on, where an iteration takes so many nanoseconds. False: there
 * are none. */
bool lwp_gain_leave_out(const struct lwp_profile *profile, uint32_t region, double iteration_ns, struct lwp_loop_work *work);

#endif
