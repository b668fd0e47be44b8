/* From decided watches to shares. With D = waste / (waste + use) (Witch, eq. 4.1) over all pairs, each weighted by what
 * it stands for (watched.c); what a context was sampled for after its last decision is dealt out like the rest of that
 * context. Contexts of which nothing was ever decided are not guessed: their part is `undecided`.
 *
 * This is a stratified estimate: p = sum of W_c p_c over contexts c, the share W_c of the sampled weight that was on c
 * from all n candidates, p_c from the m_c of them that were decided. The 95 % interval adds up both sources of error,
 *     Var p = (sum W_c p_c^2 - p^2) / n + sum W_c^2 p_c (1 - p_c) / m_c
 * (double sampling for stratification: Cochran, Sampling Techniques, chapter 12), n and m_c being numbers of equally
 * weighted observations (Kish), and p_c moved by half an observation, since few decisions that agree do not make sure.
 */
#include "analysis/redundancy.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS_LISTED = 200 };

static const double share_listed = 0.002;

const char *lwp_redundancy_kind(enum lwp_watched_kind kind)
{
    static const char *const names[LWP_WATCHED_KINDS] = {"dead_store", "silent_store", "silent_load"};
    return names[kind];
}

static int redundancy_compare(const void *a, const void *b)
{
    const struct lwp_redundancy *x = a, *y = b;
    if (x->amount != y->amount)
        return x->amount < y->amount ? 1 : -1;
    return (x->pair > y->pair) - (x->pair < y->pair); /* settled order */
}

/* All that is known of one first context. */
struct stratum {
    const struct lwp_watched_origin *origin;
    const struct lwp_watched_pair *pairs;
    size_t pair_count;
    double weight;            /* of its candidates that ended with a verdict, or would have */
    double use, waste, close; /* as decided: only their proportions count */
    double observations;      /* so many equally weighted decisions would tell as much */
};

/* Whether a store that is dead for its own thread may be of use to another. */
static bool redundancy_is_unknown(const struct lwp_watched *watched, const struct lwp_watched_pair *pair)
{
    return pair->kind == LWP_WATCHED_DEAD_STORE && lwp_watched_is_read_elsewhere(watched, pair->object);
}

/* Origins and pairs are in the same order: *pair goes along with the origin. */
static struct stratum redundancy_stratum(const struct lwp_watched *watched, size_t origin, size_t *pair)
{
    const struct lwp_watched_origin *from = &watched->origins[origin];
    struct stratum stratum = {.origin = from};
    size_t at = *pair;
    double squares = 0, unknown = 0;
    while (at < watched->pair_count && watched->pairs[at].kind == from->kind && watched->pairs[at].first < from->first)
        at++;
    stratum.pairs = watched->pairs + at;
    for (; at < watched->pair_count && watched->pairs[at].kind == from->kind && watched->pairs[at].first == from->first;
         at++) {
        stratum.pair_count++;
        if (redundancy_is_unknown(watched, &watched->pairs[at])) {
            unknown += (double)watched->pairs[at].use.weight + (double)watched->pairs[at].waste.weight;
            continue;
        }
        stratum.use += (double)watched->pairs[at].use.weight;
        stratum.waste += (double)watched->pairs[at].waste.weight;
        stratum.close += (double)watched->pairs[at].close.weight;
        squares += (double)watched->pairs[at].use.squares + (double)watched->pairs[at].waste.squares +
                   (double)watched->pairs[at].close.squares;
    }
    double decided = stratum.use + stratum.waste + stratum.close;
    if (squares > 0)
        stratum.observations = decided * decided / squares;
    *pair = at;
    uint64_t told = from->decided_weight + from->dropped_weight;
    if (told && decided > 0)
        stratum.weight = (double)from->sampled.weight * (double)from->decided_weight / (double)told *
                         (decided / (decided + unknown));
    return stratum;
}

/* The error that a part q of a stratum adds, whose mean is taken away elsewhere. */
static double redundancy_within(double part, double q, double m)
{
    double smooth = (q * m + 0.5) / (m + 1);
    return part * part * smooth * (1 - smooth) / (m + 1);
}

static struct lwp_share redundancy_share(double value, double variance)
{
    const double z = 1.959964;
    double half = z * sqrt(fmax(0, variance));
    return (struct lwp_share){value, fmax(0, value - half), fmin(1, value + half)};
}

static void redundancy_kind(struct lwp_profile *profile, enum lwp_watched_kind kind, struct lwp_redundancies *found)
{
    const struct lwp_watched *watched = &profile->watched;
    struct lwp_redundancy_total *total = &found->totals[kind];
    struct stratum *strata = lwp_arena_alloc(profile->arena, watched->origin_count + 1, sizeof *strata);
    struct lwp_sum sampled = {0};
    size_t count = 0, pair = 0, first = found->count;
    double weight = 0, unknown = 0;
    while (pair < watched->pair_count && watched->pairs[pair].kind != kind)
        pair++;
    for (size_t i = 0; i < watched->origin_count; i++) {
        const struct lwp_watched_origin *origin = &watched->origins[i];
        if (origin->kind != kind)
            continue;
        lwp_sum_merge(&sampled, &origin->sampled);
        total->candidates += origin->sampled.samples;
        total->decided += origin->decided;
        strata[count] = redundancy_stratum(watched, i, &pair);
        if (strata[count].weight > 0)
            weight += strata[count++].weight;
        else if (origin->decided_weight || !origin->dropped_weight)
            unknown += (double)origin->sampled.weight;
    }
    const struct lwp_tally all = lwp_sum_tally(&sampled);
    total->total = all.weight;
    total->undecided = all.weight > 0 ? unknown / all.weight : 0;
    if (weight <= 0)
        return;
    total->measured = true;
    double n = all.weight * all.weight / all.squares, p = 0, squares = 0, within = 0, close = 0;
    for (size_t i = 0; i < count; i++) {
        const struct stratum *stratum = &strata[i];
        double decided = stratum->use + stratum->waste + stratum->close, part = stratum->weight / weight;
        double q = (stratum->waste + stratum->close) / decided;
        p += part * q;
        squares += part * q * q;
        within += redundancy_within(part, q, stratum->observations);
        close += stratum->close / decided * stratum->weight;
        for (size_t k = 0; k < stratum->pair_count; k++) {
            const struct lwp_watched_pair *one = &stratum->pairs[k];
            double waste = (double)one->waste.weight + (double)one->close.weight, r = waste / decided;
            if (waste <= 0 || redundancy_is_unknown(watched, one))
                continue;
            found->items[found->count++] = (struct lwp_redundancy){
                .kind = kind,
                .pair = one,
                .amount = stratum->weight * r,
                .close = (double)one->close.weight / waste,
                .samples = one->waste.samples + one->close.samples,
                .share = redundancy_share(part * r, part * r * r * (1 - part) / n +
                                                        redundancy_within(part, r, stratum->observations))};
        }
    }
    total->share = redundancy_share(p, (squares - p * p) / n + within);
    total->wasted = p * weight;
    total->close = close;
    qsort(found->items + first, found->count - first, sizeof *found->items, redundancy_compare);
    size_t kept = first;
    while (kept < found->count && kept - first < PAIRS_LISTED && found->items[kept].share.value >= share_listed)
        kept++;
    found->count = kept;
}

void lwp_redundancy_find(struct lwp_profile *profile, struct lwp_redundancies *found)
{
    *found = (struct lwp_redundancies){0};
    found->items = lwp_arena_alloc(profile->arena, profile->watched.pair_count + 1, sizeof *found->items);
    for (unsigned kind = 0; kind < LWP_WATCHED_KINDS; kind++)
        redundancy_kind(profile, (enum lwp_watched_kind)kind, found);
    for (size_t i = 0; i < found->count; i++)
        lwp_redundancy_explain(profile, &found->items[i]);
}
