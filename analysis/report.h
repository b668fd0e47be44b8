/* The findings as text for a terminal. Reads analysis.json only. */
#ifndef LWP_ANALYSIS_REPORT_H
#define LWP_ANALYSIS_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* `dir` is for the closing hint. Control characters in `root`'s texts become '?'. */
void lwp_report_print(FILE *out, json_t *root, const char *dir, bool brief, bool colour);

/* Control characters in all texts become '?'; line breaks stay in what is called "declaration". */
void lwp_report_clean(json_t *root);

/* Words up to column 80, the first one where the cursor stands at `indent`, following lines indented; a line break. */
void lwp_report_wrap(FILE *out, int indent, const char *text);

#endif
