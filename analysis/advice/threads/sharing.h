/* Sharing: cache lines that bounce between threads, truly (the same bytes) or falsely. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_SHARING_H
#define LWP_ANALYSIS_ADVICE_THREADS_SHARING_H

#include "analysis/profile/profile.h"

enum { LWP_SHARING_THREADS = 8 };

struct lwp_sharing_use {
    const struct lwp_interaction_use *use;
    const char *field; /* what it uses of the line: "hits", "counters.hits, counters.end"; NULL: not known */
};

struct lwp_sharing {
    bool is_false;
    uint32_t object;                                  /* of the line's first byte used */
    struct lwp_sharing_use uses[LWP_SHARING_THREADS]; /* of the line with most hits: the threads with most hits on it */
    size_t use_count, threads;                        /* threads: of all, also those not in `uses` */
    size_t lines;                                     /* of the same object */
    struct lwp_tally hits;                            /* of all these lines */
    struct lwp_share share;                           /* of all time */
    const char *name;                                 /* of the object */
    const char *advice;
    const char *declaration; /* with each thread's part on lines of its own; NULL: not known, or of no use */
};

struct lwp_sharings {
    struct lwp_sharing *items; /* the largest first */
    size_t count;
};

/* In profile->arena. */
void lwp_sharing_find(struct lwp_profile *profile, struct lwp_sharings *found);

/* padding.c: the declaration, C or C++, that gives each thread's part of a falsely shared line lines of its own. In profile->arena;
 * NULL where the type or its language is not known, or the type is not the project's own. */
const char *lwp_padding_declare(struct lwp_profile *profile, const struct lwp_sharing *item);

#endif
