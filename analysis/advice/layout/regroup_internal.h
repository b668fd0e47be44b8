/* What the files of array regrouping know of each other, in the order in which they work. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_REGROUP_INTERNAL_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_REGROUP_INTERNAL_H

#include "analysis/advice/layout/regroup.h"

/* How arrays are used in one loop. */
struct lwp_regroup_loop {
    uint32_t region;
    double weight; /* of stalls on the candidates in it */
    struct lwp_tally of[LWP_REGROUP_ARRAYS_MAX];
    uint64_t accesses[LWP_REGROUP_ARRAYS_MAX];
    bool uses[LWP_REGROUP_ARRAYS_MAX];
    uint64_t first_ns, last_ns;           /* when it was seen */
    struct lwp_loop_shape shape;          /* of its heaviest access; all zero: not known */
    double step[LWP_REGROUP_ARRAYS_MAX];  /* elements that it moves on each time round; 0: not known */
    bool strided[LWP_REGROUP_ARRAYS_MAX]; /* by its code it moves on by a constant each time round */
    bool vector[LWP_REGROUP_ARRAYS_MAX];  /* mostly with instructions that span several elements */
};

/* regroup_candidates.c: the arrays and loops looked at. What is to be split is no candidate. */
void lwp_regroup_collect(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_regroup_candidates *candidates);

/* regroup_order.c: an array in one loop, and what samples show of two of them. */
struct lwp_regroup_use {
    const struct lwp_regroup_array *array;
    const struct lwp_traversal *traversal; /* NULL: none was seen */
    double step;                           /* elements from one iteration to the next; 0: not known */
};

/* Eq. 10 and beyond. `pair` NULL: never seen together. */
struct lwp_regroup_verdict lwp_regroup_relate(struct lwp_regroup_use a, struct lwp_regroup_use b, const struct lwp_traversal_pair *pair);

/* Of several meetings of two arrays: at how many they were at nearly one index. */
struct lwp_regroup_meetings {
    size_t close, close_near, loose, loose_near;
    size_t equal; /* within a few elements of so many that it cannot be chance */
};

void lwp_regroup_count(struct lwp_regroup_use a, struct lwp_regroup_use b, const struct lwp_traversal_pair *pair,
                       struct lwp_regroup_meetings *sum);

/* The indices at each of a pair's meetings; LWP_TRAVERSAL_MEETINGS at most. */
size_t lwp_regroup_indices(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b, const struct lwp_traversal_pair *pair,
                           const struct lwp_traversal_meetings *meetings, double *of_a, double *of_b);

/* How far b's index is ahead of a's, likewise. */
size_t lwp_regroup_ahead(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b, const struct lwp_traversal_pair *pair,
                         const struct lwp_traversal_meetings *meetings, double *ahead);

/* The range of 96 % of the places (or less, when they are few): of indices as parts of the length (eq. 9), or of times. False: too few. */
bool lwp_regroup_bounds(struct lwp_regroup_use use, bool time, double *low, double *high);

/* regroup_loop.c: what was seen of a pair, over all loops that use both; and what one loop adds to all pairs. */
struct lwp_regroup_seen {
    double common, separate, together, conflict, heaviest; /* weights of loops */
    double parts;                                          /* of both arrays in common loops, even parts of each */
    struct lwp_regroup_verdict worst;
};

void lwp_regroup_look(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                      const struct lwp_regroup_loop *loop, struct lwp_regroup_seen *seen);

/* regroup_pairs.c: fills in verdicts and affinity, and the affinity from which arrays belong in one group. */
static const double lwp_regroup_affinity_least = 0.5;
void lwp_regroup_judge(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates);

/* regroup_gain.c: fills in the size of the new structure and the gain. */
void lwp_regroup_gain(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, struct lwp_regroup *regroup);

/* regroup_rejected.c: arrays that share loops with group `which` (group[array]) and are left out, with the reason against the
 * member they share most with, into regroup->rejected; reported[array] is set for each. */
void lwp_regroup_reject(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, const int *group, int which,
                        struct lwp_regroup *regroup, bool *reported);

/* The verdict of two arrays that no advice joins, with its half sentence. */
struct lwp_regroup_verdict lwp_regroup_why(const struct lwp_regroup_candidates *candidates, size_t a, size_t b);

/* Pairs that share most of their loops and are in no group, where no advice reports either, into regroups->apart. */
void lwp_regroup_apart(struct lwp_profile *profile, struct lwp_regroups *regroups, const bool *reported);

/* regroup_text.c */
const char *lwp_regroup_declaration(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                                    const struct lwp_regroup *regroup);
void lwp_regroup_names(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates);

#endif
