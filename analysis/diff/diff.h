/* What changed between two results, and whether the predicted gain was measured; docs/diff.schema.json has the form. */
#ifndef LWP_ANALYSIS_DIFF_DIFF_H
#define LWP_ANALYSIS_DIFF_DIFF_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* `before` and `after` are analysis.json files; the labels are what messages call them. NULL with `err` set when one
 * of them is none. The caller owns the answer. */
json_t *lwp_diff_build(const json_t *before, const char *before_label, const json_t *after, const char *after_label, struct lwp_error *err);

/* The answer as text, at most 80 columns where names allow it. Control characters in its texts become '?'. */
void lwp_diff_print(FILE *out, json_t *diff, bool all, bool colour);

#endif
