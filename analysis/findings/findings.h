/* One ranked list over all advice. */
#ifndef LWP_ANALYSIS_FINDINGS_FINDINGS_H
#define LWP_ANALYSIS_FINDINGS_FINDINGS_H

#include "analysis/advice/layout/regroup.h"
#include "analysis/advice/layout/split.h"
#include "analysis/advice/locality/locality_advice.h"
#include "analysis/advice/redundancy/redundancy.h"
#include "analysis/advice/threads/thread_findings.h"

struct lwp_finding {
    const char *id, *kind, *title, *severity, *next_step;
    double share, low, high; /* low 0: the gain is not known */
    size_t index;            /* of what it is about, in its kind's list */
};

struct lwp_findings {
    struct lwp_finding *findings; /* largest expected gain first */
    size_t count;
};

/* `regroups`, `redundancies`, `together`, `tips` (with `locality`) NULL: not looked at. */
void lwp_findings_rank(struct lwp_profile *profile, const struct lwp_splits *splits,
                       const struct lwp_regroups *regroups, const struct lwp_redundancies *redundancies,
                       const struct lwp_thread_findings *together, const struct lwp_locality *locality,
                       const struct lwp_locality_tips *tips, struct lwp_findings *findings);

#endif
