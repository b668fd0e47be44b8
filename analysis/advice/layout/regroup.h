/* Array regrouping, SoA to AoS (LWPTool 5.3): arrays that loops use together, index by index, and that should be one array. */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_REGROUP_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_REGROUP_H

#include "analysis/advice/gain/gain.h"
#include "analysis/advice/layout/conflicts.h"
#include "analysis/advice/layout/split.h"

enum { LWP_REGROUP_ARRAYS_MAX = 64, LWP_REGROUP_LOOPS_MAX = 64, LWP_REGROUP_REJECTED_MAX = 32 };

/* Why two arrays must not be regrouped, the strongest reason first. */
enum lwp_regroup_reason {
    LWP_REGROUP_LOCATION,
    LWP_REGROUP_LIFETIME,
    LWP_REGROUP_SCHEME,
    LWP_REGROUP_RANGE,
    LWP_REGROUP_TIME,
    LWP_REGROUP_ORDER,
    LWP_REGROUP_AFFINITY,
    LWP_REGROUP_GAIN,   /* none, but one array of both is not expected to pay */
    LWP_REGROUP_NONE,   /* none */
    LWP_REGROUP_UNKNOWN /* the samples do not show it */
};

struct lwp_regroup_verdict {
    enum lwp_regroup_reason reason;
    const char *detail; /* half a sentence, or NULL */
    bool weak;          /* overruled when each goes together with a third array in the same loop */
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

/* The arrays and loops looked at. */
struct lwp_regroup_candidates {
    struct lwp_regroup_array arrays[LWP_REGROUP_ARRAYS_MAX];
    size_t count;
    struct lwp_regroup_loop *loops; /* heaviest first (regroup_internal.h) */
    size_t loop_count;
    struct lwp_traversals traversals;     /* with loops' versions merged */
    struct lwp_regroup_verdict *verdicts; /* of each pair: count * count */
    double *affinity;                     /* likewise (eq. 11) */
};

/* Eq. 9-10 of a pair in the heaviest loop that uses both. Its bounds leave out 2 % at either end, for stray samples. */
struct lwp_regroup_pattern {
    uint32_t region;             /* LWP_NONE: no loop uses both, or too few accesses to one were seen in it */
    double low[2], high[2];      /* parts of the arrays' lengths that it goes over, 0 to 1 (eq. 9) */
    double from_ns[2], to_ns[2]; /* when, from the process's start */
    bool conflict;               /* eq. 10 */
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
    struct lwp_regroup *left; /* that are not advised, as they gain too little, or not surely enough */
    size_t left_count;
    int cluster[LWP_REGROUP_ARRAYS_MAX]; /* candidates with one number go together, advised or not; -1: with none */
    /* Arrays that share loops but are in no advice: pairs (array of `other`), or groups that gain nothing. */
    struct lwp_regroup_rejected *apart;
    size_t apart_count;
};

/* The least speed-up for which arrays are advised to be one, at the low end. */
extern const double lwp_regroup_needs;

/* After lwp_split_advise: what is to be split is not regrouped. */
void lwp_regroup_advise(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_regroups *regroups);
void lwp_regroup_free(struct lwp_regroups *regroups);

/* By object: whether it is one of the arrays of a group. In profile->arena. */
const bool *lwp_regroup_members(struct lwp_profile *profile, const struct lwp_regroups *regroups);

/* The last name in "grid->cells", "ctx.x", which a reader would call the member; NULL: it is none, or too long for one. */
const char *lwp_regroup_member(const char *variable);

/* By candidate: the number of its class (5.3.1). All arrays of a class agree in location, lifetime and scheme; each is in the first
 * class that it fits. */
void lwp_regroup_classes(const struct lwp_regroup_candidates *candidates, size_t *classes);

struct lwp_regroup_pattern lwp_regroup_pattern(const struct lwp_regroup_candidates *candidates, size_t a, size_t b);

/* Of a pair of candidates: NONE where advice joins them, else why they are apart, in half a sentence. */
struct lwp_regroup_verdict lwp_regroup_pair_verdict(const struct lwp_regroups *regroups, size_t a, size_t b);

/* "order", "range", ... */
const char *lwp_regroup_reason_name(enum lwp_regroup_reason reason);

/* "J, c, dN and dS" */
const char *lwp_regroup_list(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                             const struct lwp_regroup *regroup);

/* layout_replay.c: tries splits, regroups and moved arrays out. The part of the trace that was kept is replayed through the model of the
 * caches, with the data where it is and where it would be; into `replay` of each gain, all zero where nothing was traced. Regroups and
 * moves with which more accesses miss are dropped, with a note. `regroups` and `conflicts` may be NULL. */
void lwp_layout_replay(struct lwp_profile *profile, struct lwp_splits *splits, struct lwp_regroups *regroups,
                       struct lwp_conflicts *conflicts);

#endif
