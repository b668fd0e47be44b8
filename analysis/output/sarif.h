/* A review as SARIF 2.1.0 (OASIS): what code scanning services and editors read. */
#ifndef LWP_ANALYSIS_OUTPUT_SARIF_H
#define LWP_ANALYSIS_OUTPUT_SARIF_H

#include "analysis/review/judgement.h"

#include <stdio.h>

/* `judgement` NULL: nothing was checked. */
int lwp_sarif_write(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, struct lwp_error *err);

#endif
