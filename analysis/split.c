/* Decides which structures are worth splitting.
 *
 * Objects of one type are judged together, so that two pieces of advice never contradict each other. A structure is
 * split when its fields fall into several groups, it is too large for the caches, it was sampled often enough, and even
 * the low end of the expected speed-up is a gain. Otherwise nothing is said. */
#include "analysis/split.h"

#include "analysis/affinity.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES_NEEDED = 40, SAMPLES_GOOD = 150, SAMPLES_MANY = 500 };

static const double together = 0.5, cold_share = 0.01, gain_needed = 1.02, share_worth = 0.02;
static const uint64_t usual_l2 = 1 << 20;

static bool split_same_type(const struct lwp_object *a, const struct lwp_object *b)
{
    return a->type && b->type && a->single == b->single && a->element_bytes == b->element_bytes &&
           a->type->bytes == b->type->bytes && strcmp(a->type->name, b->type->name) == 0 &&
           a->type->line == b->type->line;
}

static uint64_t split_footprint(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        bytes += profile->objects[layout->objects[k]].bytes;
    return bytes;
}

static const char *split_confidence(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    bool exact = layout->type && profile->objects[layout->objects[0]].type_exact;
    if (layout->weight.samples >= SAMPLES_MANY && (exact || layout->type) && layout->probability > 0.99)
        return "high";
    if (layout->weight.samples >= SAMPLES_GOOD && layout->probability > 0.95)
        return "medium";
    return "low";
}

/* The loops that tell fields apart. One that goes over whole elements (set-up, copy) tells nothing, and would tie the
 * fields nobody else uses to the next best ones; it counts only where such loops are the most of the weight. */
static size_t split_loops(const struct lwp_layout *layout, struct lwp_affinity_loop *loops)
{
    double whole = 0;
    size_t count = 0;
    for (size_t i = 0; i < layout->loop_count; i++)
        if (layout->loops[i].used == layout->field_count)
            whole += layout->loops[i].weight.weight;
    bool leave_out = whole < 0.5 * layout->weight.weight;
    for (size_t i = 0; i < layout->loop_count; i++)
        if (!leave_out || layout->loops[i].used < layout->field_count)
            loops[count++] = (struct lwp_affinity_loop){layout->loops[i].weight.weight, layout->loops[i].uses};
    return count;
}

static bool split_try(struct lwp_profile *profile, const struct lwp_layout *layout, struct lwp_split *split)
{
    size_t fields = layout->field_count;
    uint64_t l2 = profile->machine.l2_bytes ? profile->machine.l2_bytes : usual_l2;
    struct lwp_share share = lwp_share_of(&layout->weight, &profile->total);
    if (share.value < share_worth || split_footprint(profile, layout) <= l2 / 2)
        return false;
    if (!layout->type && layout->probability < 0.95)
        return false;
    struct lwp_affinity_loop *loops = lwp_arena_alloc(profile->arena, layout->loop_count + 1, sizeof *loops);
    double *affinity = lwp_arena_alloc(profile->arena, fields * fields, sizeof *affinity);
    double *weights = lwp_arena_alloc(profile->arena, fields, sizeof *weights);
    int *group = lwp_arena_alloc(profile->arena, fields, sizeof *group);
    size_t loop_count = split_loops(layout, loops);
    for (size_t i = 0; i < loop_count; i++) {
        size_t used = 0;
        for (size_t f = 0; f < fields; f++)
            used += loops[i].uses[f];
        for (size_t f = 0; f < fields && used; f++)
            weights[f] += loops[i].uses[f] ? loops[i].weight / (double)used : 0;
    }
    lwp_affinity_compute(loops, loop_count, fields, affinity);
    size_t groups = lwp_affinity_cluster(affinity, weights, fields, together, cold_share, group);
    bool cold = false;
    for (size_t f = 0; f < fields; f++)
        cold |= group[f] < 0;
    if (groups + cold < 2 || groups == 0)
        return false;
    *split = (struct lwp_split){.layout = layout, .affinity = affinity, .group = group, .groups = groups, .cold = cold};
    lwp_gain_estimate(profile, layout, group, groups, &split->gain);
    if (split->gain.high < gain_needed)
        return false;
    if (layout->weight.samples < SAMPLES_NEEDED) {
        lwp_profile_note(profile,
                         "Too few samples (%llu) on %s to advise on its layout; let the program run longer or sample "
                         "faster (-F).",
                         (unsigned long long)layout->weight.samples, profile->objects[layout->objects[0]].name);
        return false;
    }
    if (split->gain.low < gain_needed)
        return false;
    split->confidence = split_confidence(profile, layout);
    split->declaration = lwp_declaration_write(profile, split);
    return true;
}

/* Silence has a reason people can do something about: vectors as wide as elements hide which fields are used. */
static void split_vague(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    struct lwp_share share = lwp_share_of(&layout->weight, &profile->total);
    if (share.value < 0.05 || layout->vague < 0.3 * layout->weight.weight)
        return;
    lwp_profile_note(
        profile,
        "The loops over %s load several fields at once with vector instructions, so it cannot be told which "
        "they need. Profile a build with -fno-tree-vectorize to see whether it should be split.",
        layout->type ? layout->type->name : profile->objects[layout->objects[0]].name);
}

static int split_compare(const void *a, const void *b)
{
    const struct lwp_split *x = a, *y = b;
    double p = x->gain.low + x->gain.high, q = y->gain.low + y->gain.high;
    return (p < q) - (p > q);
}

/* Objects by weight, heaviest first. */
static const struct lwp_profile *split_sorted;

static int split_object_compare(const void *a, const void *b)
{
    const struct lwp_object *x = &split_sorted->objects[*(const uint32_t *)a];
    const struct lwp_object *y = &split_sorted->objects[*(const uint32_t *)b];
    if (x->weight.weight != y->weight.weight)
        return x->weight.weight < y->weight.weight ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

void lwp_split_advise(struct lwp_profile *profile, struct lwp_splits *splits)
{
    size_t count = profile->object_count;
    uint32_t *order = lwp_arena_alloc(profile->arena, count + 1, sizeof *order);
    bool *done = lwp_arena_alloc(profile->arena, count + 1, sizeof *done);
    splits->of_object = lwp_arena_alloc(profile->arena, count + 1, sizeof(struct lwp_layout *));
    splits->splits = lwp_arena_alloc(profile->arena, count + 1, sizeof *splits->splits);
    splits->count = 0;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    split_sorted = profile;
    qsort(order, count, sizeof *order, split_object_compare);
    for (size_t i = 0; i < count; i++) {
        const struct lwp_object *object = &profile->objects[order[i]];
        if (object->element_bytes < 2 || (object->kind == LWP_OBJECT_STACK && !object->type))
            continue;
        splits->of_object[order[i]] = lwp_layout_make(profile, &order[i], 1);
    }
    for (size_t i = 0; i < count; i++) {
        const struct lwp_object *object = &profile->objects[order[i]];
        const struct lwp_layout *layout = splits->of_object[order[i]];
        if (!layout || done[order[i]] || object->kind == LWP_OBJECT_STACK)
            continue;
        uint32_t *same = lwp_arena_alloc(profile->arena, count - i, sizeof *same);
        size_t together_count = 0;
        for (size_t j = i; j < count; j++)
            if (splits->of_object[order[j]] && !done[order[j]] &&
                (j == i || split_same_type(object, &profile->objects[order[j]]))) {
                done[order[j]] = true;
                same[together_count++] = order[j];
            }
        if (together_count > 1)
            layout = lwp_layout_make(profile, same, together_count);
        if (layout && split_try(profile, layout, &splits->splits[splits->count]))
            splits->count++;
        else if (layout)
            split_vague(profile, layout);
    }
    qsort(splits->splits, splits->count, sizeof *splits->splits, split_compare);
}
