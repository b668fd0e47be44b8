/* Decides which structures are worth splitting.
 *
 * Objects of one type are judged together, so that two pieces of advice never contradict each other. A structure is split when its
 * fields fall into several groups, it is too large for the caches, it was sampled often enough, and even the low end of the expected
 * speed-up is a gain; not when threads would then write to one line. Where elements in another place of memory gain more, that is said
 * instead (a pool, order.c); where splitting does not pay another order of the fields may (reorder.c). Otherwise nothing is reported. */
#include "analysis/advice/layout/split_internal.h"
#include "analysis/profile/objects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double set_up_said = 0.01;

static bool split_same_type(const struct lwp_type *a, const struct lwp_type *b)
{
    return a && b && strcmp(a->name, b->name) == 0 && a->line == b->line;
}

/* Objects of one family are judged together. */
static bool split_same_family(const struct lwp_object *a, const struct lwp_object *b)
{
    return split_same_type(a->type, b->type) && a->element_bytes == b->element_bytes && a->element_spacing == b->element_spacing &&
           a->type->bytes == b->type->bytes;
}

/* What an order of the fields without holes would bring: for that nothing needs to be known of who uses them. */
static struct lwp_split_order split_order(const struct lwp_split *split)
{
    struct lwp_split_part part;
    lwp_split_part(split, 0, &part);
    return part.bytes < split->layout->element_bytes
               ? (struct lwp_split_order){part.bytes, split->gain.speedup, split->gain.low, split->gain.high}
               : (struct lwp_split_order){0};
}

/* The best of all candidates that are worth it; false: none is. */
static bool split_best(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_split_fields *found,
                       struct lwp_split *split, struct lwp_split_reason *reason)
{
    struct lwp_split ordered, placed, pool;
    /* First, while there is time to measure: it may gain most. */
    bool in_order = lwp_order_try(profile, layout, found->affinity, &ordered);
    if (in_order)
        lwp_walked_list(profile, &ordered);
    else
        in_order = lwp_walked_try(profile, layout, found->affinity, &ordered);
    in_order = in_order && lwp_split_worth(profile, layout, &ordered.gain, reason);
    const bool in_place =
        lwp_in_place_try(profile, layout, found->affinity, &placed) && lwp_split_worth(profile, layout, &placed.gain, reason);
    bool advised = lwp_split_parts_of_any(profile, layout, found, split, reason) ||
                   (!lwp_split_is_vague(layout) && lwp_split_without_holes(profile, layout, found, split, reason));
    /* A split is credited with what it adds to the pool, and is not advised for nothing. */
    bool pooled = lwp_split_pool_alone(profile, layout, &pool);
    if (!pooled)
        reason->pool = (struct lwp_split_pool){pool.gain.speedup, fmin(1, pool.gain.low), pool.gain.high, pool.gain.spacing};
    pooled = pooled && lwp_split_worth(profile, layout, &pool.gain, reason);
    if (advised && pooled)
        split->pool = pool.gain.speedup;
    if (pooled && (!advised || split->gain.speedup < lwp_split_needs.gain * pool.gain.speedup)) {
        pool.affinity = found->affinity;
        *split = pool;
        advised = true;
    }
    if (lwp_split_both(profile, layout, found, advised, split, reason)) {
        split->pool = pooled ? pool.gain.speedup : 0;
        advised = true;
    }
    if (in_order && (!advised || ordered.gain.speedup > split->gain.speedup)) {
        *split = ordered;
        advised = true;
    }
    if (in_place && (!advised || placed.gain.speedup > split->gain.speedup)) {
        *split = placed;
        advised = true;
    }
    if (advised)
        return true;
    const bool reordered = lwp_reorder_try(profile, layout, found->affinity, found->group, split);
    if (reordered && lwp_split_worth(profile, layout, &split->gain, reason))
        return true;
    reason->order = reordered ? split_order(split) : (struct lwp_split_order){0};
    return false;
}

static bool split_try(struct lwp_profile *profile, struct lwp_layout *layout, struct lwp_split *split, struct lwp_split_reason *reason)
{
    struct lwp_split_fields found = {0};
    *reason = (struct lwp_split_reason){
        .verdict = lwp_split_before(profile, layout), .samples = layout->weight.samples, .copied = lwp_split_is_copied(layout)};
    if (reason->verdict == LWP_SPLIT_NOT_JUDGED && lwp_split_of_library(profile, layout))
        reason->verdict = LWP_SPLIT_LIBRARY;
    if (reason->verdict == LWP_SPLIT_NOT_JUDGED && layout->type && layout->type->is_virtual)
        reason->verdict = LWP_SPLIT_VIRTUAL;
    if (reason->verdict != LWP_SPLIT_NOT_JUDGED)
        return false;
    lwp_split_cluster(profile, layout, lwp_split_leaves_out(layout), &found);
    if (found.groups == 0 || lwp_split_padded(profile, layout, found.group)) {
        reason->verdict = found.groups ? LWP_SPLIT_PADDED : LWP_SPLIT_FEW_SAMPLES;
        return false;
    }
    const bool advised = split_best(profile, layout, &found, split, reason);
    reason->verdict = advised ? LWP_SPLIT_ADVISED : lwp_split_against(profile, layout, reason);
    if (!advised)
        return false;
    if (split->gain.set_up >= set_up_said)
        lwp_profile_note(
            profile,
            "The gain of %s leaves out the loops that go over its elements before all others, for the first time: %.0f %% of the "
            "time, which pays for new pages in any layout.",
            lwp_split_name(profile, layout), 100 * split->gain.set_up);
    split->caution = lwp_split_caution(profile, split);
    split->confidence = lwp_split_confidence(profile, layout);
    split->declaration = lwp_declaration_write(profile, split);
    return true;
}

/* No advice, for a reason that the user can do something about. */
static void split_vague(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    struct lwp_share share = lwp_share_of(&layout->weight, &profile->total);
    if (share.value < 0.05 || !lwp_split_is_vague(layout) || lwp_split_is_copied(layout))
        return;
    lwp_profile_note(profile,
                     "The loops over %s load several fields at once with vector instructions, so it is unknown which they need. "
                     "Profile a build with -fno-tree-vectorize to see whether it should be split.",
                     lwp_split_name(profile, layout));
}

static int split_compare(const void *a, const void *b)
{
    const struct lwp_split *x = a, *y = b;
    double p = x->gain.low + x->gain.high, q = y->gain.low + y->gain.high;
    return (p < q) - (p > q);
}

/* Whether there is advice for the type already, for objects of another element size. */
static bool split_is_advised(const struct lwp_splits *splits, const struct lwp_layout *layout)
{
    for (size_t i = 0; i < splits->count; i++)
        if (split_same_type(lwp_layout_declared(splits->splits[i].layout), lwp_layout_declared(layout)))
            return true;
    return false;
}

void lwp_split_advise(struct lwp_profile *profile, struct lwp_splits *splits)
{
    uint32_t *order = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *order);
    uint32_t *family = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *family);
    bool *judged = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *judged);
    size_t count = 0;
    splits->of_object = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof(struct lwp_layout *));
    splits->reasons = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *splits->reasons);
    splits->count = 0;
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        if (object->element_bytes >= 2 && (object->kind != LWP_OBJECT_STACK || object->type))
            order[count++] = (uint32_t)i;
    }
    qsort_r(order, count, sizeof *order, lwp_objects_heavier, profile->objects);
    for (size_t i = 0; i < count; i++) {
        splits->of_object[order[i]] = lwp_layout_make(profile, &order[i], 1);
        judged[i] = !splits->of_object[order[i]] || profile->objects[order[i]].kind == LWP_OBJECT_STACK;
    }
    splits->splits = lwp_arena_alloc(profile->arena, count + 1, sizeof *splits->splits);
    for (size_t i = 0; i < count; i++) {
        if (judged[i])
            continue;
        size_t members = 0;
        for (size_t k = i; k < count; k++)
            if (k == i || (!judged[k] && split_same_family(&profile->objects[order[i]], &profile->objects[order[k]]))) {
                family[members++] = order[k];
                judged[k] = true;
            }
        struct lwp_layout *layout = splits->of_object[order[i]];
        if (members > 1) {
            uint32_t *kept = lwp_arena_alloc(profile->arena, members, sizeof *kept);
            layout = lwp_layout_make(profile, memcpy(kept, family, members * sizeof *kept), members);
        }
        struct lwp_split_reason reason = {.verdict = LWP_SPLIT_NOT_JUDGED};
        if (layout && split_is_advised(splits, layout))
            reason.verdict = LWP_SPLIT_ADVISED;
        else if (layout && split_try(profile, layout, &splits->splits[splits->count], &reason))
            splits->count++;
        else if (layout)
            split_vague(profile, layout);
        for (size_t k = 0; k < members; k++)
            splits->reasons[family[k]] = reason;
    }
    qsort(splits->splits, splits->count, sizeof *splits->splits, split_compare);
    lwp_split_drop_conflicts(profile, splits);
}
