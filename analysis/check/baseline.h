/* Findings that a project knows of and lives with: a small file to be committed. */
#ifndef LWP_ANALYSIS_CHECK_BASELINE_H
#define LWP_ANALYSIS_CHECK_BASELINE_H

#include "analysis/review/review.h"

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

#endif
