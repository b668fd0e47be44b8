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

/* After lwp_split_advise: what is to be split is not regrouped. */
void lwp_regroup_advise(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_regroups *regroups);
void lwp_regroup_free(struct lwp_regroups *regroups);

/* By object: whether it is one of the arrays of a group. In profile->arena. */
const bool *lwp_regroup_members(struct lwp_profile *profile, const struct lwp_regroups *regroups);

/* The last name in "grid->cells", "ctx.x", which a reader would call the member; NULL: it is none, or too long for one. */
const char *lwp_regroup_member(const char *variable);

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
