/* The arrays that may be regrouped, and the loops that use them: hot arrays of known element size, one block at a time of one
 * allocation or one static variable. */
#include "analysis/advice/layout/regroup_internal.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/moves.h"
#include "analysis/profile/objects.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ACCESSES_NEEDED = 6 };

static const double share_worth = 0.002, step_sure = 0.9;

/* The module an array belongs to, and where in it the source makes it. */
static uint32_t regroup_module(struct lwp_profile *profile, const struct lwp_object *object, uint64_t *place)
{
    struct lwp_frame frame;
    uint32_t node;
    *place = object->start;
    if (object->kind == LWP_OBJECT_STATIC)
        return object->module;
    if (!object->context || !lwp_objects_site(profile, object->context, &frame, &node))
        return object->context ? profile->contexts[object->context].module : LWP_NONE;
    *place = frame.line ? frame.line : profile->contexts[node].address;
    return profile->contexts[node].module;
}

static bool regroup_is_candidate(const struct lwp_profile *profile, uint32_t index)
{
    const struct lwp_object *object = &profile->objects[index];
    double share = profile->total.weight > 0 ? object->weight.weight / profile->total.weight : 0;
    if (!object->accessed || !lwp_objects_is_array(profile, index) || object->accesses < ACCESSES_NEEDED)
        return false;
    if (object->element_bytes == 0 || object->single || lwp_element_spacing(object) > object->element_bytes || object->fields_unknown ||
        object->largest / object->element_bytes < 64)
        return false;
    if (object->bytes > object->largest + object->largest / 8) /* several blocks at a time */
        return false;
    return share >= share_worth || (double)object->accesses >= share_worth * 4 * (double)profile->samples_with_address;
}

/* Heaviest first. */
static int regroup_object_compare(const void *a, const void *b, void *objects)
{
    const struct lwp_object *x = (struct lwp_object *)objects + *(const uint32_t *)a;
    const struct lwp_object *y = (struct lwp_object *)objects + *(const uint32_t *)b;
    if (x->weight.weight != y->weight.weight)
        return x->weight.weight < y->weight.weight ? 1 : -1;
    if (x->accesses != y->accesses)
        return x->accesses < y->accesses ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

/* As in the source: the same in every run, however the samples fell. */
static int regroup_source_compare(const void *a, const void *b)
{
    const struct lwp_regroup_array *x = a, *y = b;
    return LWP_COMPARE(x->module, y->module) ?: LWP_COMPARE(x->place, y->place) ?: LWP_COMPARE(x->object, y->object);
}

static void regroup_arrays(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_regroup_candidates *candidates)
{
    uint32_t *order = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *order);
    bool *is_split = lwp_arena_alloc(profile->arena, profile->object_count + 1, sizeof *is_split);
    size_t count = 0;
    for (size_t i = 0; i < splits->count; i++)
        for (size_t k = 0; k < splits->splits[i].layout->object_count; k++)
            is_split[splits->splits[i].layout->objects[k]] = true;
    for (size_t i = 0; i < profile->object_count; i++)
        if (regroup_is_candidate(profile, (uint32_t)i) && !is_split[i])
            order[count++] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, regroup_object_compare, profile->objects);
    if (count > LWP_REGROUP_ARRAYS_MAX)
        count = LWP_REGROUP_ARRAYS_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct lwp_object *object = &profile->objects[order[i]];
        uint64_t place, alignment = object->element_bytes & -object->element_bytes; /* the largest power of two it is a multiple of */
        uint64_t end = object->element_end ? object->element_end : object->largest;
        uint32_t module = regroup_module(profile, object, &place);
        if (object->type && object->type->alignment > 1)
            alignment = object->type->alignment;
        candidates->arrays[i] = (struct lwp_regroup_array){.object = order[i],
                                                           .module = module,
                                                           .place = place,
                                                           .start = object->element_start,
                                                           .element_bytes = object->element_bytes,
                                                           .elements = (end - object->element_start) / object->element_bytes,
                                                           .alignment = alignment < 16 ? alignment : 16,
                                                           .on_heap = object->kind == LWP_OBJECT_HEAP,
                                                           .type = object->type};
    }
    candidates->count = count;
    LWP_SORT(candidates->arrays, count, regroup_source_compare);
    lwp_regroup_names(profile, candidates);
}

static int regroup_loop_compare(const void *a, const void *b)
{
    const struct lwp_regroup_loop *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->region > y->region) - (x->region < y->region);
}

static bool regroup_heavier(const struct lwp_stream *a, const struct lwp_stream *b)
{
    return !b || a->weight.weight > b->weight.weight || (a->weight.weight >= b->weight.weight && a->accesses > b->accesses);
}

/* Elements that the access moves on each time round, by its code, or by what samples saw; 0: not known. */
static double regroup_step(const struct lwp_profile *profile, const struct lwp_stream *of, const struct lwp_loop_shape *shape,
                           uint64_t element_bytes)
{
    uint64_t moves[LWP_MOVES_KEPT + 1] = {0};
    size_t count = 1;
    if (shape->step)
        return fabs((double)shape->step) / (double)element_bytes;
    for (size_t i = 0; i < profile->moves.count; i++) {
        const struct lwp_code_moves *seen = &profile->moves.items[i];
        for (size_t k = 0; k < seen->count && count <= LWP_MOVES_KEPT && lwp_moves_is_of(profile, seen, of); k++)
            if (seen->kept[k].within)
                moves[count++] = (uint64_t)llabs(seen->kept[k].within);
    }
    const struct lwp_stride stride = lwp_stride_estimate(moves, count);
    return stride.probability >= step_sure ? (double)stride.bytes / (double)element_bytes : 0;
}

/* What the loop's code is like, where each array's heaviest access is. */
static void regroup_code(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, struct lwp_regroup_loop *loop)
{
    const struct lwp_stream *heaviest = NULL;
    for (size_t c = 0; c < candidates->count; c++) {
        const struct lwp_stream *of = NULL;
        uint64_t vectors = 0;
        for (uint32_t s = profile->object_streams[candidates->arrays[c].object]; s != LWP_NONE; s = profile->streams[s].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[s];
            if (stream->region != loop->region)
                continue;
            if (stream->vector && stream->bytes > candidates->arrays[c].element_bytes)
                vectors += stream->accesses;
            if (regroup_heavier(stream, of))
                of = stream;
        }
        loop->vector[c] = vectors * 2 > loop->accesses[c];
        struct lwp_loop_shape shape = {0};
        if (!of || !loop->uses[c])
            continue;
        const bool read = of->module != LWP_NONE && lwp_loop_shape(profile->code, of->module, of->address, &shape);
        loop->step[c] = regroup_step(profile, of, &shape, candidates->arrays[c].element_bytes);
        if (!read)
            continue;
        loop->strided[c] = shape.steps;
        if (regroup_heavier(of, heaviest)) {
            heaviest = of;
            loop->shape = shape;
        }
    }
}

static void regroup_times(const struct lwp_regroup_candidates *candidates, struct lwp_regroup_loop *loop)
{
    loop->first_ns = UINT64_MAX;
    for (size_t c = 0; c < candidates->count; c++) {
        const struct lwp_traversal *traversal = lwp_traversals_of(&candidates->traversals, candidates->arrays[c].object, loop->region);
        for (uint32_t i = 0; traversal && i < traversal->count; i++) {
            uint64_t time = traversal->places[i].time;
            loop->first_ns = time < loop->first_ns ? time : loop->first_ns;
            loop->last_ns = time > loop->last_ns ? time : loop->last_ns;
        }
    }
}

/* A loop whose stalls all hide behind computing still shows who is used together: its accesses weigh a little. */
static void regroup_loops(struct lwp_profile *profile, struct lwp_regroup_candidates *candidates)
{
    enum { FOUND_MAX = 1024 };
    struct lwp_map *index = lwp_map_new();
    struct lwp_regroup_loop *loops = NULL;
    size_t count = 0, room = 0;
    double mean = profile->total.samples ? profile->total.weight / (double)profile->total.samples : 1;
    for (size_t c = 0; c < candidates->count; c++)
        for (uint32_t s = profile->object_streams[candidates->arrays[c].object]; s != LWP_NONE; s = profile->streams[s].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[s];
            if (stream->region == LWP_NONE)
                continue;
            uint32_t *at = lwp_map_at(index, stream->region);
            if (*at == LWP_MAP_NONE) {
                if (count == FOUND_MAX)
                    continue;
                *at = (uint32_t)count;
                LWP_GROW(&loops, count, &room);
                memset(&loops[count], 0, sizeof *loops);
                loops[count++].region = stream->region;
            }
            struct lwp_regroup_loop *loop = &loops[*at];
            lwp_tally_merge(&loop->of[c], &stream->weight);
            loop->accesses[c] += stream->accesses; // NOLINT(clang-analyzer-core.NullDereference): a number that was there has its item
            loop->weight += stream->weight.weight + 0.02 * mean * (double)stream->accesses;
        }
    if (count)
        qsort(loops, count, sizeof *loops, regroup_loop_compare);
    candidates->loop_count = count < LWP_REGROUP_LOOPS_MAX ? count : LWP_REGROUP_LOOPS_MAX;
    candidates->loops = lwp_arena_alloc(profile->arena, candidates->loop_count + 1, sizeof *loops);
    for (size_t l = 0; l < candidates->loop_count; l++) {
        candidates->loops[l] = loops[l];
        struct lwp_regroup_loop *loop = &candidates->loops[l];
        for (size_t c = 0; c < candidates->count; c++)
            /* One access in a hundred may be another loop's, or another array's. */
            loop->uses[c] = loop->accesses[c] >= 2 && loop->accesses[c] * 100 > profile->objects[candidates->arrays[c].object].accesses;
        regroup_code(profile, candidates, loop);
        regroup_times(candidates, loop);
    }
    free(loops);
    lwp_map_free(index);
}

/* Those of the candidates, by whole regions. */
static void regroup_traversals(const struct lwp_profile *profile, struct lwp_regroup_candidates *candidates)
{
    uint32_t *regions = lwp_zeroed(profile->region_count, sizeof *regions);
    uint32_t *objects = lwp_zeroed(profile->object_count, sizeof *objects);
    lwp_traversals_init(&candidates->traversals);
    for (size_t i = 0; i < profile->region_count; i++)
        regions[i] = profile->regions[i].same_as;
    memset(objects, 0xff, profile->object_count * sizeof *objects); /* LWP_TRAVERSAL_LEFT_OUT */
    for (size_t c = 0; c < candidates->count; c++)
        objects[candidates->arrays[c].object] = candidates->arrays[c].object;
    lwp_traversals_merge(&candidates->traversals, &profile->traversals, objects, regions);
    free(objects);
    free(regions);
}

void lwp_regroup_collect(struct lwp_profile *profile, const struct lwp_splits *splits, struct lwp_regroup_candidates *candidates)
{
    regroup_arrays(profile, splits, candidates);
    regroup_traversals(profile, candidates);
    regroup_loops(profile, candidates);
}
