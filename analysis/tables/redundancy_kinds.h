/* The kinds of redundant accesses and computations: their names and words, one row each. */
#ifndef LWP_ANALYSIS_TABLES_REDUNDANCY_KINDS_H
#define LWP_ANALYSIS_TABLES_REDUNDANCY_KINDS_H

#include "format/record.h"

enum lwp_watchpoint_kind {
    LWP_WATCHPOINT_DEAD_STORE,
    LWP_WATCHPOINT_SILENT_STORE,
    LWP_WATCHPOINT_SILENT_LOAD,
    LWP_WATCHPOINT_COMPUTATION, /* this and the following: counted only, never sampled */
    LWP_WATCHPOINT_REGISTER,
    LWP_WATCHPOINT_SPATIAL,
    LWP_WATCHPOINT_OVERWRITTEN, /* by another thread, before anything read it */
    LWP_WATCHPOINT_KINDS
};
enum { LWP_REDUNDANCY_SAMPLED = LWP_WATCHPOINT_COMPUTATION };

struct lwp_redundancy_row {
    enum lwps_verdict verdict; /* in sample files */
    const char *key;     /* in analysis.json */
    const char *rule;    /* in ids of findings, in rules of lwp check and of SARIF */
    const char *of;      /* what its shares are of */
    const char *of_time; /* ... where only the time is known: sampled kinds */
    const char *done;    /* before the place of the first access */
    const char *title;   /* in tables */
    const char *waste;   /* what was wasted, after its share */
};

extern const struct lwp_redundancy_row lwp_redundancy_rows[LWP_WATCHPOINT_KINDS];

#endif
