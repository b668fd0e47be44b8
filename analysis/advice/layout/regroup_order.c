/* Whether one loop walks two arrays together.
 *
 * Range and time are eq. 10, with quantiles instead of bounds: one stray sample must not make two walks overlap. What
 * eq. 10 cannot see is at which index of one array the loop is while it is at an index of the other. Accesses of one
 * sample tell: indices that are equal, or nearly (a stencil, a few iterations between the two accesses), much more
 * often than those of two samples taken at random from the same thread. If they are not, their sum or their difference
 * may be constant: opposite directions, or a fixed distance. Accesses further apart, in one sample or in two, tell the
 * same of walks that are slow enough, but never that arrays have nothing to do with each other. Even close ones may
 * belong to two iterations, each with an index of its own: that verdict is weak, and others may overrule it.
 * Limits: two arrays of which a loop uses a few elements only cannot be told from arrays walked together. */
#include "analysis/advice/layout/regroup.h"

#include <math.h>
#include <stdlib.h>

enum {
    PLACES_NEEDED = 6, /* of each walk, for quantiles */
    CLOSE_NEEDED = 6,  /* to say that arrays are not walked together */
    LOOSE_NEEDED = 8,
    ALONE_NEEDED = 12,
    ALWAYS_NEAR = 16 /* elements */
};

static const double near_share = 0.2, loose_share = 0.5;

static int order_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double order_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, order_compare);
    return values[count / 2];
}

static double order_index(const struct lwp_regroup_array *array, uint64_t offset)
{
    return ((double)offset - (double)array->start) / (double)array->element_bytes;
}

/* The range of 96 % of the places (or less, when they are few), of indices or of times. */
static void order_bounds(const struct lwp_regroup_array *array, const struct lwp_traversal *walk, bool time, double *low,
                         double *high)
{
    double values[LWP_TRAVERSAL_PLACES];
    for (uint32_t i = 0; i < walk->count; i++)
        values[i] =
            time ? (double)walk->places[i].time : order_index(array, walk->places[i].offset) / (double)array->elements;
    qsort(values, walk->count, sizeof *values, order_compare);
    uint32_t cut = walk->count / 24;
    *low = values[cut];
    *high = values[walk->count - 1 - cut];
}

/* The usual distance between the indices of two arrays at unrelated moments; within a thread where that is known. */
static double order_usual(const struct lwp_regroup_array *a, const struct lwp_traversal *walk_a,
                          const struct lwp_regroup_array *b, const struct lwp_traversal *walk_b)
{
    enum { LOOKED_AT = 24, ENOUGH = 24 };
    double distances[LOOKED_AT * LOOKED_AT];
    for (int same_thread = 1; same_thread >= 0; same_thread--) {
        size_t count = 0;
        for (uint32_t i = 0; i < walk_a->count && i < LOOKED_AT; i++)
            for (uint32_t j = 0; j < walk_b->count && j < LOOKED_AT; j++)
                if (!same_thread || walk_a->places[i].thread == walk_b->places[j].thread)
                    distances[count++] =
                        fabs(order_index(a, walk_a->places[i].offset) - order_index(b, walk_b->places[j].offset));
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

size_t lwp_regroup_indices(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b,
                           const struct lwp_traversal_pair *pair, bool close, double *of_a, double *of_b)
{
    const struct lwp_traversal_meetings *meetings = close ? &pair->close : &pair->loose;
    bool swapped = pair->a != a->object;
    for (uint32_t i = 0; i < meetings->count; i++) {
        const struct lwp_traversal_meeting *meeting = &meetings->kept[i];
        of_a[i] = order_index(a, swapped ? meeting->b : meeting->a);
        of_b[i] = order_index(b, swapped ? meeting->a : meeting->b);
    }
    return meetings->count;
}

size_t lwp_regroup_ahead(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b,
                         const struct lwp_traversal_pair *pair, bool close, double *ahead)
{
    double of_a[LWP_TRAVERSAL_MEETINGS], of_b[LWP_TRAVERSAL_MEETINGS];
    size_t count = lwp_regroup_indices(a, b, pair, close, of_a, of_b);
    for (size_t i = 0; i < count; i++)
        ahead[i] = of_b[i] - of_a[i];
    return count;
}

static double order_near(double usual)
{
    return fmax(ALWAYS_NEAR, usual / 64);
}

void lwp_regroup_count(const struct lwp_regroup_array *a, const struct lwp_traversal *walk_a,
                       const struct lwp_regroup_array *b, const struct lwp_traversal *walk_b,
                       const struct lwp_traversal_pair *pair, struct lwp_regroup_meetings *sum)
{
    double ahead[LWP_TRAVERSAL_MEETINGS], usual = order_usual(a, walk_a, b, walk_b), limit = order_near(usual);
    for (int close = 0; close < 2; close++) {
        size_t count = lwp_regroup_ahead(a, b, pair, close, ahead), near = 0;
        for (size_t i = 0; i < count; i++) {
            near += fabs(ahead[i]) <= limit;
            sum->equal += fabs(ahead[i]) <= ALWAYS_NEAR && usual >= 1024 * ALWAYS_NEAR;
        }
        *(close ? &sum->close : &sum->loose) += count;
        *(close ? &sum->close_near : &sum->loose_near) += near;
    }
}

/* `sure`: the two accesses were so close that indices that differ are other indices, not other moments. */
static struct lwp_regroup_verdict order_judge(const struct lwp_regroup_array *a, const struct lwp_regroup_array *b,
                                              const struct lwp_traversal_meetings *meetings, bool swapped, double usual,
                                              size_t needed, bool sure)
{
    const struct lwp_regroup_verdict unknown = {LWP_REGROUP_UNKNOWN, NULL, false};
    double x[LWP_TRAVERSAL_MEETINGS], y[LWP_TRAVERSAL_MEETINGS], middle;
    size_t count = meetings->count, near = 0, very_near = 0;
    double limit = order_near(usual);
    for (size_t i = 0; i < count; i++) {
        const struct lwp_traversal_meeting *meeting = &meetings->kept[i];
        x[i] = order_index(a, swapped ? meeting->b : meeting->a);
        y[i] = order_index(b, swapped ? meeting->a : meeting->b);
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
        return (struct lwp_regroup_verdict){LWP_REGROUP_ORDER, "they are walked in opposite directions", false};
    if (!sure)
        return unknown;
    if (order_spread(x, y, count, false, &middle) < usual / 8)
        return (struct lwp_regroup_verdict){LWP_REGROUP_ORDER, "their indices keep a large distance", false};
    return (struct lwp_regroup_verdict){LWP_REGROUP_ORDER, "their indices have nothing to do with each other", true};
}

struct lwp_regroup_verdict lwp_regroup_relate(const struct lwp_regroup_array *a, const struct lwp_traversal *walk_a,
                                              const struct lwp_regroup_array *b, const struct lwp_traversal *walk_b,
                                              const struct lwp_traversal_pair *pair)
{
    struct lwp_regroup_verdict verdict = {LWP_REGROUP_UNKNOWN, NULL, false};
    if (!walk_a || !walk_b)
        return verdict;
    if (walk_a->count >= PLACES_NEEDED && walk_b->count >= PLACES_NEEDED) {
        double low_a, high_a, low_b, high_b;
        order_bounds(a, walk_a, false, &low_a, &high_a);
        order_bounds(b, walk_b, false, &low_b, &high_b);
        if (high_a <= low_b || high_b <= low_a)
            return (struct lwp_regroup_verdict){LWP_REGROUP_RANGE, "the loop uses other parts of them", false};
        order_bounds(a, walk_a, true, &low_a, &high_a);
        order_bounds(b, walk_b, true, &low_b, &high_b);
        if (high_a <= low_b || high_b <= low_a)
            return (struct lwp_regroup_verdict){LWP_REGROUP_TIME, "the loop uses them one after the other", false};
    }
    if (walk_a->alone >= ALONE_NEEDED && walk_b->alone >= ALONE_NEEDED &&
        (!pair || pair->close.count + pair->loose.count == 0))
        return (struct lwp_regroup_verdict){LWP_REGROUP_AFFINITY, "no run of a loop uses both", true};
    if (!pair)
        return verdict;
    double usual = order_usual(a, walk_a, b, walk_b);
    bool swapped = pair->a != a->object;
    verdict = order_judge(a, b, &pair->close, swapped, usual, CLOSE_NEEDED, true);
    if (verdict.reason == LWP_REGROUP_UNKNOWN || verdict.weak) {
        struct lwp_regroup_verdict other = order_judge(a, b, &pair->loose, swapped, usual, LOOSE_NEEDED, false);
        if (other.reason == LWP_REGROUP_UNKNOWN)
            other = order_judge(a, b, &pair->next, swapped, usual, LOOSE_NEEDED, false);
        if (other.reason != LWP_REGROUP_UNKNOWN)
            verdict = other;
    }
    return verdict;
}
