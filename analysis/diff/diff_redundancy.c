/* Redundant accesses before and after: the two shares and whether they differ by more than chance. The interval of the
 * difference follows from those of the shares (MOVER; Zou and Donner, Statistics in Medicine 27, 2008), which need not
 * be symmetric: d -+ sqrt of the squared sum of the arms that point away from each other. They are intervals of
 * sampling; that the program itself may behave otherwise in another run is not in them. */
#include "analysis/diff/diff_internal.h"

#include <math.h>

struct side {
    bool known;
    double share, low, high;
};

static struct side side_of(const struct lwp_diff_result *from, const char *kind)
{
    const json_t *total = json_object_get(json_object_get(from->root, "redundancy_totals"), kind);
    const json_t *share = json_object_get(total, "share"), *interval = json_object_get(total, "share_ci");
    const json_t *low = json_array_get(interval, 0), *high = json_array_get(interval, 1);
    struct side side = {.known = json_is_number(share) && json_is_number(low) && json_is_number(high)};
    side.share = json_number_value(share);
    side.low = json_number_value(low);
    side.high = json_number_value(high);
    side.known = side.known && 0 <= side.low && side.low <= side.share && side.share <= side.high && side.high <= 1;
    return side;
}

static json_t *side_json(const struct side *side)
{
    return side->known ? json_pack("{s:o,s:o}", "share", lwp_json_real(side->share), "share_ci",
                                   lwp_json_range(side->low, side->high))
                       : json_null();
}

json_t *lwp_diff_redundancies(const struct lwp_diff *diff)
{
    static const char *const kinds[] = {"dead_store", "silent_store", "silent_load"};
    json_t *all = json_object();
    bool any = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct side x = side_of(&diff->before, kinds[i]), y = side_of(&diff->after, kinds[i]);
        bool both = x.known && y.known;
        double change = y.share - x.share;
        double low = change - hypot(y.share - y.low, x.high - x.share);
        double high = change + hypot(y.high - y.share, x.share - x.low);
        any = any || x.known || y.known;
        json_object_set_new(all, kinds[i],
                            json_pack("{s:o,s:o,s:o,s:o,s:s}", "before", side_json(&x), "after", side_json(&y),
                                      "difference", both ? lwp_json_real(change) : json_null(), "difference_ci",
                                      both ? json_pack("[o,o]", lwp_json_real(low), lwp_json_real(high)) : json_null(),
                                      "verdict",
                                      !both      ? "unknown"
                                      : high < 0 ? "less"
                                      : low > 0  ? "more"
                                                 : "within"));
    }
    if (any)
        return all;
    json_decref(all);
    return json_null();
}
