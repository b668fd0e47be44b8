/* The answers as analysis.json (docs/analysis.schema.json). */
#ifndef LWP_ANALYSIS_JSON_JSON_H
#define LWP_ANALYSIS_JSON_JSON_H

#include "analysis/findings/findings.h"

/* Owned by the caller. */
json_t *lwp_json_build(struct lwp_profile *profile, const struct lwp_answers *answers);

#endif
