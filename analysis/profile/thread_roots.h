/* Where threads begin, so that paths that differ in nothing else can be seen to be the same. */
#ifndef LWP_ANALYSIS_PROFILE_THREAD_ROOTS_H
#define LWP_ANALYSIS_PROFILE_THREAD_ROOTS_H

#include "analysis/profile/profile.h"
#include "base/table.h"

struct lwp_thread_roots {
    struct lwp_table starts; /* functions that threads were seen to start with, but main() */
};

/* From all contexts of the profile, once they are settled. Free with lwp_thread_roots_free. */
void lwp_thread_roots_find(struct lwp_profile *profile, struct lwp_thread_roots *roots);
void lwp_thread_roots_free(struct lwp_thread_roots *roots);

/* The same path from the outermost function on that threads start with; itself when there is none on it. May add
 * contexts to the profile: pointers to them end. */
uint32_t lwp_thread_roots_cut(struct lwp_profile *profile, const struct lwp_thread_roots *roots, uint32_t context);

/* A number that is the same for objects that are, but for how the threads that allocated them began; `object` may be
 * LWP_NONE. May add contexts, too. */
uint64_t lwp_thread_roots_object(struct lwp_profile *profile, const struct lwp_thread_roots *roots, uint32_t object);

#endif
