/* One ranked list over all advice. */
#ifndef LWP_ANALYSIS_FINDINGS_H
#define LWP_ANALYSIS_FINDINGS_H

#include "analysis/locality_advice.h"
#include "analysis/redundancy.h"
#include "analysis/regroup.h"
#include "analysis/split.h"
#include "analysis/together.h"

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
                       const struct lwp_together *together, const struct lwp_locality *locality,
                       const struct lwp_locality_tips *tips, struct lwp_findings *findings);

#endif
