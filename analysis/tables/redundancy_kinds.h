/* The kinds of redundant accesses and computations: their names and words, one row each. */
#ifndef LWP_ANALYSIS_TABLES_REDUNDANCY_KINDS_H
#define LWP_ANALYSIS_TABLES_REDUNDANCY_KINDS_H

enum { LWP_REDUNDANCY_KINDS = 7, LWP_REDUNDANCY_SAMPLED = 3 /* the first ones: the others are counted only */ };

struct lwp_redundancy_row {
    const char *key;     /* in analysis.json */
    const char *rule;    /* in ids of findings, in rules of lwp check and of SARIF */
    const char *of;      /* what its shares are of */
    const char *of_time; /* ... where only the time is known: sampled kinds */
    const char *done;    /* before the place of the first access */
    const char *title;   /* in tables */
    const char *waste;   /* what was wasted, after its share */
};

/* By enum lwp_watchpoint_kind (analysis/profile/watchpoints.h). */
extern const struct lwp_redundancy_row lwp_redundancy_rows[LWP_REDUNDANCY_KINDS];

#endif
