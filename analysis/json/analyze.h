/* From result directories to analysis.json. */
#ifndef LWP_ANALYSIS_JSON_ANALYZE_H
#define LWP_ANALYSIS_JSON_ANALYZE_H

#include "analysis/caches/hierarchy.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes the analysis of `dirs` (merged when several) to `out_path`; NULL: analysis.json in the first. */
int lwp_analyze(const char *const *dirs, size_t count, const char *out_path, struct lwp_error *err);

/* How many threads read samples from now on; 0, the default: as many as there are cores. */
void lwp_analyze_jobs(unsigned jobs);

/* Whether patterns of accesses may be run on this machine; by default where lwp collect was not told otherwise. */
void lwp_analyze_measure(bool measure);

/* From now on traces are also replayed on this machine's caches; NULL: on none. */
void lwp_analyze_machine(const struct lwp_hierarchy_plan *plan);

/* Merges results into a folder of its own, made when it is not there: analysis.json, and a run.json that says what was
 * merged. Such folders may be among `dirs`: what they were made of is taken. */
int lwp_analyze_merge(const char *const *dirs, size_t count, const char *out_dir, struct lwp_error *err);

/* Makes sure DIR/analysis.json is there, newer than what it was made from and made by this lwp. `force`: make it anew.
 * A merged DIR is made anew from what it was merged from, as long as that is there.
 * *made (may be NULL) tells whether it was made now. */
int lwp_analyze_directory(const char *dir, bool force, bool *made, struct lwp_error *err);

#endif
