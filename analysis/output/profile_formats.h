/* Memory stall in the formats of other profilers, from "stalls" of an analysis.json. */
#ifndef LWP_ANALYSIS_OUTPUT_PROFILE_FORMATS_H
#define LWP_ANALYSIS_OUTPUT_PROFILE_FORMATS_H

#include "base/error.h"

#include <jansson.h>
#include <stdio.h>

/* `format`: speedscope (its JSON), pprof (profile.proto, not compressed), callgrind (its version 1), perf-script (the text of
 * `perf script`). */
#define LWP_PROFILE_FORMATS "speedscope|pprof|callgrind|perf-script"

/* What the name of a file in that format ends with; NULL: there is no such format. */
const char *lwp_profile_format_suffix(const char *format);

int lwp_profile_format_write(FILE *out, const json_t *analysis, const char *format, struct lwp_error *err);

#endif
