/* The answers as analysis.json (docs/analysis.schema.json). */
#ifndef LWP_ANALYSIS_JSON_H
#define LWP_ANALYSIS_JSON_H

#include "analysis/communication.h"
#include "analysis/exchange.h"
#include "analysis/findings.h"
#include "analysis/redundancy.h"
#include "analysis/regroup.h"
#include "analysis/sharing.h"
#include "analysis/split.h"

/* What threads do to each other. */
struct lwp_together {
    struct lwp_communication communication; /* estimated from what was watched, or */
    struct lwp_exchange exchange;           /* counted */
    struct lwp_sharings sharings;
};

/* Owned by the caller. `regroups`, `together`, `locality` NULL: not looked at. */
json_t *lwp_json_build(struct lwp_profile *profile, const struct lwp_splits *splits,
                       const struct lwp_regroups *regroups, const struct lwp_redundancies *redundancies,
                       const struct lwp_together *together, const struct lwp_locality *locality,
                       const struct lwp_findings *findings);

#endif
