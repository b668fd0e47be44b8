/* The formats that lwp report and lwp check share, and their options. */
#ifndef LWP_ANALYSIS_OUTPUT_FORMATS_H
#define LWP_ANALYSIS_OUTPUT_FORMATS_H

#include "analysis/review/judgement.h"
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
     .help = "of markdown: leave findings out rather than write more (a job summary holds 1000000)"},                   \
    {.name = "redact",                                                                                                  \
     .kind = LWP_OPT_FLAG,                                                                                              \
     .help = "leave out hosts, users, home directories, arguments and folders outside of the source"},                  \
    {                                                                                                                   \
        .name = "root", .kind = LWP_OPT_TEXT, .argument = "FOLDER",                                                     \
        .help = "say paths relative to it, not to the work tree around the current folder"                              \
    }

/* In the format that --format names: markdown, sarif or junit. `judgement` NULL: nothing was checked. */
int lwp_write_format(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, const struct lwp_options *options,
                     struct lwp_error *err);

#endif
