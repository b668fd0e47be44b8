/* Whether a run is within its budgets, and has no finding that its baseline does not know. */
#ifndef LWP_ANALYSIS_CHECK_CHECK_H
#define LWP_ANALYSIS_CHECK_CHECK_H

#include "analysis/check/baseline.h"
#include "analysis/check/budget.h"

#include <stdio.h>

enum lwp_check_verdict { LWP_CHECK_PASSES, LWP_CHECK_FAILS, LWP_CHECK_CANNOT_TELL };

/* Lines and texts live in the review's arena. `baseline` NULL: there is none, every finding is held against the budget;
 * otherwise its entries are marked as met. CANNOT_TELL: nothing fails, but what a budget is about was not measured. */
enum lwp_check_verdict lwp_check_judge(const struct lwp_review *review, const struct lwp_budget *budget, struct lwp_baseline *baseline,
                                       struct lwp_judgement *judgement);

/* The judgement as text for a terminal, at most 80 columns where names allow it. */
void lwp_check_print(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, bool colour);

#endif
