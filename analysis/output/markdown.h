/* A review as Markdown, for the comment on a pull request or a job's summary: GitHub's flavour, which GitLab reads, too. */
#ifndef LWP_ANALYSIS_OUTPUT_MARKDOWN_H
#define LWP_ANALYSIS_OUTPUT_MARKDOWN_H

#include "analysis/review/judgement.h"

#include <stdio.h>

/* At most `limit` bytes: what does not fit is counted and left out. `judgement` NULL: nothing was checked. */
int lwp_markdown_write(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, size_t limit, struct lwp_error *err);

/* Foreign text, so that it appears as it is: no markup, link, mention, reference or emoji comes of it. */
void lwp_markdown_text(FILE *out, const char *text);

/* The same as code. */
void lwp_markdown_code(FILE *out, const char *text);

#endif
