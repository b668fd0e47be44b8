/* One ranked list over all advice. */
#ifndef LWP_ANALYSIS_FINDINGS_H
#define LWP_ANALYSIS_FINDINGS_H

#include "analysis/split.h"

struct lwp_finding {
    const char *id, *kind, *title, *severity, *next_step;
    double share, low, high;
    size_t split; /* index of what it is about */
};

struct lwp_findings {
    struct lwp_finding *findings; /* largest expected gain first */
    size_t count;
};

void lwp_findings_rank(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_findings *findings);

#endif
