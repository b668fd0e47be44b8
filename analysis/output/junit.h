/* A review as JUnit's XML, in the form that Jenkins, GitLab and their like read. */
#ifndef LWP_ANALYSIS_OUTPUT_JUNIT_H
#define LWP_ANALYSIS_OUTPUT_JUNIT_H

#include "analysis/review/judgement.h"

#include <stdio.h>

/* A test case for each line of the judgement; without one (NULL) each finding is a case that passes: nothing was judged. */
int lwp_junit_write(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, struct lwp_error *err);

#endif
