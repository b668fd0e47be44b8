/* Which arrays one loop uses together.
 *
 * First each pair by itself (regroup_order.c). Then what pairs alone do not show: few samples catch two given arrays of 27, so what
 * goes with a third array at each index goes together, and an array of which no pair is conclusive is held against all of a group
 * at once. Last, an array that the loop also uses a fixed distance away, so far that caches do not hold what lies between (the
 * planes of a stencil), is taken out: regrouped, each of its accesses would fetch the other arrays' elements for nothing. */
#include "analysis/advice/layout/regroup_internal.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_MAX = 2048, POOL_NEEDED = 10, SAME_DISTANCE = 8, DISTANCES_SHOW = 1 << 15 };

static const double distant_share = 0.3;

struct loop_view {
    const struct lwp_regroup_candidates *candidates;
    const struct lwp_regroup_loop *loop;
    size_t used[LWP_REGROUP_ARRAYS_MAX], count; /* candidates in the loop */
    struct lwp_regroup_use of[LWP_REGROUP_ARRAYS_MAX];
    struct lwp_regroup_verdict verdicts[LWP_REGROUP_ARRAYS_MAX][LWP_REGROUP_ARRAYS_MAX];
};

static const struct lwp_regroup_array *loop_array(const struct loop_view *view, size_t i)
{
    return view->of[i].array;
}

static const struct lwp_traversal_pair *loop_pair(const struct loop_view *view, size_t i, size_t j)
{
    return lwp_traversals_pair(&view->candidates->traversals, loop_array(view, i)->object, loop_array(view, j)->object, view->loop->region);
}

static bool loop_together(const struct loop_view *view, size_t i, size_t j)
{
    return i != j && view->verdicts[i][j].reason == LWP_REGROUP_NONE;
}

static bool loop_open(const struct lwp_regroup_verdict *verdict)
{
    return verdict->reason == LWP_REGROUP_UNKNOWN || verdict->weak;
}

static void loop_set_together(struct loop_view *view, size_t i, size_t j)
{
    view->verdicts[i][j] = view->verdicts[j][i] = (struct lwp_regroup_verdict){LWP_REGROUP_NONE, NULL, false};
}

static void loop_conclude(struct loop_view *view)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < view->count; k++)
            for (size_t i = 0; i < view->count; i++)
                for (size_t j = 0; loop_together(view, i, k) && j < view->count; j++)
                    if (j != i && loop_together(view, k, j) && loop_open(&view->verdicts[i][j])) {
                        loop_set_together(view, i, j);
                        changed = true;
                    }
    }
}

/* Whether array i is as far from some other array as the arrays that go with k are: of a stencil, all coefficients are
 * at the same few distances from the array it is applied to. */
static bool loop_shares_distances(const struct loop_view *view, size_t i, size_t k)
{
    double mine[LWP_TRAVERSAL_MEETINGS], its[LWP_TRAVERSAL_MEETINGS];
    size_t all = 0, shared = 0;
    for (size_t h = 0; h < view->count; h++) {
        const struct lwp_traversal_pair *pair = h == i ? NULL : loop_pair(view, i, h);
        size_t count = pair ? lwp_regroup_ahead(loop_array(view, i), loop_array(view, h), pair, &pair->close, mine) : 0;
        bool found[LWP_TRAVERSAL_MEETINGS] = {false};
        if (loop_array(view, i)->elements < DISTANCES_SHOW)
            continue;
        for (size_t m = 0; m < view->count && count; m++) {
            if (m == i || m == h || (m != k && !loop_together(view, k, m)) || !(pair = loop_pair(view, m, h)))
                continue;
            size_t others = lwp_regroup_ahead(loop_array(view, m), loop_array(view, h), pair, &pair->close, its);
            for (size_t a = 0; a < count; a++)
                for (size_t b = 0; b < others; b++)
                    found[a] |= fabs(mine[a] - its[b]) <= SAME_DISTANCE;
        }
        all += count;
        for (size_t a = 0; a < count; a++)
            shared += found[a];
    }
    return shared > 0 && shared * 2 >= all;
}

/* Array i, of which no pair is conclusive, against all that go with `k`. */
static void loop_pool(struct loop_view *view, size_t i, size_t k)
{
    struct lwp_regroup_meetings sum = {0};
    for (size_t m = 0; m < view->count; m++) {
        if (m == i || (m != k && !loop_together(view, k, m)))
            continue;
        const struct lwp_traversal_pair *pair = loop_pair(view, i, m);
        if (!loop_open(&view->verdicts[i][m]))
            return;
        if (pair && view->of[i].traversal && view->of[m].traversal)
            lwp_regroup_count(view->of[i], view->of[m], pair, &sum);
    }
    bool close = sum.close_near >= 2 && sum.close_near * 5 >= sum.close;
    bool loose = sum.close_near + sum.loose_near >= 3 && sum.loose_near * 2 >= sum.loose;
    bool equal = sum.equal >= 1 && sum.equal * 4 >= sum.close + sum.loose;
    if (!close && !loose && !equal && !loop_shares_distances(view, i, k))
        return;
    for (size_t m = 0; m < view->count; m++)
        if (m != i && (m == k || loop_together(view, k, m)))
            loop_set_together(view, i, m);
}

static void loop_pools(struct loop_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        size_t largest = 0, with = view->count;
        bool alone = true;
        for (size_t k = 0; k < view->count; k++) {
            size_t size = 0;
            alone &= !loop_together(view, i, k);
            for (size_t m = 0; m < view->count; m++)
                size += loop_together(view, k, m);
            if (size > largest) {
                largest = size;
                with = k;
            }
        }
        if (alone && largest >= 2)
            loop_pool(view, i, with);
    }
}

/* An array's meetings with others at one of a few large distances, and all of them. */
static size_t loop_distant(const struct loop_view *view, size_t i, const bool *out, double limit, size_t *all)
{
    double pool[POOL_MAX];
    size_t count = 0, distant = 0;
    for (size_t k = 0; k < view->count; k++) {
        const struct lwp_traversal_pair *pair = k != i && !out[k] ? loop_pair(view, i, k) : NULL;
        if (pair && count + LWP_TRAVERSAL_MEETINGS <= POOL_MAX)
            count += lwp_regroup_ahead(loop_array(view, i), loop_array(view, k), pair, &pair->close, pool + count);
    }
    *all = count;
    if (count)
        qsort(pool, count, sizeof *pool, lwp_compare_double);
    for (size_t at = 0; at < count; at++) {
        bool again = (at > 0 && pool[at] - pool[at - 1] <= SAME_DISTANCE) || (at + 1 < count && pool[at + 1] - pool[at] <= SAME_DISTANCE);
        distant += again && fabs(pool[at]) > limit;
    }
    return distant;
}

/* One by one, those with most such meetings first: then the others have none any more. */
static void loop_outliers(struct loop_view *view, uint64_t cache)
{
    bool out[LWP_REGROUP_ARRAYS_MAX] = {false};
    uint64_t bytes = 0;
    for (size_t i = 0; i < view->count; i++)
        bytes += loop_array(view, i)->element_bytes;
    for (;;) {
        size_t which = view->count, most = 0, all;
        for (size_t i = 0; i < view->count; i++) {
            size_t distant = out[i] ? 0 : loop_distant(view, i, out, (double)cache / (double)bytes, &all);
            if (distant > most && all >= POOL_NEEDED && (double)distant > distant_share * (double)all) {
                most = distant;
                which = i;
            }
        }
        if (which == view->count)
            return;
        out[which] = true;
        for (size_t k = 0; k < view->count; k++)
            if (loop_together(view, which, k) || (k != which && loop_open(&view->verdicts[which][k])))
                view->verdicts[which][k] = view->verdicts[k][which] =
                    (struct lwp_regroup_verdict){LWP_REGROUP_ORDER, "one of them is also used a large, fixed distance away", false};
    }
}

void lwp_regroup_look(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                      const struct lwp_regroup_loop *loop, struct lwp_regroup_seen *seen)
{
    struct loop_view *view = lwp_zeroed(1, sizeof *view);
    view->candidates = candidates;
    view->loop = loop;
    for (size_t c = 0; c < candidates->count; c++)
        if (loop->uses[c]) {
            const struct lwp_regroup_array *array = &candidates->arrays[c];
            view->of[view->count] =
                (struct lwp_regroup_use){array, lwp_traversals_of(&candidates->traversals, array->object, loop->region), loop->step[c]};
            view->used[view->count++] = c;
        }
    for (size_t i = 0; i < view->count; i++)
        for (size_t j = i + 1; j < view->count; j++)
            view->verdicts[i][j] = view->verdicts[j][i] = lwp_regroup_relate(view->of[i], view->of[j], loop_pair(view, i, j));
    loop_outliers(view, lwp_gain_caches(profile->machine).l2_bytes / 2);
    loop_conclude(view);
    loop_pools(view);
    for (size_t i = 0; i < view->count; i++)
        for (size_t j = i + 1; j < view->count; j++) {
            struct lwp_regroup_seen *pair = &seen[view->used[i] * candidates->count + view->used[j]];
            struct lwp_regroup_verdict verdict = view->verdicts[i][j];
            if (verdict.reason == LWP_REGROUP_AFFINITY) { /* a function called with either: as good as two loops */
                pair->separate += loop->weight;
                continue;
            }
            pair->common += loop->weight;
            pair->parts += 2 * loop->weight / (double)view->count;
            if (verdict.reason == LWP_REGROUP_NONE) {
                pair->together += loop->weight;
            } else if (verdict.reason != LWP_REGROUP_UNKNOWN) {
                pair->conflict += loop->weight;
                if (loop->weight > pair->heaviest) {
                    pair->heaviest = loop->weight;
                    pair->worst = verdict;
                }
            }
        }
    free(view);
}
