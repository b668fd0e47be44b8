/* Redundant accesses before and after: the two shares and whether they differ by more than chance. The interval of the
 * difference follows from those of the shares (MOVER; Zou and Donner, Statistics in Medicine 27, 2008), which need not
 * be symmetric: d -+ sqrt of the squared sum of the arms that point away from each other. They are intervals of
 * sampling; that the program itself may behave otherwise in another run is not in them. */
#include "analysis/diff/diff_parts.h"

#include "analysis/tables/redundancy_kinds.h"

#include <math.h>

/* A share of redundant accesses with its interval. */
struct fraction {
    bool known;
    double share, low, high;
};

static struct fraction fraction_of(const struct lwp_diff_result *from, const char *kind)
{
    const json_t *total = json_object_get(json_object_get(from->root, "redundancy_totals"), kind);
    const json_t *share = json_object_get(total, "share"), *interval = json_object_get(total, "share_ci");
    const json_t *low = json_array_get(interval, 0), *high = json_array_get(interval, 1);
    struct fraction fraction = {.known = json_is_number(share) && json_is_number(low) && json_is_number(high)};
    fraction.share = json_number_value(share);
    fraction.low = json_number_value(low);
    fraction.high = json_number_value(high);
    fraction.known =
        fraction.known && 0 <= fraction.low && fraction.low <= fraction.share && fraction.share <= fraction.high && fraction.high <= 1;
    return fraction;
}

static json_t *fraction_json(const struct fraction *fraction)
{
    return fraction->known
               ? json_pack("{s:o,s:o}", "share", lwp_json_real(fraction->share), "share_ci", lwp_json_range(fraction->low, fraction->high))
               : json_null();
}

json_t *lwp_diff_redundancies(const struct lwp_diff *diff)
{
    json_t *all = json_object();
    bool any = false;
    for (size_t i = 0; i < LWP_REDUNDANCY_SAMPLED; i++) {
        struct fraction x = fraction_of(&diff->before, lwp_redundancy_rows[i].key),
                        y = fraction_of(&diff->after, lwp_redundancy_rows[i].key);
        bool both = x.known && y.known;
        double change = y.share - x.share;
        double low = change - hypot(y.share - y.low, x.high - x.share);
        double high = change + hypot(y.high - y.share, x.share - x.low);
        any = any || x.known || y.known;
        const char *verdict = !both ? "unknown" : high < 0 ? "less" : low > 0 ? "more" : "within";
        json_object_set_new(all, lwp_redundancy_rows[i].key,
                            lwp_json_new("before", fraction_json(&x), "after", fraction_json(&y), "difference",
                                         both ? lwp_json_real(change) : json_null(), "difference_ci",
                                         both ? json_pack("[o,o]", lwp_json_real(low), lwp_json_real(high)) : json_null(), "verdict",
                                         json_string(verdict), NULL));
    }
    if (any)
        return all;
    json_decref(all);
    return json_null();
}
