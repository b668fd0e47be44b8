/* The formats that lwp report and lwp check share, and their options. */
#ifndef LWP_ANALYSIS_OUTPUT_FORMATS_H
#define LWP_ANALYSIS_OUTPUT_FORMATS_H

#include "analysis/review/review.h"
#include "base/command.h"

#include <stdio.h>

/* Option rows. GitHub's comments hold 65,536 characters, its job summaries 1 MiB. */
#define LWP_REVIEW_OPTIONS                                                                                              \
    {.name = "limit",                                                                                                   \
     .kind = LWP_OPT_NUMBER,                                                                                            \
     .argument = "BYTES",                                                                                               \
     .min = 2000,                                                                                                       \
     .max = 1 << 30,                                                                                                    \
     .initial = "65000",                                                                                                \
     .help = "maximum size of markdown; findings beyond it are left out (a job summary holds 1000000)"},                   \
    {.name = "redact",                                                                                                  \
     .kind = LWP_OPT_FLAG,                                                                                              \
     .help = "remove hosts, users, home directories, arguments and folders outside the source tree"},                  \
    {                                                                                                                   \
        .name = "root", .kind = LWP_OPT_TEXT, .argument = "FOLDER",                                                     \
        .help = "print paths relative to FOLDER instead of the work tree around the current folder"                              \
    }

/* Loads the analysis of `dir`, redacted where the options say so, and reviews it. *root and the answer are the caller's; NULL
 * with `err` set. */
struct lwp_review *lwp_review_open(const char *dir, const struct lwp_options *options, json_t **root, struct lwp_error *err);

/* In the format that --format names: markdown, sarif or junit. `judgement` NULL, here and below: nothing was checked. */
int lwp_write_format(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, const struct lwp_options *options,
                     struct lwp_error *err);

/* For the comment on a pull request or a job's summary: GitHub's flavour, which GitLab reads, too. At most `limit` bytes: what
 * does not fit is counted and left out. */
int lwp_markdown_write(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, size_t limit,
                       struct lwp_error *err);

/* Foreign text in Markdown, so that it appears as it is: no markup, link, mention, reference or emoji comes of it; and as code. */
void lwp_markdown_text(FILE *out, const char *text);
void lwp_markdown_code(FILE *out, const char *text);

/* SARIF 2.1.0 (OASIS): what code scanning services and editors read. */
int lwp_sarif_write(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, struct lwp_error *err);

/* JUnit's XML, in the form that Jenkins, GitLab and their like read: a test case for each line of the judgement; without one
 * each finding is a case that passes. */
int lwp_junit_write(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, struct lwp_error *err);

/* The end of a command that writes to standard output: `status`, or `failed` with a message where something went wrong. */
int lwp_output_end(int status, int failed, const struct lwp_error *err);

/* One element of the structure that a split is about, to scale; nothing where its fields do not lie one behind the other. */
void lwp_markdown_strip(FILE *out, const json_t *root, const json_t *split);

#endif
