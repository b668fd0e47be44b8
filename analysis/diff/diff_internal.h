/* What the files that make up a comparison's answer share; nobody else includes it. */
#ifndef LWP_ANALYSIS_DIFF_DIFF_INTERNAL_H
#define LWP_ANALYSIS_DIFF_DIFF_INTERNAL_H

#include "analysis/diff/diff_doubts.h"
#include "analysis/diff/diff_prediction.h"
#include "analysis/json/json_value.h"

struct lwp_diff {
    struct lwp_diff_result before, after;
    struct lwp_diff_rows rows;
    struct lwp_arena *arena;
    struct lwp_diff_doubts doubts;
    bool seconds; /* both sides' shares are of CPU time */
};

/* diff_redundancy.c: the shares of redundant accesses on both sides; null when neither side looked for them. */
json_t *lwp_diff_redundancies(const struct lwp_diff *diff);

/* diff_communication.c: how communication that was counted moves, what will stop scaling first; null unless both have
 * it. */
json_t *lwp_diff_communication(const struct lwp_diff *diff);

/* How many more steps like that from one distance to the other until it is above the cutoff; -1: it does not grow, or something is
 * not known (negative). `growth`: the factor, -1: not known. */
double lwp_diff_steps(double before, double after, double cutoff, double *growth);

/* diff_locality.c: the same of reuse distances of structures in loops; null unless both have a trace. */
json_t *lwp_diff_locality(const struct lwp_diff *diff);

/* diff_agreement.c: how far sampling is off; null unless one side is the exact engine's and the other is not. */
json_t *lwp_diff_agreement(const struct lwp_diff *diff);

/* diff_rows.c: the structure of a row that BEFORE gives advice on, or NULL; the row's entry; whether it needs one. */
const struct lwp_diff_structure *lwp_diff_advised(const struct lwp_diff *diff, const struct lwp_diff_row *row);
json_t *lwp_diff_row_json(struct lwp_diff *diff, const struct lwp_diff_row *row);
bool lwp_diff_row_matters(const struct lwp_diff *diff, const struct lwp_diff_row *row);

#endif
