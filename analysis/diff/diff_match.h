/* Which structure and loop of one result is which of the other. */
#ifndef LWP_ANALYSIS_DIFF_DIFF_MATCH_H
#define LWP_ANALYSIS_DIFF_DIFF_MATCH_H

#include "analysis/diff/diff_result.h"

enum lwp_diff_status {
    LWP_DIFF_SAME,      /* same element size and fields */
    LWP_DIFF_CHANGED,   /* other size or fields */
    LWP_DIFF_SPLIT,     /* one became several, or a part of it is all that is left */
    LWP_DIFF_REGROUPED, /* several became one */
    LWP_DIFF_GONE,
    LWP_DIFF_NEW,
};

/* What belongs together: one structure, or a whole and its parts. */
struct lwp_diff_row {
    enum lwp_diff_status status;
    uint32_t *before, *after; /* structures, the heaviest first */
    size_t before_count, after_count;
};

struct lwp_diff_rows {
    struct lwp_diff_row *rows; /* the heaviest first, by what they were before or are now */
    size_t count;
};

/* diff_loops.c: fills `match` of both sides' loops. */
void lwp_diff_match_loops(struct lwp_diff_result *before, struct lwp_diff_result *after, struct lwp_arena *arena);

/* Matches the loops, too; fills `row` of their structures, and the rows. */
void lwp_diff_match(struct lwp_diff_result *before, struct lwp_diff_result *after, struct lwp_arena *arena,
                    struct lwp_diff_rows *rows);

/* The group of the advised split that holds most of the part's fields: 0 and up, -1 the cold one, -2 none. */
int lwp_diff_group(const struct lwp_diff_structure *whole, const struct lwp_diff_structure *part);

#endif
