/* From time to bytes. A place's executions are the time of the samples around it by the time that one takes.
 *
 * A sample looks at the accesses to come, whatever they cost, and divides its time among them: within one loop, with the functions it
 * calls, time is as executions are. So places form groups, by the innermost loop around them or around the call that leads to them,
 * and only how the groups compare is left. Where the samples show how fast a loop goes over its data (gain/pace.h: the loop's trip
 * rate) the time for each access is known. Elsewhere it lies between bounds of the cycles that an iteration takes: its instructions at
 * their best rate, or what waits in its registers for the iteration before; and at worst few instructions at once, branches mispredicted
 * and accesses waiting for the memory that their data lies in. How long a cycle is, is the same for all loops, and so no error of a share.
 * The logarithm of a rate is taken to be normal, those bounds two standard deviations from its mean, and groups to be independent; the
 * interval of a share holds the middle 95 % of what drawn rates lead to. */
#include "analysis/advice/redundancy/redundancy_counts.h"

#include "analysis/advice/gain/pace.h"
#include "analysis/advice/redundancy/redundancy_estimate.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "base/hash.h"
#include "base/order.h"

#include <stdlib.h>

/* Cycles. Processors begin some five instructions in each at best (fused ones being counted as one); at worst loops that do not wait for
 * memory take one or a little more for each (Agner Fog, The microarchitecture of Intel, AMD and VIA CPUs). What a load after a store to
 * the same place waits for is that store's forwarding. */
static const double instruction_least = 0.2, instruction_most = 1.2, chain_most = 1.3, mispredicted_most = 8, forwarded = 6,
                    second_most = 6, stream_most = 24, far_most = 200, cycle_ns = 1 / 3.0;

static const double doubt_least = 0.1; /* of a rate's logarithm, be it measured or modelled */

enum { CLIMB = 16 };

struct access_group {
    double weight, largest; /* of its places: all, and of those of one path from the loop the most */
    double pace;            /* of an iteration; 0: not known */
    double instructions, accesses, chain, branches;
    double most;             /* cycles that one of its accesses takes at worst */
    struct lwp_tally around; /* all samples in its loop, but not in nested ones, and in the functions called there that have no loop */
    bool nested;             /* there are loops in its loop */
};

uint32_t lwp_access_region(struct lwp_profile *profile, uint32_t context)
{
    const struct lwp_context_node *node = &profile->contexts[context];
    return lwp_regions_final(profile, lwp_regions_at(profile, context ? node->module : LWP_NONE, node->address));
}

uint32_t lwp_access_call(const struct lwp_profile *profile, uint32_t context)
{
    do
        context = profile->contexts[context].parent;
    while (context && lwp_objects_library_code(profile, profile->contexts[context].module));
    return context;
}

/* The innermost loop that the access is run by, be it that of a caller; LWP_NONE: none. *path: of the calls from there to the access. */
static uint32_t place_loop(struct lwp_profile *profile, uint32_t context, uint64_t *path)
{
    *path = 0;
    for (int i = 0; context && i < CLIMB; i++, context = profile->contexts[context].parent) {
        const struct lwp_context_node *node = &profile->contexts[context];
        *path = lwp_hash_mix(*path, lwp_hash_mix(node->module, node->address));
        if (node->module != LWP_NONE && lwp_code_symbolize(profile->code, node->module, node->address)->loop != LWP_NONE)
            return lwp_access_region(profile, context);
    }
    return LWP_NONE;
}

/* A region that the group's accesses are in: its samples, and of a function without a loop its instructions. */
static void group_add_region(struct lwp_profile *profile, struct access_group *group, uint32_t region)
{
    enum { INSTRUCTION_BYTES = 4, INSTRUCTIONS_MOST = 200 };
    if (region == LWP_NONE)
        return;
    const struct lwp_region *at = &profile->regions[region];
    lwp_tally_merge(&group->around, &at->weight);
    if (at->is_function) {
        const struct lwp_symbolized *code = lwp_code_symbolize(profile->code, at->module, at->address);
        group->instructions += fmin(INSTRUCTIONS_MOST, (double)(code->function_high - code->function_low) / INSTRUCTION_BYTES);
    }
}

/* How much of the object the loop goes over: as far as it was seen, and a little more, as what lies at the ends seldom is. */
static double traversal_extent(const struct lwp_traversal *traversal)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < traversal->count; i++) {
        low = traversal->places[i].offset < low ? traversal->places[i].offset : low;
        high = traversal->places[i].offset > high ? traversal->places[i].offset : high;
    }
    return traversal->count > 1 && high > low ? (double)(high - low) * (traversal->count + 1) / (traversal->count - 1) : 0;
}

static const struct lwp_traversal *place_traversal(struct lwp_profile *profile, const struct lwp_access_place *place)
{
    uint32_t region = place->object == LWP_NONE ? LWP_NONE : lwp_access_region(profile, place->context);
    return region == LWP_NONE ? NULL : lwp_traversals_of(&profile->traversals, place->object, region);
}

/* Of walks over all of the object, again and again: only of these it is known how far it is from the end to the start. */
static double place_pace(const struct lwp_profile *profile, const struct lwp_access_place *place, const struct lwp_traversal *traversal,
                         const struct lwp_loop_shape *shape)
{
    const double whole = 0.9;
    if (!traversal || !shape->steps || !shape->step)
        return 0;
    double largest = (double)profile->objects[place->object].largest;
    if (traversal_extent(traversal) < whole * largest)
        return 0;
    return lwp_pace(traversal->paces, traversal->pace_count, fabs((double)shape->step), largest);
}

/* Cycles that an access takes at worst. */
static double place_most(const struct lwp_profile *profile, const struct lwp_access_place *place, const struct lwp_traversal *traversal,
                         const struct lwp_loop_shape *shape)
{
    enum { PLACES_ENOUGH = 16 };
    double first = profile->machine.l1_bytes ? (double)profile->machine.l1_bytes : 1 << 15, line = 64;
    double second = profile->machine.l2_bytes ? (double)profile->machine.l2_bytes : 1 << 20;
    double extent = traversal && traversal->count >= PLACES_ENOUGH ? traversal_extent(traversal)
                    : place->object != LWP_NONE                    ? (double)profile->objects[place->object].bytes
                                                                   : INFINITY;
    bool streams = shape->steps && fabs((double)shape->step) <= line;
    if (extent <= first || (streams && extent <= second))
        return shape->stays ? forwarded : 0;
    return extent <= second ? second_most : streams ? stream_most : far_most;
}

static void group_add(struct lwp_profile *profile, struct access_group *group, const struct lwp_access_place *place)
{
    const struct lwp_context_node *node = &profile->contexts[place->context];
    const struct lwp_traversal *traversal = place_traversal(profile, place);
    struct lwp_loop_shape shape = {0};
    bool shaped = place->context && node->module != LWP_NONE && lwp_loop_shape(profile->code, node->module, node->address, &shape);
    group->weight += place->weight;
    group->most = fmax(group->most, place_most(profile, place, traversal, &shape));
    if (!shaped)
        return;
    group->instructions = fmax(group->instructions, shape.work.instructions);
    group->accesses = fmax(group->accesses, shape.accesses);
    group->chain = fmax(group->chain, shape.work.chain);
    group->branches = fmax(group->branches, shape.branches);
    if (group->pace <= 0)
        group->pace = place_pace(profile, place, traversal, &shape);
}

/* So many of its accesses are made in a nanosecond of weight. A pace is that of all that is done in the loop. Else it is from what the
 * loop's own instructions take; that is all of the weight, or only the part of the samples that are at them, while in nested loops
 * they hide behind others: in between. */
static void group_rate(const struct access_group *group, struct lwp_access_rate *rate)
{
    const double own_least = 0.001;
    double each = group->largest > 0 ? group->weight / group->largest : 1; /* accesses of the kind in an iteration */
    double instructions = fmax(group->instructions, each), accesses = fmax(group->accesses, each);
    bool straight = group->branches <= 1; /* else a chain may be one that only some iterations go along */
    double least = fmax(instructions * instruction_least, straight ? group->chain : 0);
    double most =
        fmax(instructions * instruction_most, group->chain * chain_most) + accesses * group->most + (straight ? 0 : mispredicted_most);
    if (group->pace > 0) {
        *rate = (struct lwp_access_rate){each / group->pace, doubt_least, rate->group};
        return;
    }
    rate->rate = each / (sqrt(least * most) * cycle_ns);
    rate->doubt = hypot(log(most / least) / 4, doubt_least);
    if (!group->nested)
        return;
    const struct lwp_tally *around = &group->around;
    double seen = around->squares > 0 ? around->weight * around->weight / around->squares : 0;
    double own = fmin(1, fmax(around->weight, group->weight * own_least) / group->weight);
    rate->rate *= sqrt(own);
    rate->doubt = hypot(rate->doubt, -log(own) / 4);
    if (seen > 0)
        rate->doubt = hypot(rate->doubt, 1 / sqrt(seen));
}

/* Which of the groups' loops have others in them. */
static void groups_nest(const struct lwp_profile *profile, struct access_group *groups, const struct lwp_map *index)
{
    for (size_t i = 0; i < profile->region_count; i++) {
        const struct lwp_region *region = &profile->regions[i];
        uint32_t parent = lwp_regions_final(profile, region->parent), at;
        if (region->same_as != i || parent == LWP_NONE || region->is_function)
            continue;
        at = lwp_map_get(index, parent);
        if (at != LWP_MAP_NONE)
            groups[at].nested = true;
    }
}

uint32_t lwp_access_rates(struct lwp_profile *profile, const struct lwp_access_place *places, size_t count, struct lwp_access_rate *rates)
{
    struct access_group *groups = lwp_arena_alloc(profile->arena, LWP_ACCESS_GROUPS_MOST, sizeof *groups);
    struct lwp_map index = {0}, regions = {0}, paths = {0};
    double *path_weights = lwp_arena_alloc(profile->arena, count, sizeof *path_weights);
    uint32_t group_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t path;
        uint32_t loop = place_loop(profile, places[i].context, &path), own = lwp_access_region(profile, places[i].context);
        uint32_t *at = lwp_map_at(&index, loop);
        if (*at == LWP_MAP_NONE) {
            *at = group_count < LWP_ACCESS_GROUPS_MOST ? group_count++ : LWP_ACCESS_GROUPS_MOST - 1;
            group_add_region(profile, &groups[*at], loop);
        }
        rates[i].group = *at;
        uint32_t *added = lwp_map_at(&regions, (uint64_t)*at << 32 | own);
        if (*added == LWP_MAP_NONE && own != loop)
            group_add_region(profile, &groups[*at], own);
        *added = 0;
        /* A loop that is entered from several callers makes the access once in an iteration all the same. */
        uint32_t *first = lwp_map_at(&paths, lwp_hash_mix(*at, path));
        *first = *first == LWP_MAP_NONE ? (uint32_t)i : *first;
        path_weights[*first] += places[i].weight;
        groups[rates[i].group].largest = fmax(groups[rates[i].group].largest, path_weights[*first]);
        group_add(profile, &groups[*at], &places[i]);
    }
    groups_nest(profile, groups, &index);
    lwp_map_fini(&index);
    lwp_map_fini(&regions);
    lwp_map_fini(&paths);
    for (size_t i = 0; i < count; i++) {
        group_rate(&groups[rates[i].group], &rates[i]);
        rates[i].rate *= places[i].bytes ? places[i].bytes : 8;
    }
    return group_count;
}

/* The quantile of the standard normal distribution (Shore 1982: within 0.03 from 2.5 % to 97.5 %). */
static double normal_quantile(double part)
{
    return part < 0.5 ? -normal_quantile(1 - part) : 5.5556 * (1 - pow((1 - part) / part, 0.1186));
}

/* What a group does of the bytes, and of these of the kind asked for, both at the rate that is expected of it. */
struct share_group {
    double all, of, doubt;
};

/* The interval of a share from what is not known of the groups' rates: each rate is drawn from its distribution, in equal parts of it and
 * in an order of its own (Latin hypercube), the same each time. */
static void share_draw(const struct share_group *groups, uint32_t count, double *low, double *high)
{
    enum { DRAWS = 1000, CUT = DRAWS / 40 };
    double all[DRAWS] = {0}, of[DRAWS] = {0}, quantiles[DRAWS], factors[DRAWS];
    uint64_t random = 1;
    for (int i = 0; i < DRAWS; i++)
        quantiles[i] = normal_quantile((i + 0.5) / DRAWS);
    for (uint32_t g = 0; g < count; g++) {
        for (int i = 0; i < DRAWS; i++)
            factors[i] = exp(groups[g].doubt * quantiles[i]);
        for (int i = DRAWS - 1; i >= 0; i--) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            int other = (int)((random >> 33) % (unsigned)(i + 1));
            double factor = factors[other];
            factors[other] = factors[i];
            all[i] += groups[g].all * factor;
            of[i] += groups[g].of * factor;
        }
    }
    for (int i = 0; i < DRAWS; i++)
        of[i] /= all[i];
    qsort(of, DRAWS, sizeof *of, lwp_compare_double);
    *low = (of[CUT - 1] + of[CUT]) / 2;
    *high = (of[DRAWS - CUT - 1] + of[DRAWS - CUT]) / 2;
}

static void share_rate_interval(const struct lwp_access_place *places, const struct lwp_access_rate *rates, size_t count, uint32_t groups,
                                const double *p, double *low, double *high)
{
    struct share_group *of = calloc(groups, sizeof *of);
    if (!of)
        abort();
    for (size_t i = 0; i < count; i++) {
        struct share_group *group = &of[rates[i].group];
        double bytes = places[i].weight * rates[i].rate;
        *group = (struct share_group){group->all + bytes, group->of + bytes * p[i], rates[i].doubt};
    }
    share_draw(of, groups, low, high);
    free(of);
}

struct lwp_share lwp_access_share(const struct lwp_access_place *places, const struct lwp_access_rate *rates, size_t count, uint32_t groups,
                                  const double *p, const double *m, double n)
{
    const double none = 1e-9;
    struct redundancy_estimate estimate = {0};
    double all = 0, squares = 0, weight = 0;
    for (size_t i = 0; i < count; i++) {
        all += places[i].weight * rates[i].rate;
        squares += places[i].weight * rates[i].rate * rates[i].rate;
        weight += places[i].weight;
    }
    for (size_t i = 0; i < count; i++)
        estimate_add(&estimate, places[i].weight * rates[i].rate / all, p[i], m[i]);
    struct lwp_share share = estimate_share(&estimate, n * all * all / (weight * squares)); /* Kish: weights that differ are worth fewer */
    if (groups < 2 || share.value < none || share.value > 1 - none)
        return share;
    double low, high;
    share_rate_interval(places, rates, count, groups, p, &low, &high);
    share.low = fmax(0, share.value - hypot(share.value - share.low, share.value - fmin(low, share.value)));
    share.high = fmin(1, share.value + hypot(share.high - share.value, fmax(high, share.value) - share.value));
    return share;
}
