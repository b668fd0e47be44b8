/* What lwp check allows. */
#ifndef LWP_ANALYSIS_CHECK_BUDGET_H
#define LWP_ANALYSIS_CHECK_BUDGET_H

#include "analysis/statistics/redundancy_kinds.h"
#include "base/error.h"

#include <stddef.h>

/* < 0: no limit. */
struct lwp_budget_limits {
    double gain;  /* that a finding may surely bring: 1.05 is 5 % faster */
    double share; /* of the program, 0 to 1, that a finding without a predicted gain may surely concern */
};

enum { LWP_BUDGET_RULES = 32 };

struct lwp_budget {
    struct lwp_budget_limits all;
    struct {
        const char *rule; /* a row of lwp_review_rules */
        struct lwp_budget_limits limits;
    } rules[LWP_BUDGET_RULES];
    size_t rule_count;
    double totals[LWP_REDUNDANCY_KINDS]; /* of each kind in redundancy_totals */
    double samples;                      /* with an address: with fewer, sampling has not measured enough */
};

/* What holds when nothing is said. */
struct lwp_budget lwp_budget_usual(void);

/* Takes over what the file says. LWP_ERR_USAGE: it says what no budget can; LWP_ERR_SYSTEM: it cannot be read. */
int lwp_budget_read(struct lwp_budget *budget, const char *path, struct lwp_error *err);

struct lwp_budget_limits lwp_budget_of(const struct lwp_budget *budget, const char *rule);

#endif
