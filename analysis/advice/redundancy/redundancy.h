/* Dead stores, silent stores, silent loads, and what only the exact engine sees: how much of what was sampled, and which pairs of
 * accesses. */
#ifndef LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_H
#define LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_H

#include "analysis/profile/profile.h"

struct lwp_redundancy_total {
    bool measured;          /* anything was decided */
    struct lwp_share share; /* of what was decided */
    double wasted, total;   /* in the weight's unit; total: of all accesses of the kind */
    double close;           /* part of wasted where values are only about the same */
    double undecided;       /* share of total of which nothing is known */
    uint64_t candidates, decided;
};

/* A pair of full call paths that an item counts in. */
struct lwp_redundancy_path {
    const struct lwp_watchpoint_pair *pair;
    double share; /* of all decided accesses of the kind */
    uint64_t samples;
};

struct lwp_redundancy {
    enum lwp_watchpoint_kind kind;
    const struct lwp_watchpoint_pair *pair;   /* the largest of them */
    const struct lwp_redundancy_path *others; /* those alike but for how their threads began, or for the instruction
                                                 of a line or of the C library; the largest first */
    size_t other_count;
    uint32_t first, second; /* their contexts without that */
    struct lwp_share share; /* of all decided accesses of the kind */
    double amount;          /* wasted, in the weight's unit */
    double close;           /* share of it where values are only about the same */
    double own;             /* part of what its first contexts did of this kind: RedSpy's S of neighbours (3.4.2) */
    uint64_t samples;       /* decided as waste */
    uint64_t again, moved;  /* of them, where the thread's last one was, and elsewhere */
    const char *cause, *meaning, *remedy;
};

struct lwp_redundancies {
    struct lwp_redundancy_total totals[LWP_WATCHPOINT_KINDS];
    struct lwp_redundancy *items; /* the largest first */
    size_t count;
};

/* In profile->arena. */
void lwp_redundancy_find(struct lwp_profile *profile, struct lwp_redundancies *found);

/* redundancy_texts.c: why it happens, as far as is known, and what to do about it. */
void lwp_redundancy_explain(struct lwp_profile *profile, struct lwp_redundancy *item);

#endif
