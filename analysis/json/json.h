/* The answers as analysis.json (docs/analysis.schema.json). */
#ifndef LWP_ANALYSIS_JSON_JSON_H
#define LWP_ANALYSIS_JSON_JSON_H

#include "analysis/advice/layout/regroup.h"
#include "analysis/advice/layout/split.h"
#include "analysis/advice/redundancy/redundancy.h"
#include "analysis/findings/findings.h"

/* Owned by the caller. `regroups`, `together`, `locality` NULL: not looked at. */
json_t *lwp_json_build(struct lwp_profile *profile, const struct lwp_splits *splits,
                       const struct lwp_regroups *regroups, const struct lwp_redundancies *redundancies,
                       const struct lwp_thread_findings *together, const struct lwp_locality *locality,
                       const struct lwp_findings *findings);

#endif
