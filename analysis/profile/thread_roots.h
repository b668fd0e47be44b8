/* Start routines of threads: call paths that differ only in what lies outside of them are the same. */
#ifndef LWP_ANALYSIS_PROFILE_THREAD_ROOTS_H
#define LWP_ANALYSIS_PROFILE_THREAD_ROOTS_H

#include "analysis/profile/profile.h"
#include "base/hash.h"

struct lwp_thread_roots {
    struct lwp_map starts; /* start routines seen, except main() */
};

/* From all contexts of the profile, once they are renumbered. Free with lwp_thread_roots_free. */
void lwp_thread_roots_find(struct lwp_profile *profile, struct lwp_thread_roots *roots);
void lwp_thread_roots_free(struct lwp_thread_roots *roots);

/* The path from its outermost start routine on; itself without one. May add contexts to the profile, which invalidates pointers to
 * them. */
uint32_t lwp_thread_roots_cut(struct lwp_profile *profile, const struct lwp_thread_roots *roots, uint32_t context);

/* A number that is equal for objects that differ only in the start of the threads that allocated them; `object` may be LWP_NONE.
 * May add contexts, too. */
uint64_t lwp_thread_roots_object(struct lwp_profile *profile, const struct lwp_thread_roots *roots, uint32_t object);

#endif
