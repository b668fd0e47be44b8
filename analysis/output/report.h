/* The findings as text for a terminal. */
#ifndef LWP_ANALYSIS_OUTPUT_REPORT_H
#define LWP_ANALYSIS_OUTPUT_REPORT_H

#include "analysis/review/review.h"

#include <stdio.h>

/* `dir` is for the closing hint. */
void lwp_report_print(FILE *out, const struct lwp_review *review, const char *dir, bool brief, bool colour);

/* Words up to column 80, the first one where the cursor stands at `indent`, following lines indented; a line break. */
void lwp_report_wrap(FILE *out, int indent, const char *text);

/* Whether what goes to standard output may be coloured: a terminal that can, and NO_COLOR is not set. */
bool lwp_report_colour(void);

#endif
