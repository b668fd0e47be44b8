/* Was a prediction right? The ratio of two times, each measured once or several times, beside the range that a finding
 * predicted. */
#include "analysis/diff/diff_parts.h"
#include "analysis/statistics/speedup.h"

#include <math.h>

#define SAY(...) lwp_arena_printf(arena, __VA_ARGS__)

static const double noise = 0.03, z95 = 1.96;

/* Student's t for 95 %: few runs say little about how much they vary. */
static double prediction_student(unsigned freedom)
{
    static const double table[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
    return freedom == 0 ? table[0] : freedom <= 10 ? table[freedom - 1] : freedom <= 30 ? 2.1 : z95;
}

struct lwp_diff_ratio lwp_diff_time_ratio(double before, double before_error, double after, double after_error, unsigned runs)
{
    struct lwp_diff_ratio ratio = {-1, -1, -1};
    if (before <= 0 || after <= 0)
        return ratio;
    ratio.value = before / after;
    if (before_error >= 0 && after_error >= 0) {
        double error = prediction_student(runs - 2) * hypot(before_error / before, after_error / after);
        ratio.low = ratio.value * exp(-error);
        ratio.high = ratio.value * exp(error);
    }
    return ratio;
}

bool lwp_diff_prediction(const json_t *finding, double *low, double *high)
{
    *low = lwp_json_end(finding, "expected_speedup", 0);
    *high = lwp_json_end(finding, "expected_speedup", 1);
    return json_array_size(json_object_get(finding, "expected_speedup")) == 2 && *low >= 0.01 && *high >= *low && *high <= 1000;
}

/* A ratio is compared as it is printed: with two digits. */
static double prediction_rounded(double value)
{
    return round(value * 100) / 100;
}

const char *lwp_diff_verdict(struct lwp_arena *arena, struct lwp_diff_ratio measured, double low, double high, const char **sentence)
{
    double value = prediction_rounded(measured.value);
    const char *range = SAY("%.*f-%.*fx", LWP_SPEEDUP(low), LWP_SPEEDUP(high));
    const char *interval = measured.low >= 0 ? SAY(" (95 %%: %.*f-%.*f)", LWP_SPEEDUP(measured.low), LWP_SPEEDUP(measured.high)) : "";
    if (value >= prediction_rounded(low) && value <= prediction_rounded(high)) {
        *sentence = SAY("the gain is as predicted: %.*fx%s measured, %s predicted", LWP_SPEEDUP(value), interval, range);
        return "arrived";
    }
    if (value > high) {
        *sentence = SAY("the gain is larger than predicted: %.*fx%s measured, %s predicted", LWP_SPEEDUP(value), interval, range);
        return "more";
    }
    if (measured.low < 0 && value > low * (1 - noise)) {
        *sentence = SAY("cannot tell from one run of each whether the gain is as predicted: %.*fx measured, %s predicted",
                        LWP_SPEEDUP(value), range);
        return "cannot_tell";
    }
    if (measured.low >= 0 && measured.high >= low) {
        *sentence =
            SAY("cannot tell whether the gain is as predicted: %.*fx%s measured, %s predicted", LWP_SPEEDUP(value), interval, range);
        return "cannot_tell";
    }
    if (value <= 1 - noise) {
        *sentence = SAY("the program is slower: %.*fx%s measured, %s predicted", LWP_SPEEDUP(value), interval, range);
        return "slower";
    }
    *sentence = SAY("%s: %.*fx%s measured, %s predicted", value < 1 + noise ? "no gain" : "the gain is smaller than predicted",
                    LWP_SPEEDUP(value), interval, range);
    return value < 1 + noise ? "none" : "less";
}
