/* A falsely shared cache line in, the declaration out that gives each thread's part lines of its own. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_PADDING_H
#define LWP_ANALYSIS_ADVICE_THREADS_PADDING_H

#include "analysis/advice/threads/sharing.h"

/* C or C++ text in profile->arena; NULL where the type or its language is not known, or it is not the project's own. */
const char *lwp_padding_declare(struct lwp_profile *profile, const struct lwp_sharing *item);

#endif
