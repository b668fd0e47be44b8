/* Whether one loop goes over two arrays together.
 *
 * Range and time are eq. 10, with quantiles instead of bounds: one stray sample must not make two traversals overlap. What eq. 10
 * cannot see is at which index of one array the loop is while it is at an index of the other. Accesses of one sample show it:
 * indices that are equal, or nearly (a stencil, a few iterations between the two accesses), much more often than those of two
 * samples taken at random from the same thread. If they are not, their sum or their difference may be constant: opposite
 * directions, or a fixed distance. Accesses further apart, in one sample or in two, show the same of traversals that are slow
 * enough, but never that arrays have nothing to do with each other. Even close ones may belong to two iterations, each with an
 * index of its own: that verdict is weak, and others may overrule it.
 * Limits: two arrays of which a loop uses a few elements only look like arrays used together. */
#include "analysis/advice/layout/regroup_internal.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum {
    PLACES_NEEDED = 6, /* of each traversal, for quantiles */
    CLOSE_NEEDED = 6,  /* to say that a loop does not use arrays together */
    LOOSE_NEEDED = 8,
    ALONE_NEEDED = 12,
    ALWAYS_NEAR = 16 /* elements */
};

static const double near_share = 0.2, loose_share = 0.5;

static double order_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, lwp_compare_double);
    return values[count / 2];
}

static double order_index(const struct lwp_regroup_array *array, uint64_t offset)
{
    return ((double)offset - (double)array->start) / (double)array->element_bytes;
}

bool lwp_regroup_bounds(struct lwp_regroup_use use, bool time, double *low, double *high)
{
    double values[LWP_TRAVERSAL_PLACES];
    const struct lwp_traversal *traversal = use.traversal;
    if (!traversal || traversal->count < PLACES_NEEDED)
        return false;
    for (uint32_t i = 0; i < traversal->count; i++)
        values[i] =
            time ? (double)traversal->places[i].time : order_index(use.array, traversal->places[i].offset) / (double)use.array->elements;
    qsort(values, traversal->count, sizeof *values, lwp_compare_double);
    uint32_t cut = traversal->count / 24;
    *low = values[cut];
    *high = values[traversal->count - 1 - cut];
    return true;
}

/* The usual distance between the indices of two arrays at unrelated moments; within a thread where that is known. */
static double order_usual(struct lwp_regroup_use a, struct lwp_regroup_use b)
{
    const struct lwp_traversal_place *at_a = a.traversal->places, *at_b = b.traversal->places;
    enum { LOOKED_AT = 24, ENOUGH = 24 };
    double distances[LOOKED_AT * LOOKED_AT];
    for (int same_thread = 1; same_thread >= 0; same_thread--) {
        size_t count = 0;
        for (uint32_t i = 0; i < a.traversal->count && i < LOOKED_AT; i++)
            for (uint32_t j = 0; j < b.traversal->count && j < LOOKED_AT; j++)
                if (!same_thread || at_a[i].thread == at_b[j].thread)
                    distances[count++] = fabs(order_index(a.array, at_a[i].offset) - order_index(b.array, at_b[j].offset));
        if (count >= ENOUGH)
            return order_median(distances, count);
    }
    return 0;
}

/* How much the sums (opposite directions) or differences of the indices vary. */
static double order_spread(const double *x, const double *y, size_t count, bool sums, double *middle)
{
    double values[LWP_TRAVERSAL_MEETINGS];
    for (size_t i = 0; i < count; i++)
        values[i] = sums ? x[i] + y[i] : x[i] - y[i];
    *middle = order_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - *middle);
    return order_median(values, count);
}

size_t lwp_regroup_indices(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b, const struct lwp_traversal_pair *pair,
                           const struct lwp_traversal_meetings *meetings, double *of_a, double *of_b)
{
    bool swapped = pair->a != a->object;
    for (uint32_t i = 0; i < meetings->count; i++) {
        const struct lwp_traversal_meeting *meeting = &meetings->kept[i];
        of_a[i] = order_index(a, swapped ? meeting->b : meeting->a);
        of_b[i] = order_index(b, swapped ? meeting->a : meeting->b);
    }
    return meetings->count;
}

size_t lwp_regroup_ahead(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b, const struct lwp_traversal_pair *pair,
                         const struct lwp_traversal_meetings *meetings, double *ahead)
{
    double of_a[LWP_TRAVERSAL_MEETINGS], of_b[LWP_TRAVERSAL_MEETINGS];
    size_t count = lwp_regroup_indices(a, b, pair, meetings, of_a, of_b);
    for (size_t i = 0; i < count; i++)
        ahead[i] = of_b[i] - of_a[i];
    return count;
}

static double order_near(double usual)
{
    return fmax(ALWAYS_NEAR, usual / 64);
}

void lwp_regroup_count(struct lwp_regroup_use a, struct lwp_regroup_use b, const struct lwp_traversal_pair *pair,
                       struct lwp_regroup_meetings *sum)
{
    double ahead[LWP_TRAVERSAL_MEETINGS], usual = order_usual(a, b), limit = order_near(usual);
    for (int close = 0; close < 2; close++) {
        size_t count = lwp_regroup_ahead(a.array, b.array, pair, close ? &pair->close : &pair->loose, ahead), near = 0;
        for (size_t i = 0; i < count; i++) {
            near += fabs(ahead[i]) <= limit;
            sum->equal += fabs(ahead[i]) <= ALWAYS_NEAR && usual >= 1024 * ALWAYS_NEAR;
        }
        *(close ? &sum->close : &sum->loose) += count;
        *(close ? &sum->close_near : &sum->loose_near) += near;
    }
}

/* `sure`: the two accesses were so close that indices that differ are other indices, not other moments. */
static struct lwp_regroup_verdict order_judge(struct lwp_regroup_use a, struct lwp_regroup_use b, const struct lwp_traversal_pair *pair,
                                              const struct lwp_traversal_meetings *meetings, double usual, size_t needed, bool sure)
{
    const struct lwp_regroup_verdict unknown = {LWP_REGROUP_UNKNOWN, NULL, false};
    double x[LWP_TRAVERSAL_MEETINGS], y[LWP_TRAVERSAL_MEETINGS], middle, limit = order_near(usual);
    size_t count = lwp_regroup_indices(a.array, b.array, pair, meetings, x, y), near = 0, very_near = 0;
    for (size_t i = 0; i < count; i++) {
        near += fabs(x[i] - y[i]) <= limit;
        very_near += fabs(x[i] - y[i]) <= usual / 256;
    }
    double share = count ? (double)near / (double)count : 0;
    bool many = near >= 2 && share >= near_share && (count < 10 || near >= 3), lucky = count == 1 && very_near == 1;
    if (sure ? many || lucky : count >= needed && share >= loose_share)
        return (struct lwp_regroup_verdict){LWP_REGROUP_NONE, NULL, false};
    if (count < needed || usual < 4 * ALWAYS_NEAR)
        return unknown;
    if (order_spread(x, y, count, true, &middle) < usual / 8)
        return (struct lwp_regroup_verdict){LWP_REGROUP_ORDER, "they are traversed in opposite directions", false};
    if (!sure)
        return unknown;
    if (order_spread(x, y, count, false, &middle) < usual / 8)
        return (struct lwp_regroup_verdict){LWP_REGROUP_ORDER, "their indices keep a large distance", false};
    return (struct lwp_regroup_verdict){LWP_REGROUP_ORDER, "their indices have nothing to do with each other", true};
}

/* Whether a loop that moves on by many elements, as along columns, is in another one of each array: then no line has an element of both. */
static bool order_columns(struct lwp_regroup_use a, struct lwp_regroup_use b, const struct lwp_traversal_pair *pair)
{
    double apart[LWP_TRAVERSAL_MEETINGS];
    const size_t count = a.step == b.step && a.step > 2 * ALWAYS_NEAR ? lwp_regroup_ahead(a.array, b.array, pair, &pair->close, apart) : 0;
    for (size_t i = 0; i < count; i++)
        apart[i] = fabs(remainder(apart[i], a.step));
    return count >= CLOSE_NEEDED && order_median(apart, count) > ALWAYS_NEAR;
}

struct lwp_regroup_verdict lwp_regroup_relate(struct lwp_regroup_use a, struct lwp_regroup_use b, const struct lwp_traversal_pair *pair)
{
    struct lwp_regroup_verdict verdict = {LWP_REGROUP_UNKNOWN, NULL, false};
    if (!a.traversal || !b.traversal)
        return verdict;
    for (int time = 0; time < 2; time++) {
        double low_a, high_a, low_b, high_b;
        if (!lwp_regroup_bounds(a, time, &low_a, &high_a) || !lwp_regroup_bounds(b, time, &low_b, &high_b))
            break;
        if (high_a <= low_b || high_b <= low_a)
            return time ? (struct lwp_regroup_verdict){LWP_REGROUP_TIME, "the loop uses them one after the other", false}
                        : (struct lwp_regroup_verdict){LWP_REGROUP_RANGE, "the loop uses other parts of them", false};
    }
    if (a.traversal->alone >= ALONE_NEEDED && b.traversal->alone >= ALONE_NEEDED && (!pair || pair->close.count + pair->loose.count == 0))
        return (struct lwp_regroup_verdict){LWP_REGROUP_AFFINITY, "no run of a loop uses both", true};
    if (!pair)
        return verdict;
    if (order_columns(a, b, pair))
        return (struct lwp_regroup_verdict){LWP_REGROUP_ORDER, "the loop goes along different columns of them", false};
    double usual = order_usual(a, b);
    verdict = order_judge(a, b, pair, &pair->close, usual, CLOSE_NEEDED, true);
    if (verdict.reason == LWP_REGROUP_UNKNOWN || verdict.weak) {
        struct lwp_regroup_verdict other = order_judge(a, b, pair, &pair->loose, usual, LOOSE_NEEDED, false);
        if (other.reason == LWP_REGROUP_UNKNOWN)
            other = order_judge(a, b, pair, &pair->next, usual, LOOSE_NEEDED, false);
        if (other.reason != LWP_REGROUP_UNKNOWN)
            verdict = other;
    }
    return verdict;
}
