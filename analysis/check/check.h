/* Whether a run is within its budgets, and has no finding that its baseline does not know. */
#ifndef LWP_ANALYSIS_CHECK_CHECK_H
#define LWP_ANALYSIS_CHECK_CHECK_H

#include "analysis/review/review.h"
#include "analysis/tables/redundancy_kinds.h"

#include <stdio.h>

/* ---- budget.c: what lwp check allows ---- */

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
    double totals[LWP_WATCHPOINT_KINDS]; /* of each kind in redundancy_totals */
    double samples;                      /* with an address: with fewer, sampling has not measured enough */
};

/* What holds when nothing is said. */
struct lwp_budget lwp_budget_usual(void);

/* Takes over what the file says. LWP_ERR_USAGE: it says what no budget can; LWP_ERR_SYSTEM: it cannot be read. */
int lwp_budget_read(struct lwp_budget *budget, const char *path, struct lwp_error *err);

struct lwp_budget_limits lwp_budget_of(const struct lwp_budget *budget, const char *rule);

/* ---- baseline.c: findings that a project knows of and lives with, in a small file to be committed ---- */

struct lwp_baseline_entry {
    const char *rule, *subject, *fingerprint;
    double accepted; /* a speed-up, or (below 1) a part of the program: what is surely more is news */
    bool met;        /* a finding of this run is it */
};

struct lwp_baseline {
    struct lwp_baseline_entry *entries; /* by rule, subject, fingerprint */
    size_t count, room;
};

/* A baseline, or an analysis.json, whose findings are taken. Its texts live in `arena`. */
int lwp_baseline_read(struct lwp_baseline *baseline, const char *path, struct lwp_arena *arena, struct lwp_error *err);
void lwp_baseline_fini(struct lwp_baseline *baseline);

/* The entry that `item` is known by, or NULL. Arrays to join are known by half of their names: which of them take part can
 * differ from run to run. */
struct lwp_baseline_entry *lwp_baseline_find(const struct lwp_baseline *baseline, const struct lwp_review_item *item);

/* Whether this run looked for what the entry is about. */
bool lwp_baseline_looked_for(const struct lwp_review *review, const struct lwp_baseline_entry *entry);

/* The findings of `review`; from `before` what this run did not look for, and what was accepted where that still holds, so
 * that a file is changed only where something is new. Written aside and renamed. */
int lwp_baseline_write(const struct lwp_baseline *before, const struct lwp_review *review, const char *path, struct lwp_error *err);

/* ---- check.c ---- */

enum lwp_check_verdict { LWP_CHECK_PASSES, LWP_CHECK_FAILS, LWP_CHECK_CANNOT_TELL };

/* Lines and texts live in the review's arena. `baseline` NULL: there is none, every finding is held against the budget;
 * otherwise its entries are marked as met. CANNOT_TELL: nothing fails, but what a budget is about was not measured. */
enum lwp_check_verdict lwp_check_judge(const struct lwp_review *review, const struct lwp_budget *budget, struct lwp_baseline *baseline,
                                       struct lwp_judgement *judgement);

/* The judgement as text for a terminal, at most 80 columns where names allow it. */
void lwp_check_print(FILE *out, const struct lwp_review *review, const struct lwp_judgement *judgement, bool colour);

#endif
