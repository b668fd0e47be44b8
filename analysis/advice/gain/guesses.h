/* How often does a loop wait because a jump was guessed wrong, not for memory? */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_GUESSES_H
#define LWP_ANALYSIS_ADVICE_GAIN_GUESSES_H

#include "analysis/measure/pattern.h"
#include "analysis/profile/profile.h"

/* Jumps each time round that go either way as if drawn, at most: one that goes the rarer way in a tenth of cases counts like a fifth of one
 * that is drawn. *open: how many jumps there are past some code: how often they are taken no sample says. */
double lwp_gain_guesses(const struct lwp_profile *profile, uint32_t region, double *open);

/* The times of a pattern with so many of them a round, from its times without any and with one. */
struct lwp_pattern_times lwp_gain_mixed(const struct lwp_pattern_times *without, const struct lwp_pattern_times *with, double guesses);

#endif
