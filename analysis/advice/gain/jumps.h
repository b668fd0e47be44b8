/* Does a loop that goes far each time always go as far? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_JUMPS_H
#define LWP_ANALYSIS_ADVICE_GAIN_JUMPS_H

#include "analysis/profile/profile.h"

/* The distance in bytes, where nearly all jumps of the stream's instruction, from one execution to the very next one, are of one distance
 * or two: it goes round its data by a fixed step, and comes back to neighbours after as many visits each time, which it does not where
 * places are drawn. 0: they differ, or few were seen. */
int64_t lwp_gain_jump(const struct lwp_profile *profile, const struct lwp_stream *stream);

#endif
