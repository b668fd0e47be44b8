/* From decided samples to shares, with D = waste / (waste + use) (Witch, eq. 4.1) over all pairs, each weighted by the samples it stands
 * for (watchpoints.c); the samples of a context after its last decision are divided like the rest of that context. Contexts of which
 * nothing was ever decided are not guessed: their part is `undecided`.
 *
 * This is a stratified estimate: p = sum of W_c p_c over contexts c, the share W_c of the sampled cost that was on c from all n
 * candidates, p_c from the m_c of them that were decided. The 95 % interval adds up both sources of error,
 *     Var p = (sum W_c p_c^2 - p^2) / n + sum W_c^2 p_c (1 - p_c) / m_c
 * (double sampling for stratification: Cochran, Sampling Techniques, chapter 12), n and m_c being numbers of equally weighted
 * observations (Kish), and p_c moved by half an observation, since few decisions that agree prove little. The width is Student's,
 * with the degrees of freedom of a sum of such parts (Satterthwaite). Of exact counts the same sums are taken, with no interval.
 * A pair is the same sum over the contexts it was seen in that differ in nothing a reader distinguishes (part_context). */
#include "analysis/advice/redundancy/redundancy.h"

#include "analysis/advice/redundancy/redundancy_counts.h"
#include "analysis/advice/redundancy/redundancy_estimate.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/thread_roots.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS_LISTED = 200 };

static const double share_listed = 0.002, spatial_listed = 0.2; /* RedSpy's threshold */

static int redundancy_compare(const void *a, const void *b)
{
    const struct lwp_redundancy *x = a, *y = b;
    if (x->amount != y->amount)
        return x->amount < y->amount ? 1 : -1;
    return (x->pair > y->pair) - (x->pair < y->pair); /* the same order in each run */
}

static int redundancy_compare_shares(const void *a, const void *b)
{
    const struct lwp_redundancy *x = a, *y = b;
    return LWP_COMPARE(y->share.value, x->share.value) ?: redundancy_compare(a, b);
}

/* All that is known of one first context. */
struct redundancy_stratum {
    const struct lwp_watchpoint_origin *origin;
    const struct lwp_watchpoint_pair *pairs;
    size_t pair_count;
    double weight;                     /* of its candidates that ended with a verdict, or would have */
    double use, waste, close, decided; /* decided: the sum; only their proportions count */
    double observations;               /* so many equally weighted decisions would be as conclusive */
};

/* Whether a store that is dead for its own thread may be of use to another. */
static bool redundancy_is_unknown(const struct lwp_watchpoints *watched, const struct lwp_watchpoint_pair *pair)
{
    return pair->kind == LWP_WATCHPOINT_DEAD_STORE && lwp_watchpoint_is_read_elsewhere(watched, pair->object);
}

/* Origins and pairs are in the same order: *pair goes along with the origin. */
static struct redundancy_stratum stratum_of(const struct lwp_watchpoints *watched, size_t origin, size_t *pair)
{
    const struct lwp_watchpoint_origin *from = &watched->origins[origin];
    struct redundancy_stratum stratum = {.origin = from};
    size_t at = *pair;
    double squares = 0, unknown = 0;
    while (at < watched->pair_count && watched->pairs[at].kind == from->kind && watched->pairs[at].first < from->first)
        at++;
    stratum.pairs = watched->pairs + at;
    for (; at < watched->pair_count && watched->pairs[at].kind == from->kind && watched->pairs[at].first == from->first; at++) {
        stratum.pair_count++;
        if (redundancy_is_unknown(watched, &watched->pairs[at])) {
            unknown += (double)watched->pairs[at].use.weight + (double)watched->pairs[at].waste.weight;
            continue;
        }
        stratum.use += (double)watched->pairs[at].use.weight;
        stratum.waste += (double)watched->pairs[at].waste.weight;
        stratum.close += (double)watched->pairs[at].close.weight;
        squares +=
            (double)watched->pairs[at].use.squares + (double)watched->pairs[at].waste.squares + (double)watched->pairs[at].close.squares;
    }
    stratum.decided = stratum.use + stratum.waste + stratum.close;
    if (squares > 0)
        stratum.observations = stratum.decided * stratum.decided / squares;
    *pair = at;
    uint64_t ended = from->decided_weight + from->dropped_weight;
    if (ended && stratum.decided > 0)
        stratum.weight =
            (double)from->sampled.weight * (double)from->decided_weight / (double)ended * (stratum.decided / (stratum.decided + unknown));
    return stratum;
}

/* What one pair of contexts has of all waste of its kind. */
struct redundancy_part {
    uint32_t first, second; /* as part_context() has them */
    uint64_t object;        /* the same for blocks allocated on the same path */
    const struct lwp_watchpoint_pair *pair;
    const struct redundancy_stratum *stratum;
    uint32_t index; /* of the stratum */
    double waste;
};

/* What makes contexts alike. */
struct redundancy_places {
    struct lwp_thread_roots roots;
    struct lwp_map lines; /* source line in a function -> the first of its instructions met, from the function's start */
};

/* One address for all instructions of a function that come from one line, inlined by the same callers. */
static uint64_t part_line(struct lwp_profile *profile, struct redundancy_places *places, const struct lwp_context_node *node)
{
    const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, node->module, node->address);
    uint64_t key = lwp_hash_mix(node->module, place->function_low);
    if (place->function_low >= place->function_high || node->address - place->function_low >= LWP_MAP_NONE)
        return node->address;
    for (uint32_t i = 0; i < place->frame_count; i++) {
        const struct lwp_frame *frame = &place->frames[i];
        if (!frame->file || !frame->line)
            return node->address;
        key = lwp_hash_mix(lwp_hash_mix(key, lwp_hash_text(frame->file)), frame->line);
    }
    uint32_t *first = lwp_map_at(&places->lines, key);
    if (*first == LWP_MAP_NONE)
        *first = (uint32_t)(node->address - place->function_low);
    return place->function_low + *first;
}

/* What a reader distinguishes contexts by: not by how their threads began, nor by which instruction of a line or of a function of the
 * C library it is. */
static uint32_t part_context(struct lwp_profile *profile, struct redundancy_places *places, uint32_t context)
{
    const struct lwp_context_node node = profile->contexts[context];
    bool library = node.parent && lwp_objects_library_code(profile, node.module);
    if (context && node.module != LWP_NONE)
        context = lwp_contexts_child(
            profile, node.parent, node.module,
            library ? lwp_contexts_function(profile, node.module, node.address) : part_line(profile, places, &node), library);
    return lwp_thread_roots_cut(profile, &places->roots, context);
}

static int part_compare_alike(const struct redundancy_part *x, const struct redundancy_part *y)
{
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

static double part_amount(const struct redundancy_part *part)
{
    return part->stratum->weight * part->waste / part->stratum->decided;
}

static int part_compare(const void *a, const void *b)
{
    const struct redundancy_part *x = a, *y = b;
    int alike = part_compare_alike(x, y);
    if (alike)
        return alike;
    double p = part_amount(x), q = part_amount(y);
    return p != q ? (p < q) - (p > q) : (x->pair > y->pair) - (x->pair < y->pair);
}

/* What the part's pairs are of `all`, which were counted with those that are only about the same, or else only these. */
static uint64_t part_of_count(const struct redundancy_part *part, uint64_t all)
{
    double both = (double)part->pair->waste.weight + (double)part->pair->close.weight;
    return (uint64_t)((double)all * part->waste / both + 0.5);
}

static uint64_t part_samples(const struct redundancy_part *part, bool approximate)
{
    const struct lwp_watchpoint_pair *pair = part->pair;
    return pair->times ? part_of_count(part, pair->times) : approximate ? pair->close.samples : pair->waste.samples;
}

/* One item of parts that are alike, the largest first; `weight`: of all strata, `n`: candidates in them. */
static struct lwp_redundancy redundancy_item(struct lwp_profile *profile, const struct redundancy_part *parts, size_t count, double weight,
                                             double n, bool approximate)
{
    struct lwp_redundancy_path *paths = lwp_arena_alloc(profile->arena, count, sizeof *paths);
    struct lwp_redundancy item = {.kind = parts->pair->kind,
                                  .approximate = approximate,
                                  .pair = parts->pair,
                                  .others = paths + 1,
                                  .other_count = count - 1,
                                  .first = parts->first,
                                  .second = parts->second};
    struct redundancy_estimate share = {0};
    double waste = 0, decided = 0, neighbours = 0;
    for (size_t i = 0; i < count; i++) {
        const struct lwp_watchpoint_pair *pair = parts[i].pair;
        double all = parts[i].stratum->weight / weight, amount = part_amount(&parts[i]), r = amount / weight / all;
        paths[i] = (struct lwp_redundancy_path){pair, amount / weight, r, parts[i].index, part_samples(&parts[i], approximate)};
        item.amount += amount;
        item.samples += paths[i].samples;
        item.again += part_of_count(&parts[i], pair->again);
        item.moved += part_of_count(&parts[i], pair->moved);
        estimate_add(&share, all, r, parts[i].stratum->observations);
        waste += parts[i].waste;
        neighbours += (double)(pair->again + pair->moved) * pair->bytes;
        decided += (double)pair->waste.weight + (double)pair->close.weight + (double)pair->use.weight;
    }
    item.share = estimate_share(&share, n);
    item.own = waste / decided;
    item.neighbours = neighbours / decided;
    if (item.kind == LWP_WATCHPOINT_SPATIAL)
        item.approximate = item.again > item.moved; /* of the neighbours */
    return item;
}

static size_t redundancy_parts(struct lwp_profile *profile, struct redundancy_places *places, const struct redundancy_stratum *stratum,
                               uint32_t index, bool approximate, struct redundancy_part *parts)
{
    size_t count = 0;
    for (size_t k = 0; k < stratum->pair_count; k++) {
        const struct lwp_watchpoint_pair *pair = &stratum->pairs[k];
        double waste = (double)(approximate ? pair->close.weight : pair->waste.weight);
        if (waste > 0 && !redundancy_is_unknown(&profile->watchpoints, pair))
            parts[count++] = (struct redundancy_part){.first = part_context(profile, places, pair->first),
                                                      .second = part_context(profile, places, pair->second),
                                                      .object = lwp_thread_roots_object(profile, &places->roots, pair->object),
                                                      .pair = pair,
                                                      .stratum = stratum,
                                                      .index = index,
                                                      .waste = waste};
    }
    return count;
}

/* The strata of a kind, in `strata`; counts what they hold, and what is unknown. */
static size_t redundancy_strata(const struct lwp_watchpoints *watched, enum lwp_watchpoint_kind kind, struct redundancy_stratum *strata,
                                struct lwp_redundancy_total *total, struct lwp_tally *all)
{
    struct lwp_sum sampled = {0};
    size_t count = 0, pair = 0;
    double unknown = 0;
    while (pair < watched->pair_count && watched->pairs[pair].kind != kind)
        pair++;
    for (size_t i = 0; i < watched->origin_count; i++) {
        const struct lwp_watchpoint_origin *origin = &watched->origins[i];
        if (origin->kind != kind)
            continue;
        lwp_sum_merge(&sampled, &origin->sampled);
        total->candidates += origin->sampled.samples;
        total->decided += origin->decided;
        strata[count] = stratum_of(watched, i, &pair);
        if (watched->exact)
            unknown += (double)origin->dropped_weight;
        else if (strata[count].weight <= 0)
            unknown += (double)origin->sampled.weight;
        count += strata[count].weight > 0;
    }
    *all = lwp_sum_tally(&sampled);
    total->total = all->weight;
    total->undecided = all->weight > 0 ? unknown / all->weight : 0;
    return count;
}

/* All strata of a kind. */
struct redundancy_strata {
    struct redundancy_stratum *strata;
    size_t count;
    double weight; /* of all */
    double n;      /* observations that their weights were estimated from; infinite where all was counted */
    bool exact;    /* weights are bytes already */
    uint32_t groups;
    struct lwp_access_place *places; /* each stratum's; NULL: exact */
    struct lwp_access_rate *rates;
    double *p, *m; /* room for a number each */
};

static void strata_count(struct lwp_profile *profile, struct redundancy_strata *all)
{
    size_t room = all->count + 1;
    all->places = lwp_arena_alloc(profile->arena, room, sizeof *all->places);
    all->rates = lwp_arena_alloc(profile->arena, room, sizeof *all->rates);
    all->p = lwp_arena_alloc(profile->arena, room, sizeof *all->p);
    all->m = lwp_arena_alloc(profile->arena, room, sizeof *all->m);
    for (size_t i = 0; i < all->count; i++) {
        const struct redundancy_stratum *stratum = &all->strata[i];
        all->places[i] = (struct lwp_access_place){.context = stratum->origin->first, .object = LWP_NONE, .weight = stratum->weight};
        for (size_t k = 0; k < stratum->pair_count && (all->places[i].object == LWP_NONE || !all->places[i].bytes); k++) {
            all->places[i].object = stratum->pairs[k].object;
            all->places[i].bytes = stratum->pairs[k].bytes;
        }
        all->m[i] = stratum->observations;
    }
    all->groups = lwp_access_rates(profile, all->places, all->count, all->rates);
}

static struct lwp_share strata_share(const struct redundancy_strata *all)
{
    return lwp_access_share(all->places, all->rates, all->count, all->groups, all->p, all->m, all->n);
}

/* Of bytes, where until now it is of time. */
static void item_count(const struct redundancy_strata *all, struct lwp_redundancy *item)
{
    const struct lwp_redundancy_path *paths = item->others - 1;
    item->time = item->share;
    if (all->exact)
        return;
    for (size_t i = 0; i < all->count; i++)
        all->p[i] = 0;
    for (size_t i = 0; i <= item->other_count; i++)
        all->p[paths[i].stratum] += paths[i].fraction;
    item->share = strata_share(all);
}

/* The pairs whose values are equal, or else those whose values are only about the same; returns their share of the time, and *bytes. */
static struct lwp_share redundancy_items(struct lwp_profile *profile, struct redundancy_places *places, const struct redundancy_strata *all,
                                         bool approximate, struct lwp_redundancies *found, struct lwp_share *bytes)
{
    struct redundancy_part *parts = lwp_arena_alloc(profile->arena, profile->watchpoints.pair_count + 1, sizeof *parts);
    struct redundancy_estimate share = {0};
    size_t part_count = 0, first = found->count;
    for (size_t i = 0; i < all->count; i++) {
        const struct redundancy_stratum *stratum = &all->strata[i];
        double wasted = (approximate ? stratum->close : stratum->waste) / stratum->decided;
        estimate_add(&share, stratum->weight / all->weight, wasted, stratum->observations);
        part_count += redundancy_parts(profile, places, stratum, (uint32_t)i, approximate, parts + part_count);
        if (!all->exact)
            all->p[i] = wasted;
    }
    struct lwp_share time = estimate_share(&share, all->n);
    *bytes = all->exact ? time : strata_share(all);
    qsort(parts, part_count, sizeof *parts, part_compare);
    for (size_t i = 0, end; i < part_count; i = end) {
        for (end = i + 1; end < part_count && part_compare_alike(&parts[i], &parts[end]) == 0; end++)
            ;
        struct lwp_redundancy *item = &found->items[found->count];
        *item = redundancy_item(profile, parts + i, end - i, all->weight, all->n, approximate);
        found->count += item->kind != LWP_WATCHPOINT_SPATIAL || item->own >= spatial_listed || item->neighbours >= spatial_listed;
    }
    qsort(found->items + first, found->count - first, sizeof *found->items, redundancy_compare);
    size_t kept = first;
    while (kept < found->count && kept - first < PAIRS_LISTED && found->items[kept].share.value >= share_listed)
        item_count(all, &found->items[kept++]);
    found->count = kept;
    qsort(found->items + first, found->count - first, sizeof *found->items, redundancy_compare_shares);
    return time;
}

static void redundancy_kind(struct lwp_profile *profile, struct redundancy_places *places, enum lwp_watchpoint_kind kind,
                            struct lwp_redundancies *found)
{
    const struct lwp_watchpoints *watched = &profile->watchpoints;
    struct lwp_redundancy_total *total = &found->totals[kind];
    struct redundancy_strata strata = {.strata = lwp_arena_alloc(profile->arena, watched->origin_count + 1, sizeof *strata.strata),
                                       .exact = watched->exact};
    struct lwp_tally all;
    strata.count = redundancy_strata(watched, kind, strata.strata, total, &all);
    for (size_t i = 0; i < strata.count; i++)
        strata.weight += strata.strata[i].weight;
    if (strata.weight <= 0)
        return;
    total->measured = true;
    /* a sample's weight may be divided among several contexts, and only the one chosen counts */
    strata.n = watched->exact ? INFINITY : fmin(all.weight * all.weight / all.squares, (double)total->candidates);
    if (!strata.exact)
        strata_count(profile, &strata);
    total->time = redundancy_items(profile, places, &strata, false, found, &total->share);
    redundancy_items(profile, places, &strata, true, found, &total->close);
    total->wasted = total->time.value * strata.weight;
}

void lwp_redundancy_find(struct lwp_profile *profile, struct lwp_redundancies *found)
{
    struct redundancy_places places = {0};
    *found = (struct lwp_redundancies){0};
    found->items = lwp_arena_alloc(profile->arena, 2 * profile->watchpoints.pair_count + 1, sizeof *found->items);
    lwp_thread_roots_find(profile, &places.roots);
    for (unsigned kind = 0; kind < LWP_WATCHPOINT_KINDS; kind++)
        redundancy_kind(profile, &places, (enum lwp_watchpoint_kind)kind, found);
    lwp_thread_roots_free(&places.roots);
    lwp_map_fini(&places.lines);
    for (size_t i = 0; i < found->count; i++)
        lwp_redundancy_explain(profile, &found->items[i]);
    lwp_redundancy_lines(profile, found);
}
