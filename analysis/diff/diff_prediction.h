/* What a finding promised, and whether it came. */
#ifndef LWP_ANALYSIS_DIFF_DIFF_PREDICTION_H
#define LWP_ANALYSIS_DIFF_DIFF_PREDICTION_H

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>

/* A speed-up with its 95 % interval, low < 0 when there is none. */
struct lwp_diff_ratio {
    double value, low, high;
};

/* Of two mean times in s with their standard errors (< 0: not known); `runs`: of both sides. value < 0: not known. */
struct lwp_diff_ratio lwp_diff_time_ratio(double before, double before_error, double after, double after_error,
                                          unsigned runs);

/* What a finding promises; false: nothing one can hold it to. */
bool lwp_diff_prediction(const json_t *finding, double *low, double *high);

/* A word of the schema, and a sentence that lives as long as the arena. */
const char *lwp_diff_verdict(struct lwp_arena *arena, struct lwp_diff_ratio got, double low, double high,
                             const char **sentence);

#endif
