/* Was a promise kept? The ratio of two times, measured once or several times on each side, held against the range that
 * a finding promised. */
#include "analysis/diff/diff_prediction.h"

#include <math.h>

static const double noise = 0.03, z95 = 1.96;

/* Student's t for 95 %: few runs say little about how much they vary. */
static double promise_student(unsigned freedom)
{
    static const double table[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
    return freedom == 0 ? table[0] : freedom <= 10 ? table[freedom - 1] : freedom <= 30 ? 2.1 : z95;
}

struct lwp_diff_ratio lwp_diff_time_ratio(double before, double before_error, double after, double after_error,
                                          unsigned runs)
{
    struct lwp_diff_ratio ratio = {-1, -1, -1};
    if (before <= 0 || after <= 0)
        return ratio;
    ratio.value = before / after;
    if (before_error >= 0 && after_error >= 0) {
        double error = promise_student(runs - 2) * hypot(before_error / before, after_error / after);
        ratio.low = ratio.value * exp(-error);
        ratio.high = ratio.value * exp(error);
    }
    return ratio;
}

bool lwp_diff_prediction(const json_t *finding, double *low, double *high)
{
    const json_t *range = json_object_get(finding, "expected_speedup");
    *low = json_number_value(json_array_get(range, 0));
    *high = json_number_value(json_array_get(range, 1));
    return json_array_size(range) == 2 && *low >= 0.01 && *high >= *low && *high <= 1000;
}

/* A ratio is compared as it is printed: with two digits. */
static double promise_rounded(double value)
{
    return round(value * 100) / 100;
}

const char *lwp_diff_verdict(struct lwp_arena *arena, struct lwp_diff_ratio got, double low, double high,
                             const char **sentence)
{
    double value = promise_rounded(got.value);
    const char *range = lwp_arena_printf(arena, "%.2f-%.2fx", low, high);
    const char *interval = got.low >= 0 ? lwp_arena_printf(arena, " (95 %%: %.2f-%.2f)", got.low, got.high) : "";
    if (value >= promise_rounded(low) && value <= promise_rounded(high)) {
        *sentence = lwp_arena_printf(arena, "the promised %s arrived: %.2fx%s", range, value, interval);
        return "arrived";
    }
    if (value > high) {
        *sentence = lwp_arena_printf(arena, "more than the promised %s: %.2fx%s", range, value, interval);
        return "more";
    }
    if (got.low < 0 && value > low * (1 - noise)) {
        *sentence = lwp_arena_printf(arena, "cannot tell from one run each whether the promised %s arrived: %.2fx",
                                     range, value);
        return "cannot_tell";
    }
    if (got.low >= 0 && got.high >= low) {
        *sentence =
            lwp_arena_printf(arena, "cannot tell whether the promised %s arrived: %.2fx%s", range, value, interval);
        return "cannot_tell";
    }
    if (value <= 1 - noise) {
        *sentence = lwp_arena_printf(arena, "slower instead of the promised %s: %.2fx%s", range, value, interval);
        return "slower";
    }
    *sentence = lwp_arena_printf(arena, "%s than the promised %s: %.2fx%s",
                                 value < 1 + noise ? "no gain rather" : "less", range, value, interval);
    return value < 1 + noise ? "none" : "less";
}
