/* Result directories in, profile out. */
#ifndef LWP_ANALYSIS_LOAD_LOAD_H
#define LWP_ANALYSIS_LOAD_LOAD_H

#include "analysis/profile/profile.h"

/* Damaged, cut and newer files become notes and the rest is used. Fails when there is nothing to read at all.
 * profile->jobs says how many threads read. Of several ranks (ranks.h) only the first has the profile then. */
int lwp_load(struct lwp_profile *profile, const char *const *dirs, size_t count, struct lwp_error *err);

#endif
