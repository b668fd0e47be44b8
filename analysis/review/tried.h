/* What was made of a finding after the analysis: its patch, and what that brought. Kept in DIR/tried.json, by the finding's id, so that
 * it outlives another analysis of the same samples. */
#ifndef LWP_ANALYSIS_REVIEW_TRIED_H
#define LWP_ANALYSIS_REVIEW_TRIED_H

#include "base/error.h"

#include <jansson.h>

#define LWP_TRIED_FILE "tried.json"

/* Gives each finding that something was made of a member "tried": {"root", "patch", "command", "speedup", "interval", "pairs",
 * "placements"}; those after "patch" only when it was tried. What does not fit is ignored: `tried` may be any JSON, or NULL. */
void lwp_tried_attach(json_t *root, const json_t *tried);

/* The same from the file in the folder, if it has one. */
void lwp_tried_attach_from(json_t *root, const char *directory);

/* Keeps these members for a finding, beside those that are there. The caller still owns `members`. */
int lwp_tried_keep(const char *directory, const char *finding, json_t *members, struct lwp_error *err);

/* "1.27x (1.25-1.29)" of a finding with "tried", for free(); NULL: it was not tried. */
char *lwp_tried_text(const json_t *finding);

#endif
