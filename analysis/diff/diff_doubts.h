/* Can two results be compared at all? */
#ifndef LWP_ANALYSIS_DIFF_DIFF_DOUBTS_H
#define LWP_ANALYSIS_DIFF_DIFF_DOUBTS_H

#include "analysis/diff/diff_match.h"

enum { LWP_DIFF_DOUBTS_MAX = 16 };

struct lwp_diff_doubts {
    struct {
        const char *kind, *text;
        bool serious; /* then no promise can be judged */
    } list[LWP_DIFF_DOUBTS_MAX];
    size_t count;
    const char *reason; /* the first serious one's text, NULL: comparable */
    /* Loops that the change does not touch, found in both: their seconds, and the ratio's 95 % interval from the
     * samples; false: too few of them. */
    bool control;
    double before_s, after_s, low, high;
};

void lwp_diff_doubts_find(const struct lwp_diff_result *before, const struct lwp_diff_result *after,
                          const struct lwp_diff_rows *rows, struct lwp_arena *arena, struct lwp_diff_doubts *doubts);

#endif
