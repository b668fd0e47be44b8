/* Decides which structures are worth splitting.
 *
 * Objects of one type are judged together, so that two pieces of advice never contradict each other. A structure is split when its
 * fields fall into several groups, it is too large for the caches, it was sampled often enough, and even the low end of the expected
 * speed-up is a gain; not when threads would then write to one line. Where elements in another place of memory gain more, that is said
 * instead (a pool, order.c); where splitting does not pay another order of the fields may (reorder.c). Otherwise nothing is reported. */
#include "analysis/advice/layout/split_internal.h"
#include "analysis/profile/objects.h"
#include "analysis/tables/severity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t pointer_bytes = 8;
static const double affinity_least = 0.5, cold_share = 0.01, set_up_said = 0.01;
static const double holes_worth = 0.125;   /* of an element: what hardly shrinks is not worth an array more */
static const double witnessed_least = 0.5; /* of the accesses: those whose field the code names, too */

const struct lwp_split_needs lwp_split_needs = {.share = 0.02, .gain = 1.02};

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

static uint64_t split_footprint(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        bytes += profile->objects[layout->objects[k]].bytes;
    return bytes;
}

/* What notes call it. */
static const char *split_name(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    return layout->type ? layout->type->name : lwp_objects_name(profile, layout->objects[0]);
}

static const char *split_confidence(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    const struct lwp_object *first = &profile->objects[layout->objects[0]];
    const struct lwp_agreement *agreement = &layout->agreement;
    const enum lwp_evidence evidence = lwp_evidence_of(layout->weight.samples);
    /* A declared variable needs no pointer to tell its type. */
    bool declared = first->kind == LWP_OBJECT_STATIC && first->type_exact;
    bool witnessed = layout->type && (declared || agreement->compared >= witnessed_least * agreement->looked_at);
    if (evidence >= LWP_EVIDENCE_MUCH && witnessed && layout->probability > 0.99)
        return "high";
    if (evidence >= LWP_EVIDENCE_GOOD && layout->probability > 0.95)
        return "medium";
    return "low";
}

/* Whether a loop goes over whole elements (set-up, copy): over all that the program keeps in them. */
static bool split_is_whole(const struct lwp_layout *layout, const struct lwp_layout_loop *loop)
{
    bool whole = true;
    for (size_t f = 0; f < layout->field_count; f++)
        whole &= loop->uses[f] || (layout->payload && lwp_layout_is_fixed(layout, &layout->fields[f]));
    return whole;
}

/* The weight of these loops. */
static double split_whole(const struct lwp_layout *layout)
{
    double whole = 0;
    for (size_t i = 0; i < layout->loop_count; i++)
        if (split_is_whole(layout, &layout->loops[i]))
            whole += layout->loops[i].weight.weight;
    return whole;
}

struct split_fields {
    double *affinity; /* field_count * field_count */
    int *group;
    size_t groups;
    bool cold;
};

/* What is used of an element that the loop visits: of one that a search found, what the search used, too. */
static const bool *split_visit(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_layout_loop *loop)
{
    if (!loop->search)
        return loop->uses;
    bool *uses = lwp_arena_alloc(profile->arena, layout->field_count, sizeof *uses);
    for (size_t f = 0; f < layout->field_count; f++)
        uses[f] = loop->uses[f] || loop->search->uses[f];
    return uses;
}

/* Groups that have fields, one after the other. */
static size_t split_renumber(const struct lwp_layout *layout, size_t groups, int *group)
{
    size_t left = 0;
    for (size_t g = 0; g < groups; g++) {
        bool any = false;
        for (size_t f = 0; f < layout->field_count; f++)
            if (group[f] == (int)g) {
                group[f] = (int)left;
                any = true;
            }
        left += any;
    }
    return left;
}

/* What keeps the class's name keeps its virtual functions, and the base classes that libraries go through (boost's hooks). In a container's
 * nodes all that is used stays: to each other part a pointer would lead, from each node. Returns how many groups there are. */
static size_t split_stay(const struct lwp_layout *layout, size_t groups, int *group)
{
    for (size_t f = 0; f < layout->field_count; f++) {
        const struct lwp_layout_field *field = &layout->fields[f];
        if (lwp_layout_is_table(field) || field->of_library || (layout->container && (group[f] > 0 || lwp_layout_is_fixed(layout, field))))
            group[f] = 0;
    }
    return layout->container ? 1 : split_renumber(layout, groups, group);
}

/* `leave_out`: loops over whole elements. */
static void split_cluster(struct lwp_profile *profile, const struct lwp_layout *layout, bool leave_out, struct split_fields *found)
{
    size_t fields = layout->field_count;
    struct lwp_affinity_loop *loops = lwp_arena_alloc(profile->arena, layout->loop_count + 1, sizeof *loops);
    double *weights = lwp_arena_alloc(profile->arena, fields, sizeof *weights);
    found->affinity = lwp_arena_alloc(profile->arena, fields * fields, sizeof *found->affinity);
    found->group = lwp_arena_alloc(profile->arena, fields, sizeof *found->group);
    size_t loop_count = 0;
    for (size_t i = 0; i < layout->loop_count; i++) {
        const struct lwp_layout_loop *loop = &layout->loops[i];
        if (leave_out && split_is_whole(layout, loop))
            continue;
        loops[loop_count++] = (struct lwp_affinity_loop){loop->weight.weight, split_visit(profile, layout, loop)};
        for (size_t f = 0; f < fields && loop->used; f++)
            weights[f] += loop->uses[f] ? loop->weight.weight / (double)loop->used : 0;
    }
    lwp_affinity_compute(loops, loop_count, fields, found->affinity);
    found->groups = lwp_affinity_cluster(found->affinity, weights, fields, affinity_least, cold_share, found->group);
    if (found->groups)
        found->groups = split_stay(layout, found->groups, found->group);
    for (size_t f = 0; f < fields; f++)
        found->cold |= found->group[f] < 0;
}

/* Elements that belong to threads in turn: in parts smaller than a cache line, neighbours' written fields would share
 * one, and each write would take the line from the other threads. */
static bool split_shares_falsely(struct lwp_profile *profile, const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    bool stored[LWP_FIELDS_MAX], shares = false;
    unsigned turns = layout->element_bytes >= line / 2 ? lwp_element_writers_turns(profile, layout) : 0;
    if (!turns)
        return false;
    lwp_element_writers_fields(profile, layout, stored);
    for (int g = split->cold ? -1 : 0; g < (int)split->groups && !shares; g++) {
        struct lwp_split_part part;
        lwp_split_part(split, g, &part);
        for (size_t i = 0; i < part.count; i++)
            shares |= stored[part.fields[i]] && part.bytes < line && part.bytes < layout->element_bytes;
    }
    if (shares)
        lwp_profile_note(profile,
                         "%s is not advised to be split although its loops use only parts of it: threads own its elements in turn (element "
                         "modulo %u), and smaller parts would put fields that different threads write on one cache line.",
                         split_name(profile, layout), turns);
    return shares;
}

/* Elements that fill whole lines for nothing but to keep threads apart: without the padding they would share lines. */
static bool split_padded(struct lwp_profile *profile, const struct lwp_layout *layout, const int *group)
{
    uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    const struct lwp_type *type = layout->type;
    bool padded = type && type->aligned && type->alignment >= line;
    for (size_t f = 0; f < layout->field_count && type; f++)
        padded |= group[f] < 0 && layout->fields[f].alignment == 1 && strstr(layout->fields[f].name, "pad") != NULL;
    if (!padded || layout->element_bytes % line || !lwp_element_writers_mingle(profile, layout))
        return false;
    lwp_profile_note(profile,
                     "%s is not advised to be changed: its elements are padded to whole cache lines, and threads write elements that lie "
                     "among those of others; without the padding they would share lines.",
                     type->name);
    return true;
}

static bool split_evident(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    return lwp_evidence_of_share(layout->weight.samples, lwp_share_of(&layout->weight, &profile->total).value);
}

/* Whether the gain is enough and rests on enough. */
static bool split_worth(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_gain *gain,
                        struct lwp_split_reason *reason)
{
    if (gain->high > reason->high) {
        reason->speedup = gain->speedup;
        reason->low = gain->low;
        reason->high = gain->high;
    }
    if (gain->high < lwp_split_needs.gain)
        return false;
    const bool evident = split_evident(profile, layout);
    reason->few |= !evident;
    if (!evident)
        lwp_profile_note(profile,
                         "Too few samples (%llu) on %s to advise on its layout; let the program run longer or sample more (" LWP_SAMPLE_MORE
                         ").",
                         (unsigned long long)layout->weight.samples, lwp_objects_name(profile, layout->objects[0]));
    return evident && gain->low >= lwp_split_needs.gain;
}

/* As arrays with a common index, for nodes that are now allocated one by one; of a container from one memory resource. */
static void split_pool(struct lwp_profile *profile, struct lwp_split *split)
{
    struct lwp_placement after;
    split->pooled = true;
    lwp_placement_today(profile, split->layout, &after);
    after.groups = split->groups + split->cold;
    after.linked = lwp_split_points(split);
    after.pooled = split->layout->single;
    for (size_t g = 0; g < after.groups; g++) {
        struct lwp_split_part part;
        lwp_split_part(split, g < split->groups ? (int)g : -1, &part);
        for (size_t i = 0; i < part.count; i++) {
            after.offsets[part.fields[i]] = part.offsets[i];
            after.group[part.fields[i]] = (int)g;
        }
        after.of[g] =
            (struct lwp_placement_group){.spacing = part.bytes + (g ? 0 : lwp_layout_stays(split->layout)), .start = LWP_PLACEMENT_MALLOC};
    }
    lwp_gain_between(profile, split->layout, &after, &split->gain);
}

/* The nodes as they are, one after the other in blocks of many. False: nothing was run, so nothing is said. */
static bool split_pool_alone(struct lwp_profile *profile, struct lwp_layout *layout, struct lwp_split *pool)
{
    struct lwp_placement today, after;
    int *one = lwp_arena_alloc(profile->arena, layout->field_count, sizeof *one);
    lwp_placement_today(profile, layout, &today);
    after = today;
    after.pooled = true;
    after.of[0] = (struct lwp_placement_group){.spacing = lwp_round_up(layout->spacing + layout->around, sizeof(void *)),
                                               .start = LWP_PLACEMENT_MALLOC};
    *pool = (struct lwp_split){.kind = LWP_SPLIT_POOL, .layout = layout, .group = one, .groups = 1, .pooled = true};
    if (!layout->single || after.of[0].spacing >= today.of[0].spacing)
        return false;
    lwp_gain_between(profile, layout, &after, &pool->gain);
    return pool->gain.run;
}

/* Where a pointer leads to each part, one that is no larger than the pointer stays in its place. Returns how many parts are left. */
static size_t split_keep_small(const struct lwp_split *split, int *group)
{
    size_t left = 1;
    memcpy(group, split->group, split->layout->field_count * sizeof *group);
    for (int g = 1; g < (int)split->groups; g++) {
        struct lwp_split_part part;
        lwp_split_part(split, g, &part);
        const int to = part.bytes <= pointer_bytes ? 0 : (int)left++;
        for (size_t i = 0; i < part.count; i++)
            group[part.fields[i]] = to;
    }
    return left;
}

/* Where pointers to the parts that leave take as much room as these, only nodes that lie closer together gain: a pool does that, too. */
static bool split_shrinks(const struct lwp_split *split)
{
    struct lwp_split_part first;
    lwp_split_part(split, 0, &first);
    return first.bytes < split->layout->element_bytes;
}

/* Whether an array of unknown length, as texts behind their head, would be alone in a structure: C has no such one. */
static bool split_tail_alone(const struct lwp_layout *layout, const int *group)
{
    if (!layout->type || !lwp_types_is_open(layout->type))
        return false;
    const size_t tail = layout->field_count - 1;
    for (size_t f = 0; f < tail; f++)
        if (group[f] == group[tail])
            return false;
    return tail > 0;
}

static bool split_parts(struct lwp_profile *profile, struct lwp_layout *layout, const struct split_fields *found, struct lwp_split *split,
                        struct lwp_split_reason *reason)
{
    if (found->groups + found->cold < 2 || (layout->container && !layout->payload))
        return false;
    *split = (struct lwp_split){
        .layout = layout, .affinity = found->affinity, .group = found->group, .groups = found->groups, .cold = found->cold};
    if (!layout->single && !layout->pointed && !layout->container) {
        layout->pointed = lwp_element_pointers_by(profile, layout);
        layout->linked = layout->pointed && lwp_element_pointers_scattered(profile, layout);
    }
    int *kept = lwp_arena_alloc(profile->arena, layout->field_count, sizeof *kept);
    if (lwp_split_points(split) && !layout->container) {
        split->groups = split_keep_small(split, kept);
        split->group = kept;
    }
    if (split_tail_alone(layout, split->group))
        return false;
    lwp_gain_estimate(profile, layout, split->group, split->groups, &split->gain);
    reason->unknown = lwp_types_is_tree_node(layout->type) && !split->gain.run;
    if (reason->unknown)
        return false;
    bool worth = split->groups + split->cold > 1 && split_shrinks(split) && split_worth(profile, layout, &split->gain, reason);
    if (!worth && layout->single && !layout->container) {
        split->group = found->group; /* an index leads to all parts */
        split->groups = found->groups;
        split_pool(profile, split);
        /* What an index costs where a pointer did is in no estimate. */
        if (!split->gain.run)
            split->gain.low = fmin(split->gain.low, 1);
        worth = split_worth(profile, layout, &split->gain, reason);
    }
    if (worth && split_shares_falsely(profile, split)) {
        reason->verdict = LWP_SPLIT_SHARES_FALSELY;
        return false;
    }
    return worth;
}

/* Vectors as wide as elements hide which fields are used: loops that seem to use everything may not. */
static bool split_is_vague(const struct lwp_layout *layout)
{
    return layout->vague >= 0.3 * layout->weight.weight;
}

/* Whether what is vague is memcpy(), memcmp() and their like: another build would not show more. */
static bool split_is_copied(const struct lwp_layout *layout)
{
    return layout->copied > 0.5 * layout->vague;
}

/* What stands against a layout that was tried. */
static enum lwp_split_verdict split_against(const struct lwp_profile *profile, const struct lwp_layout *layout,
                                            const struct lwp_split_reason *reason)
{
    return reason->verdict != LWP_SPLIT_NOT_JUDGED ? reason->verdict
           : split_is_vague(layout)                ? LWP_SPLIT_VAGUE
           : reason->few                           ? LWP_SPLIT_FEW_SAMPLES
           : reason->unknown                       ? LWP_SPLIT_UNKNOWN_GAIN
           : reason->high > 0                      ? LWP_SPLIT_LITTLE_GAIN
           : !split_evident(profile, layout)       ? LWP_SPLIT_FEW_SAMPLES
                                                   : LWP_SPLIT_USED_TOGETHER;
}

static enum lwp_split_verdict split_before(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    struct lwp_share share = lwp_share_of(&layout->weight, &profile->total);
    return share.value < lwp_split_needs.share                                                  ? LWP_SPLIT_LITTLE_TIME
           : split_footprint(profile, layout) <= lwp_gain_caches(profile->machine).l2_bytes / 2 ? LWP_SPLIT_FITS_CACHE
           : !layout->type && layout->probability < 0.95                                        ? LWP_SPLIT_UNSURE_SIZE
                                                                                                : LWP_SPLIT_NOT_JUDGED;
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

/* Of a container's nodes: what loops use of them, from one memory resource. `advised`: `split` is the better one of both alone; else
 * neither is worth it: what stays of a small node takes a chunk of malloc that is hardly smaller. */
static bool split_both(struct lwp_profile *profile, struct lwp_layout *layout, const struct split_fields *found, bool advised,
                       struct lwp_split *split, struct lwp_split_reason *reason)
{
    struct lwp_split both = {
        .layout = layout, .affinity = found->affinity, .group = found->group, .groups = found->groups, .cold = found->cold};
    if (!layout->payload || !layout->single || !found->cold || reason->unknown || reason->verdict != LWP_SPLIT_NOT_JUDGED)
        return false;
    split_pool(profile, &both);
    if (!both.gain.measured || (advised && both.gain.speedup < lwp_split_needs.gain * split->gain.speedup) ||
        !split_worth(profile, layout, &both.gain, reason) || split_shares_falsely(profile, &both))
        return false;
    *split = both;
    return true;
}

/* Loops over whole elements do not distinguish fields, and would tie the fields nobody else uses to the next best ones: they are left out,
 * but where they take most of the cost. */
static bool split_leaves_out(const struct lwp_layout *layout)
{
    return split_whole(layout) < 0.5 * layout->weight.weight;
}

/* Even where loops over whole elements count it may pay to split for the others. */
static bool split_parts_of_any(struct lwp_profile *profile, struct lwp_layout *layout, const struct split_fields *found,
                               struct lwp_split *split, struct lwp_split_reason *reason)
{
    struct split_fields others = {0};
    if (split_parts(profile, layout, found, split, reason))
        return true;
    if (split_leaves_out(layout) || split_is_vague(layout) ||
        layout->weight.weight - split_whole(layout) < lwp_split_needs.share * profile->total.weight)
        return false;
    split_cluster(profile, layout, true, &others);
    return others.groups > 0 && split_parts(profile, layout, &others, split, reason);
}

/* Bytes of each element that alignment leaves unused whatever the order of its fields. */
static uint64_t split_holes(const struct lwp_layout *layout)
{
    uint64_t bytes = 0, alignment = 1;
    for (size_t f = 0; f < layout->field_count; f++) {
        bytes += layout->fields[f].bytes;
        alignment = layout->fields[f].alignment > alignment ? layout->fields[f].alignment : alignment;
    }
    return bytes < layout->element_bytes ? lwp_round_up(bytes, alignment) - bytes : 0;
}

/* Fields that are used together, of which an array of structures has holes: arrays of fields of one alignment have none. */
static bool split_without_holes(struct lwp_profile *profile, struct lwp_layout *layout, const struct split_fields *found,
                                struct lwp_split *split, struct lwp_split_reason *reason)
{
    const struct lwp_type *type = layout->type;
    if (!type || type->is_derived || type->aligned || layout->single || layout->container || lwp_order_has_tails(layout) ||
        (double)split_holes(layout) < holes_worth * (double)layout->element_bytes)
        return false;
    int *group = lwp_arena_alloc(profile->arena, layout->field_count, sizeof *group);
    size_t groups = 0;
    for (size_t f = 0; f < layout->field_count; f++) {
        size_t like = 0;
        while (like < f && layout->fields[like].alignment != layout->fields[f].alignment)
            like++;
        group[f] = like < f ? group[like] : (int)groups++;
    }
    *split = (struct lwp_split){.layout = layout, .affinity = found->affinity, .group = group, .groups = groups};
    if (groups < 2 || lwp_element_pointers_by(profile, layout))
        return false;
    lwp_gain_estimate(profile, layout, group, groups, &split->gain);
    return split->gain.run && split_worth(profile, layout, &split->gain, reason) && !split_shares_falsely(profile, split);
}

/* The best of all candidates that are worth it; false: none is. */
static bool split_best(struct lwp_profile *profile, struct lwp_layout *layout, const struct split_fields *found, struct lwp_split *split,
                       struct lwp_split_reason *reason)
{
    struct lwp_split ordered, placed, pool;
    /* First, while there is time to measure: it may gain most. */
    bool in_order = lwp_order_try(profile, layout, found->affinity, &ordered);
    if (in_order)
        lwp_walked_list(profile, &ordered);
    else
        in_order = lwp_walked_try(profile, layout, found->affinity, &ordered);
    in_order = in_order && split_worth(profile, layout, &ordered.gain, reason);
    const bool in_place = lwp_in_place_try(profile, layout, found->affinity, &placed) && split_worth(profile, layout, &placed.gain, reason);
    bool advised = split_parts_of_any(profile, layout, found, split, reason) ||
                   (!split_is_vague(layout) && split_without_holes(profile, layout, found, split, reason));
    /* A split is credited with what it adds to the pool, and is not advised for nothing. */
    bool pooled = split_pool_alone(profile, layout, &pool);
    if (!pooled)
        reason->pool = (struct lwp_split_pool){pool.gain.speedup, fmin(1, pool.gain.low), pool.gain.high, pool.gain.spacing};
    pooled = pooled && split_worth(profile, layout, &pool.gain, reason);
    if (advised && pooled)
        split->pool = pool.gain.speedup;
    if (pooled && (!advised || split->gain.speedup < lwp_split_needs.gain * pool.gain.speedup)) {
        pool.affinity = found->affinity;
        *split = pool;
        advised = true;
    }
    if (split_both(profile, layout, found, advised, split, reason)) {
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
    if (reordered && split_worth(profile, layout, &split->gain, reason))
        return true;
    reason->order = reordered ? split_order(split) : (struct lwp_split_order){0};
    return false;
}

static bool split_try(struct lwp_profile *profile, struct lwp_layout *layout, struct lwp_split *split, struct lwp_split_reason *reason)
{
    struct split_fields found = {0};
    *reason = (struct lwp_split_reason){
        .verdict = split_before(profile, layout), .samples = layout->weight.samples, .copied = split_is_copied(layout)};
    if (reason->verdict == LWP_SPLIT_NOT_JUDGED && lwp_split_of_library(profile, layout))
        reason->verdict = LWP_SPLIT_LIBRARY;
    if (reason->verdict == LWP_SPLIT_NOT_JUDGED && layout->type && layout->type->is_virtual)
        reason->verdict = LWP_SPLIT_VIRTUAL;
    if (reason->verdict != LWP_SPLIT_NOT_JUDGED)
        return false;
    split_cluster(profile, layout, split_leaves_out(layout), &found);
    if (found.groups == 0 || split_padded(profile, layout, found.group)) {
        reason->verdict = found.groups ? LWP_SPLIT_PADDED : LWP_SPLIT_FEW_SAMPLES;
        return false;
    }
    const bool advised = split_best(profile, layout, &found, split, reason);
    reason->verdict = advised ? LWP_SPLIT_ADVISED : split_against(profile, layout, reason);
    if (!advised)
        return false;
    if (split->gain.set_up >= set_up_said)
        lwp_profile_note(
            profile,
            "The gain of %s leaves out the loops that go over its elements before all others, for the first time: %.0f %% of the "
            "time, which pays for new pages in any layout.",
            split_name(profile, layout), 100 * split->gain.set_up);
    split->caution = lwp_split_caution(profile, split);
    split->confidence = split_confidence(profile, layout);
    split->declaration = lwp_declaration_write(profile, split);
    return true;
}

/* No advice, for a reason that the user can do something about. */
static void split_vague(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    struct lwp_share share = lwp_share_of(&layout->weight, &profile->total);
    if (share.value < 0.05 || !split_is_vague(layout) || split_is_copied(layout))
        return;
    lwp_profile_note(profile,
                     "The loops over %s load several fields at once with vector instructions, so it is unknown which they need. "
                     "Profile a build with -fno-tree-vectorize to see whether it should be split.",
                     split_name(profile, layout));
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
