/* The other layouts that a structure may get: into which parts its fields fall, and what they gain as arrays, behind pointers, from a
 * pool. */
#include "analysis/advice/layout/split_internal.h"
#include "analysis/profile/objects.h"

#include <math.h>
#include <string.h>

static const uint64_t pointer_bytes = 8;
static const double affinity_least = 0.5, cold_share = 0.01;
static const double holes_worth = 0.125; /* of an element: what hardly shrinks is not worth an array more */

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

bool lwp_split_leaves_out(const struct lwp_layout *layout)
{
    return split_whole(layout) < 0.5 * layout->weight.weight;
}

void lwp_split_cluster(struct lwp_profile *profile, const struct lwp_layout *layout, bool leave_out, struct lwp_split_fields *found)
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

bool lwp_split_pool_alone(struct lwp_profile *profile, struct lwp_layout *layout, struct lwp_split *pool)
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

static bool split_parts(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_split_fields *found,
                        struct lwp_split *split, struct lwp_split_reason *reason)
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
    bool worth = split->groups + split->cold > 1 && split_shrinks(split) && lwp_split_worth(profile, layout, &split->gain, reason);
    if (!worth && layout->single && !layout->container) {
        split->group = found->group; /* an index leads to all parts */
        split->groups = found->groups;
        split_pool(profile, split);
        /* What an index costs where a pointer did is in no estimate. */
        if (!split->gain.run)
            split->gain.low = fmin(split->gain.low, 1);
        worth = lwp_split_worth(profile, layout, &split->gain, reason);
    }
    if (worth && lwp_split_shares_falsely(profile, split)) {
        reason->verdict = LWP_SPLIT_SHARES_FALSELY;
        return false;
    }
    return worth;
}

bool lwp_split_parts_of_any(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_split_fields *found,
                            struct lwp_split *split, struct lwp_split_reason *reason)
{
    struct lwp_split_fields others = {0};
    if (split_parts(profile, layout, found, split, reason))
        return true;
    if (lwp_split_leaves_out(layout) || lwp_split_is_vague(layout) ||
        layout->weight.weight - split_whole(layout) < lwp_split_needs.share * profile->total.weight)
        return false;
    lwp_split_cluster(profile, layout, true, &others);
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

bool lwp_split_without_holes(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_split_fields *found,
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
    return split->gain.run && lwp_split_worth(profile, layout, &split->gain, reason) && !lwp_split_shares_falsely(profile, split);
}

bool lwp_split_both(struct lwp_profile *profile, struct lwp_layout *layout, const struct lwp_split_fields *found, bool advised,
                    struct lwp_split *split, struct lwp_split_reason *reason)
{
    struct lwp_split both = {
        .layout = layout, .affinity = found->affinity, .group = found->group, .groups = found->groups, .cold = found->cold};
    if (!layout->payload || !layout->single || !found->cold || reason->unknown || reason->verdict != LWP_SPLIT_NOT_JUDGED)
        return false;
    split_pool(profile, &both);
    if (!both.gain.measured || (advised && both.gain.speedup < lwp_split_needs.gain * split->gain.speedup) ||
        !lwp_split_worth(profile, layout, &both.gain, reason) || lwp_split_shares_falsely(profile, &both))
        return false;
    *split = both;
    return true;
}
