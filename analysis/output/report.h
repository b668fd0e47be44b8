/* The findings as text for a terminal. */
#ifndef LWP_ANALYSIS_OUTPUT_REPORT_H
#define LWP_ANALYSIS_OUTPUT_REPORT_H

#include "analysis/review/review.h"

#include <stdio.h>

/* `dir` is for the closing hint. */
void lwp_report_print(FILE *out, const struct lwp_review *review, const char *dir, bool brief, bool colour);

#endif
