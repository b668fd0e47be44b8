/* What regrouping arrays saves: cache lines per index before and after, and the speed-up that makes plausible.
 *
 * The access pattern of a loop is read from the strides between two executions of one instruction: to the next element (or a few
 * on), a fixed stride, or random. Sequentially every line is used up whether the arrays are regrouped or not: it saves nothing, and
 * a loop that uses some of the arrays only now fetches all. Randomly or with a large stride each array costs a line at each index, and
 * the new element costs one or two in all.
 *
 * From lines to time as for splits (gain_model.c). Limits: a column traversal whose lines stay in the cache until the next column
 * counts as if they did not; loops that lose their vector instructions when arrays are regrouped are feared, not measured. */
#include "analysis/advice/gain/visit.h"
#include "analysis/advice/layout/regroup_internal.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRIDES_NEEDED = 4, STRIDES_MAX = 4096, SEQUENTIAL_STRIDE = 64 };

static const double set_up_most = 0.05;

enum regroup_pattern { PATTERN_UNKNOWN, PATTERN_SEQUENTIAL, PATTERN_STRIDED, PATTERN_RANDOM };

/* Where each member goes in the new structure, and its size. */
static uint64_t gain_pack(const struct lwp_regroup_candidates *candidates, const size_t *members, size_t count, uint64_t *offsets)
{
    struct lwp_member_packing packing = {0};
    for (size_t i = 0; i < count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[members[i]];
        offsets[i] = lwp_member_packing_add(&packing, array->element_bytes, array->alignment);
    }
    return lwp_member_packing_size(&packing);
}

/* Beside another array that the loop visits sequentially (the indices of a gather): where that is, the loop's own counter is. An
 * array that is elsewhere is not visited sequentially. */
static enum regroup_pattern gain_pattern_by_company(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup,
                                                    const struct lwp_regroup_loop *loop)
{
    enum { NEEDED = 8 };
    size_t near = 0, all = 0;
    for (size_t c = 0; c < candidates->count; c++) {
        const struct lwp_regroup_array *other = &candidates->arrays[c];
        const struct lwp_traversal *traversal = lwp_traversals_of(&candidates->traversals, other->object, loop->region);
        size_t small = 0;
        for (uint32_t k = 0; traversal && k < traversal->step_count; k++)
            small += (uint64_t)llabs(traversal->steps[k]) / other->element_bytes <= SEQUENTIAL_STRIDE;
        if (!traversal || traversal->step_count < STRIDES_NEEDED || small * 4 < traversal->step_count * 3)
            continue;
        for (size_t i = 0; i < regroup->count; i++) {
            const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
            const struct lwp_traversal_pair *pair =
                array == other ? NULL : lwp_traversals_pair(&candidates->traversals, array->object, other->object, loop->region);
            for (int close = 0; pair && close < 2; close++) {
                double mine[LWP_TRAVERSAL_MEETINGS], its[LWP_TRAVERSAL_MEETINGS];
                size_t count = lwp_regroup_indices(array, other, pair, close ? &pair->close : &pair->loose, mine, its);
                all += count;
                for (size_t k = 0; k < count; k++)
                    near += fabs(mine[k] / (double)array->elements - its[k] / (double)other->elements) <= 0.02;
            }
        }
    }
    return all < NEEDED ? PATTERN_UNKNOWN : near * 2 >= all ? PATTERN_SEQUENTIAL : near * 6 <= all ? PATTERN_RANDOM : PATTERN_UNKNOWN;
}

/* Two arrays at one index each, some iterations apart, are as good as two executions of one instruction. */
static size_t gain_strides_between(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup_loop *loop,
                                   const struct lwp_regroup_array *a, const struct lwp_regroup_array *b, uint64_t *strides, size_t room)
{
    double ahead[LWP_TRAVERSAL_MEETINGS];
    const struct lwp_traversal_pair *pair = lwp_traversals_pair(&candidates->traversals, a->object, b->object, loop->region);
    size_t count = pair ? lwp_regroup_ahead(a, b, pair, &pair->loose, ahead) : 0, made = 0;
    for (size_t i = 0; i < count && made < room; i++)
        if (fabs(ahead[i]) >= 1)
            strides[made++] = (uint64_t)fabs(ahead[i]);
    return made;
}

/* Whether strides are all different. A stencil's are a few fixed ones, whatever its loop does. */
static bool gain_scattered(const uint64_t *strides, size_t count)
{
    size_t single = 0;
    for (size_t i = 0; i < count; i++)
        single += (i == 0 || strides[i] - strides[i - 1] > 8) && (i + 1 == count || strides[i + 1] - strides[i] > 8);
    return count >= 6 && single * 2 >= count;
}

/* What is known of how a loop goes over the arrays of a group. */
struct gain_strides {
    uint64_t of[STRIDES_MAX]; /* in elements */
    size_t count;
    uint64_t smallest_element; /* bytes */
    size_t used;               /* arrays that the loop uses ... */
    size_t vectors;            /* ... by vectors, ... */
    size_t fixed;              /* ... with a stride that its code shows */
    bool pure;                 /* all are from one array each, not from one array to another */
};

static struct gain_strides gain_strides_seen(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup,
                                             const struct lwp_regroup_loop *loop)
{
    struct gain_strides seen = {.smallest_element = UINT64_MAX};
    for (size_t i = 0; i < regroup->count; i++) {
        const uint32_t member = regroup->members[i];
        const struct lwp_regroup_array *array = &candidates->arrays[member];
        const struct lwp_traversal *traversal = lwp_traversals_of(&candidates->traversals, array->object, loop->region);
        if (!traversal || !loop->uses[member])
            continue;
        seen.used++;
        seen.vectors += loop->vector[member];
        seen.fixed += loop->strided[member];
        LWP_LOWER(seen.smallest_element, array->element_bytes);
        for (uint32_t k = 0; k < traversal->step_count && seen.count < STRIDES_MAX; k++) {
            uint64_t step = (uint64_t)llabs(traversal->steps[k]) / array->element_bytes;
            if (step)
                seen.of[seen.count++] = step;
        }
    }
    seen.pure = seen.count >= STRIDES_NEEDED;
    for (size_t i = 0; i < regroup->count && !seen.pure; i++)
        for (size_t k = 0; k < i; k++)
            seen.count += gain_strides_between(candidates, loop, &candidates->arrays[regroup->members[i]],
                                               &candidates->arrays[regroup->members[k]], seen.of + seen.count, STRIDES_MAX - seen.count);
    return seen;
}

static enum regroup_pattern gain_pattern(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup,
                                         const struct lwp_regroup_loop *loop, uint64_t line, uint64_t *stride)
{
    struct gain_strides seen = gain_strides_seen(candidates, regroup, loop);
    *stride = 1;
    if (seen.vectors * 2 > seen.used) /* of consecutive elements */
        return PATTERN_SEQUENTIAL;
    /* By its code: where some have a stride, all have. That others have none may only mean that registers ran out. */
    const enum regroup_pattern by_code = seen.fixed >= 2 || seen.fixed == seen.used ? PATTERN_SEQUENTIAL : PATTERN_UNKNOWN;
    if (seen.count < STRIDES_NEEDED) {
        const enum regroup_pattern by_company = gain_pattern_by_company(candidates, regroup, loop);
        if (by_company == PATTERN_UNKNOWN)
            return by_code;
        return by_code == PATTERN_UNKNOWN || by_code == by_company ? by_company : PATTERN_UNKNOWN;
    }
    const uint64_t common = lwp_stride_common(seen.of, seen.count, 1);
    qsort(seen.of, seen.count, sizeof *seen.of, lwp_compare_u64);
    if (common * seen.smallest_element > line && (seen.pure || seen.of[seen.count - 1] >= seen.of[0] + 2 * common)) {
        *stride = common;
        return PATTERN_STRIDED;
    }
    if (seen.of[seen.count / 2] <= SEQUENTIAL_STRIDE)
        return PATTERN_SEQUENTIAL;
    if (gain_scattered(seen.of, seen.count))
        return by_code == PATTERN_SEQUENTIAL ? PATTERN_UNKNOWN : PATTERN_RANDOM;
    return by_code;
}

struct gain_places {
    struct lwp_placement separate, together;
    bool uses[LWP_REGROUP_ARRAYS_MAX];
};

/* The arrays as they are and regrouped, for a loop that goes on by `stride` elements. */
static void gain_place(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup,
                       const struct lwp_regroup_loop *loop, uint64_t stride, struct gain_places *places)
{
    struct lwp_placement *separate = &places->separate, *together = &places->together;
    *separate = (struct lwp_placement){.field_count = regroup->count, .groups = regroup->count};
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
        separate->bytes[i] = array->element_bytes;
        separate->group[i] = (int)i;
        separate->of[i].spacing = array->element_bytes * stride;
        if (stride > 1) /* each column begins somewhere else in its line */
            separate->of[i].alignment = array->alignment;
        else
            separate->of[i].start = array->on_heap ? LWP_PLACEMENT_MALLOC : 0;
        places->uses[i] = loop->uses[regroup->members[i]];
    }
    *together = *separate;
    together->groups = 1;
    memset(together->group, 0, sizeof together->group);
    together->of[0].spacing = gain_pack(candidates, regroup->members, regroup->count, together->offsets) * stride;
}

/* Lines per index. */
static void gain_lines(const struct gain_places *places, uint64_t line, uint64_t stride, bool random, double *before, double *after)
{
    bool all = true;
    double used = 0;
    for (size_t i = 0; i < places->separate.field_count; i++) {
        all &= places->uses[i];
        used += places->uses[i] ? (double)places->separate.bytes[i] : 0;
    }
    *before = lwp_placement_lines(&places->separate, places->uses, line, random);
    *after = lwp_placement_lines(&places->together, places->uses, line, random);
    if (!random && stride == 1) { /* each line is fetched once for all elements on it */
        *before = used / (double)line;
        *after = all ? (double)places->together.of[0].spacing / (double)line : *after;
    }
}

/* How gain_model.c sees the arrays of a loop: those it uses, one element of each an index. */
static struct lwp_placement_need gain_need(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup,
                                           const struct lwp_regroup_loop *loop, bool together, double lines, double random)
{
    double used = 0, places = 0, elements = (double)candidates->arrays[regroup->members[0]].elements;
    for (size_t i = 0; i < regroup->count; i++) {
        used += loop->uses[regroup->members[i]] ? (double)candidates->arrays[regroup->members[i]].element_bytes : 0;
        places += loop->uses[regroup->members[i]];
    }
    double bytes = together ? (double)regroup->bytes : used;
    return (struct lwp_placement_need){.lines = lines,
                                       .random = random,
                                       .busy = elements * bytes,
                                       .spread = elements * bytes,
                                       .spacing = bytes,
                                       .places = together ? 1 : places};
}

struct gain_loop {
    enum regroup_pattern pattern;
    uint32_t leader;
    double weight, before[2], after[2]; /* lines: [1] randomly */
    size_t used, vectors;
};

/* No line less is fetched. Fewer streams are easier to follow, but lines that each serve fewer visits ask for more of the prefetchers:
 * joining six streams took 1.15 to 1.33 times as long. What many streams cost where their lines collide is in conflicts.c. */
static struct lwp_gain_range gain_sequential(const struct gain_loop *of, double arrives)
{
    struct lwp_gain_range range;
    range.low = range.high = 1 - of->after[0] / of->before[0];
    range.low *= range.low > 0 ? arrives : 1;
    if (of->vectors)
        range.low = fmin(range.low, 0) - 0.1;
    return range;
}

static struct lwp_gain_range gain_saved(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                                        const struct lwp_regroup *regroup, const struct lwp_regroup_loop *loop, const struct gain_loop *of)
{
    const struct lwp_caches caches = lwp_gain_caches(profile->machine);
    struct lwp_placement_need before = gain_need(candidates, regroup, loop, false, of->before[0], of->before[1]);
    struct lwp_placement_need after = gain_need(candidates, regroup, loop, true, of->after[0], of->after[1]);
    struct lwp_gain_access access = {LWP_GAIN_RANDOM, loop->shape.chained || of->leader != LWP_NONE, loop->shape.work.instructions};
    double arrives = before.busy > (double)caches.l3_bytes ? 0.6 : 0.3;
    struct lwp_gain_range order = gain_sequential(of, arrives), random;
    if (of->pattern == PATTERN_SEQUENTIAL)
        return order;
    if (of->pattern == PATTERN_STRIDED) { /* a column of the new elements may stay in the cache where those of all did not */
        double saved = 1 - of->after[0] / of->before[0];
        return (struct lwp_gain_range){saved > 0 ? saved * arrives : saved, 1 - 0.65 * (1 - saved)};
    }
    random = lwp_gain_saved(&caches, access, &before, &after);
    if (of->pattern == PATTERN_RANDOM)
        return random;
    return (struct lwp_gain_range){fmin(order.low, random.low), fmax(order.high, random.high)};
}

/* The array whose numbers say where the loop goes next; LWP_NONE: none does. A member where several do. */
static uint32_t gain_leader(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                            const struct lwp_regroup *regroup, uint32_t region)
{
    const struct lwp_stream *leader = NULL;
    bool member = false;
    for (size_t i = 0; i < profile->stream_count && profile->code; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        bool is_member = false;
        for (size_t k = 0; k < regroup->count; k++)
            is_member |= candidates->arrays[regroup->members[k]].object == stream->object;
        if (stream->region == region && stream->module != LWP_NONE &&
            (!leader || is_member > member || (is_member == member && stream->weight.weight > leader->weight.weight)) &&
            lwp_loop_leads(profile->code, stream->module, stream->address)) {
            leader = stream;
            member = is_member;
        }
    }
    return leader ? leader->object : LWP_NONE;
}

/* Where the loop's code first goes to each of the arrays. */
static const uint64_t *gain_first(const struct lwp_profile *profile, uint32_t region, const uint32_t *objects, size_t count)
{
    uint64_t *first = lwp_arena_alloc(profile->arena, count, sizeof *first);
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        for (size_t k = 0; k < count && stream->region == region; k++)
            if (objects[k] == stream->object && (!first[k] || stream->address < first[k]))
                first[k] = stream->address;
    }
    return first;
}

/* How the loop goes through the arrays, for it to be run (measured.h). Not told of vector code, which the run does not have, nor of
 * columns, whose lines may stay in the caches until the next one. */
static struct lwp_gain_visit gain_visit(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                                        const struct lwp_regroup *regroup, const struct lwp_regroup_loop *loop, const struct gain_loop *of,
                                        const struct gain_places *places)
{
    bool told = !of->vectors && (of->pattern == PATTERN_SEQUENTIAL || of->pattern == PATTERN_RANDOM);
    uint32_t *objects = lwp_arena_alloc(profile->arena, regroup->count, sizeof *objects);
    for (size_t i = 0; i < regroup->count; i++)
        objects[i] = candidates->arrays[regroup->members[i]].object;
    return (struct lwp_gain_visit){.region = loop->region,
                                   .objects = objects,
                                   .object_count = regroup->count,
                                   .uses = places->uses,
                                   .first = gain_first(profile, loop->region, objects, regroup->count),
                                   .spacing = candidates->arrays[regroup->members[0]].element_bytes,
                                   .elements = (double)candidates->arrays[regroup->members[0]].elements,
                                   .visits = 1,
                                   .far = 1,
                                   .leader = of->pattern == PATTERN_RANDOM ? of->leader : LWP_NONE,
                                   .access = {!told                           ? LWP_GAIN_UNKNOWN
                                              : of->pattern == PATTERN_RANDOM ? LWP_GAIN_RANDOM
                                                                              : LWP_GAIN_SEQUENTIAL,
                                              false, loop->shape.work.instructions},
                                   .shape = loop->shape};
}

/* When the heaviest loop that uses several of the arrays began. What little is done to fill them before that is set-up,
 * to be written anew with the declaration: it counts neither way. */
static uint64_t gain_begun(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup)
{
    for (size_t l = 0; l < candidates->loop_count; l++) { /* heaviest first */
        size_t used = 0;
        for (size_t i = 0; i < regroup->count; i++)
            used += candidates->loops[l].uses[regroup->members[i]];
        if (used > 1)
            return candidates->loops[l].first_ns;
    }
    return 0;
}

void lwp_regroup_gain(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates, struct lwp_regroup *regroup)
{
    uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    uint64_t offsets[LWP_REGROUP_ARRAYS_MAX];
    struct lwp_gain *gain = &regroup->gain;
    struct lwp_share share = lwp_share_of(&regroup->weight, &profile->total);
    struct lwp_gain_saving sum = {0};
    double weights = 0;
    *gain = (struct lwp_gain){.speedup = 1, .low = 1, .high = 1};
    gain->loops = lwp_arena_alloc(profile->arena, candidates->loop_count + 1, sizeof *gain->loops);
    regroup->bytes = gain_pack(candidates, regroup->members, regroup->count, offsets);
    if (share.value <= 0)
        return;
    uint64_t begun = gain_begun(candidates, regroup);
    for (size_t l = 0; l < candidates->loop_count; l++) {
        const struct lwp_regroup_loop *loop = &candidates->loops[l];
        struct gain_loop of = {0};
        uint64_t stride;
        for (size_t i = 0; i < regroup->count; i++) {
            size_t c = regroup->members[i];
            of.weight += loop->uses[c] ? loop->of[c].weight : 0;
            of.used += loop->uses[c];
            of.vectors += loop->uses[c] && loop->vector[c];
        }
        bool set_up = loop->last_ns <= begun && of.weight < set_up_most * regroup->weight.weight;
        if (of.used == 0 || of.weight <= 0 || set_up)
            continue;
        of.pattern = gain_pattern(candidates, regroup, loop, line, &stride);
        of.leader = gain_leader(profile, candidates, regroup, loop->region);
        struct gain_places places;
        gain_place(candidates, regroup, loop, stride, &places);
        for (int random = 0; random < 2; random++)
            gain_lines(&places, line, stride, random, &of.before[random], &of.after[random]);
        struct lwp_gain_range saved = gain_saved(profile, candidates, regroup, loop, &of);
        struct lwp_gain_visit visit = gain_visit(profile, candidates, regroup, loop, &of, &places);
        struct lwp_gain_saving saving =
            lwp_gain_of_loop(profile, &visit, of.weight, &places.separate, &places.together, saved, (saved.low + saved.high) / 2);
        lwp_gain_sum(&sum, &saving, &share);
        bool random = of.pattern == PATTERN_RANDOM;
        gain->loops[gain->loop_count++] = (struct lwp_gain_loop){loop->region, of.before[random], of.after[random]};
        gain->before += of.weight * of.before[random];
        gain->after += of.weight * of.after[random];
        weights += of.weight;
    }
    gain->before = weights > 0 ? gain->before / weights : 0;
    gain->after = weights > 0 ? gain->after / weights : 0;
    lwp_gain_speedups(profile, &sum, &share, gain);
}
