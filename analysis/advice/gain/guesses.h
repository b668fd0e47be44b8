/* How often does a loop wait because a jump was guessed wrong, not for memory? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_GUESSES_H
#define LWP_ANALYSIS_ADVICE_GAIN_GUESSES_H

#include "analysis/measure/pattern.h"
#include "analysis/measure/pattern.h"
#include "analysis/profile/profile.h"

/* Jumps each time round that go either way as if drawn, at most: one that goes the rarer way in a tenth of cases counts like a fifth of one
 * that is drawn. */
struct lwp_guesses {
    double ways; /* of those with code of its own each way: perhaps one of two cursors goes on */
    double past; /* of those past some code, as looks at what comes next say; */
    double open; /* ... and as many of which they do not say it */
};

struct lwp_guesses lwp_gain_guesses(const struct lwp_profile *profile, uint32_t region);

/* The times of a pattern with so many of them a round, from its times without any and with one. */
struct lwp_pattern_times lwp_gain_mixed(const struct lwp_pattern_times *without, const struct lwp_pattern_times *with, double guesses);

#endif
