/* From result directories to analysis.json. */
#ifndef LWP_ANALYSIS_ANALYZE_H
#define LWP_ANALYSIS_ANALYZE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes the analysis of `dirs` (merged when several) to `out_path`; NULL: analysis.json in the first. */
int lwp_analyze(const char *const *dirs, size_t count, const char *out_path, struct lwp_error *err);

/* Makes sure DIR/analysis.json is there, newer than what it was made from and made by this lwp. `force`: make it anew.
 * *made (may be NULL) tells whether it was made now. */
int lwp_analyze_directory(const char *dir, bool force, bool *made, struct lwp_error *err);

#endif
