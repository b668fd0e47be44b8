/* Array regrouping (LWPTool 5.3): arrays that loops use together, index by index, and that should be one array. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_REGROUP_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_REGROUP_H

#include "analysis/advice/gain/gain.h"
#include "analysis/advice/layout/split.h"

enum { LWP_REGROUP_ARRAYS_MAX = 64, LWP_REGROUP_LOOPS_MAX = 64, LWP_REGROUP_REJECTED_MAX = 32 };

/* The affinity from which arrays belong together. */
static const double lwp_regroup_together = 0.5;

/* Why two arrays must not be joined, the strongest reason first. */
enum lwp_regroup_reason {
    LWP_REGROUP_LOCATION,
    LWP_REGROUP_LIFETIME,
    LWP_REGROUP_SCHEME,
    LWP_REGROUP_RANGE,
    LWP_REGROUP_TIME,
    LWP_REGROUP_ORDER,
    LWP_REGROUP_AFFINITY,
    LWP_REGROUP_GAIN,   /* they could be, but nothing is gained */
    LWP_REGROUP_NONE,   /* none */
    LWP_REGROUP_UNKNOWN /* the samples do not tell */
};

struct lwp_regroup_array {
    uint32_t object;
    uint32_t module; /* that holds or allocates it */
    uint64_t place;  /* there: line of the allocation, or address */
    uint64_t start, element_bytes, elements;
    uint64_t alignment;
    bool on_heap;
    const char *name; /* a C identifier, its own in the profile's candidates */
    const struct lwp_type *type;
};

/* How arrays are used in one loop. */
struct lwp_regroup_loop {
    uint32_t region;
    double weight; /* of stalls on the candidates in it */
    struct lwp_tally of[LWP_REGROUP_ARRAYS_MAX];
    uint64_t accesses[LWP_REGROUP_ARRAYS_MAX];
    bool uses[LWP_REGROUP_ARRAYS_MAX];
    uint64_t first_ns, last_ns;          /* when it was seen */
    struct lwp_loop_shape shape;         /* of its heaviest access; all zero: not known */
    bool steps[LWP_REGROUP_ARRAYS_MAX];  /* by its code it moves on by a constant each time round */
    bool vector[LWP_REGROUP_ARRAYS_MAX]; /* mostly with instructions that span several elements */
};

struct lwp_regroup_verdict {
    enum lwp_regroup_reason reason;
    const char *detail; /* half a sentence, or NULL */
    bool weak;          /* overruled when each goes together with a third array in the same loop */
};

/* What the analysis of regrouping works on. */
struct lwp_regroup_candidates {
    struct lwp_regroup_array arrays[LWP_REGROUP_ARRAYS_MAX];
    size_t count;
    struct lwp_regroup_loop *loops; /* heaviest first */
    size_t loop_count;
    struct lwp_traversals walks;               /* with loops' versions joined */
    struct lwp_regroup_verdict *verdicts; /* of each pair: count * count */
    double *affinity;                     /* likewise (eq. 11) */
};

struct lwp_regroup_rejected {
    uint32_t object;
    const char *name, *with; /* `with`: the array of the group it does not go with */
    struct lwp_regroup_verdict verdict;
};

struct lwp_regroup {
    size_t count;
    size_t *members; /* of candidates->arrays, in the order of the new structure */
    uint64_t bytes;  /* of one element of the new array */
    struct lwp_tally weight;
    struct lwp_regroup_rejected *rejected;
    size_t rejected_count;
    const char *confidence;
    struct lwp_gain gain;
    const char *declaration;
};

struct lwp_regroups {
    struct lwp_regroup_candidates candidates;
    struct lwp_regroup *regroups; /* largest expected gain first */
    size_t count;
    /* Arrays that share loops but are in no advice: pairs (array of `other`), or groups that gain nothing. */
    struct lwp_regroup_rejected *apart;
    size_t apart_count;
};

/* After lwp_split_advise: what is to be split is not joined. */
void lwp_regroup_advise(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_regroups *regroups);
/* By object: whether it is one of the arrays of a group. In profile->arena. */
const bool *lwp_regroup_members(struct lwp_profile *profile, const struct lwp_regroups *regroups);

void lwp_regroup_free(struct lwp_regroups *regroups);

/* regroup_candidates.c: the arrays and loops looked at. What is to be split is no candidate. */
void lwp_regroup_collect(struct lwp_profile *profile, const struct lwp_splits *splits,
                         struct lwp_regroup_candidates *candidates);

/* regroup_pairs.c: fills in verdicts and affinity. */
void lwp_regroup_judge(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates);

/* regroup_rejected.c: "order", "range", ... */
const char *lwp_regroup_reason_name(enum lwp_regroup_reason reason);

/* Arrays that share loops with group `which` (group[array]) and are left out, with the reason against the member they
 * share most with, into regroup->rejected; told[array] is set for each. */
void lwp_regroup_reject(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, const int *group,
                        int which, struct lwp_regroup *regroup, bool *told);

/* Pairs that share most of their loops and were not joined, where no advice told of either, into regroups->apart. */
void lwp_regroup_apart(struct lwp_profile *profile, struct lwp_regroups *regroups, const bool *told);

/* regroup_order.c: eq. 10 and beyond, for two arrays in one loop. `walk_a` and `walk_b` may be NULL. */
struct lwp_regroup_verdict lwp_regroup_relate(const struct lwp_regroup_array *a, const struct lwp_traversal *walk_a,
                                              const struct lwp_regroup_array *b, const struct lwp_traversal *walk_b,
                                              const struct lwp_traversal_pair *pair);

/* Of several meetings of two arrays: at how many they were at nearly one index. */
struct lwp_regroup_meetings {
    size_t close, close_near, loose, loose_near;
    size_t equal; /* within a few elements of so many that it cannot be chance */
};

void lwp_regroup_count(const struct lwp_regroup_array *a, const struct lwp_traversal *walk_a,
                       const struct lwp_regroup_array *b, const struct lwp_traversal *walk_b,
                       const struct lwp_traversal_pair *pair, struct lwp_regroup_meetings *sum);

/* The indices at each meeting; LWP_TRAVERSAL_MEETINGS at most. */
size_t lwp_regroup_indices(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b,
                           const struct lwp_traversal_pair *pair, bool close, double *of_a, double *of_b);

/* How far b's index is ahead of a's, likewise. */
size_t lwp_regroup_ahead(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b,
                         const struct lwp_traversal_pair *pair, bool close, double *ahead);

/* regroup_loop.c: what was seen of a pair, over all loops that use both; and what one loop adds to all pairs. */
struct lwp_regroup_seen {
    double common, separate, joined, conflict, heaviest; /* weights of loops */
    double parts;                                        /* of both arrays in common loops, even parts of each */
    struct lwp_regroup_verdict worst;
};

void lwp_regroup_look(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                      const struct lwp_regroup_loop *loop, struct lwp_regroup_seen *seen);

/* regroup_gain.c */
uint64_t lwp_regroup_pack(const struct lwp_regroup_candidates *candidates, const size_t *members, size_t count,
                          uint64_t *offsets);
void lwp_regroup_gain(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                      struct lwp_regroup *regroup);

/* regroup_text.c */
const char *lwp_regroup_list(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                             const struct lwp_regroup *regroup); /* "J, c, dN and dS" */
const char *lwp_regroup_declaration(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                                    const struct lwp_regroup *regroup);
void lwp_regroup_names(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates);

#endif
