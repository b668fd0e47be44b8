/* What lwp check decided, in the form that every output format can show. */
#ifndef LWP_ANALYSIS_REVIEW_VERDICT_H
#define LWP_ANALYSIS_REVIEW_VERDICT_H

#include "analysis/review/review.h"

enum lwp_judged { LWP_JUDGED_PASSES, LWP_JUDGED_FAILS, LWP_JUDGED_SKIPPED };

/* One thing checked: a finding of this run, one of the baseline that is gone, a budget, or that enough was measured. */
struct lwp_judged_line {
    enum lwp_judged result;
    const char *state;                  /* "new", "known", "gone"; "": no finding */
    const char *rule, *subject;         /* a finding's; or the budget's name */
    const char *why;                    /* a clause: "at least 1.38x, more than the 1.05x allowed" */
    const struct lwp_review_item *item; /* NULL: gone, or no finding */
    const char *fingerprint;            /* or NULL */
};

struct lwp_judgement {
    struct lwp_judged_line *lines; /* those that fail first */
    size_t count, failed;
    const char *sentence;          /* "1 of 4 checks failed" */
};

#endif
