/* The findings as text for a terminal. Reads analysis.json only. */
#ifndef LWP_ANALYSIS_REPORT_H
#define LWP_ANALYSIS_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* `dir` is for the closing hint. Control characters in `root`'s texts become '?'. */
void lwp_report_print(FILE *out, json_t *root, const char *dir, bool brief, bool colour);

#endif
