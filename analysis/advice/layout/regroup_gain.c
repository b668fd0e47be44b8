/* What joining arrays saves: cache lines per index before and after, and the speed-up that makes plausible.
 *
 * How a loop goes through the indices is read from the steps between two executions of one instruction: to the next
 * element (or a few on), a fixed stride on, or anywhere. Going from each element to the next, every line is used up
 * whether the arrays are joined or not: joining saves nothing, and a loop that uses some of the arrays only now fetches
 * all. It only takes fewer streams: beyond a dozen or more the processor's prefetchers lose track. Jumping or with a
 * large stride each array costs a line at each index, and the joined element costs one or two in all.
 *
 * From lines to time as for splits (gain_model.c). Limits: a column walk whose lines stay in the cache until the next
 * column counts as if they did not; conflicts of arrays a power of two apart are not counted; loops that lose their
 * vector instructions when arrays are joined are feared, not measured. */
#include "analysis/advice/gain/member_packing.h"
#include "analysis/advice/layout/regroup.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS_NEEDED = 4, STEPS_MAX = 4096, STREAMS_FOLLOWED = 32, IN_ORDER_STEP = 64 };

static const uint64_t usual_line = 64, usual_l3 = 16 << 20, malloc_start = 16;
static const double set_up_most = 0.05;

enum gain_way { GAIN_UNKNOWN, GAIN_IN_ORDER, GAIN_STRIDED, GAIN_JUMPING };

uint64_t lwp_regroup_pack(const struct lwp_regroup_candidates *candidates, const size_t *members, size_t count,
                          uint64_t *offsets)
{
    struct lwp_member_packing packing = {0};
    for (size_t i = 0; i < count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[members[i]];
        offsets[i] = lwp_member_packing_add(&packing, array->element_bytes, array->alignment);
    }
    return lwp_member_packing_size(&packing);
}

static int gain_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The largest stride that most steps are multiples of; the ends of rows and stray samples are not. */
static uint64_t gain_stride(const uint64_t *steps, size_t count)
{
    uint64_t best = 1;
    for (size_t i = 0; i < count && i < 12; i++)
        for (size_t j = i; j < count && j < 12; j++) {
            uint64_t stride = lwp_stride_gcd(steps[i], steps[j]);
            size_t agree = 0;
            for (size_t k = 0; k < count && stride > best; k++)
                agree += steps[k] % stride == 0;
            if (stride > best && agree * 10 >= count * 8)
                best = stride;
        }
    return best;
}

static double gain_place(const struct lwp_regroup_array *array, double index)
{
    return index / (double)array->elements;
}

/* Another array that the loop goes over in order (the indices of a gather): where it is, the loop's own counter is. An
 * array that is elsewhere is not gone over in order. */
static enum gain_way gain_way_by_company(const struct lwp_regroup_candidates *candidates,
                                         const struct lwp_regroup *regroup, const struct lwp_regroup_loop *loop)
{
    enum { NEEDED = 8 };
    size_t near = 0, all = 0;
    for (size_t c = 0; c < candidates->count; c++) {
        const struct lwp_regroup_array *other = &candidates->arrays[c];
        const struct lwp_traversal *walk = lwp_traversals_of(&candidates->walks, other->object, loop->region);
        size_t small = 0;
        for (uint32_t k = 0; walk && k < walk->step_count; k++)
            small += (uint64_t)llabs(walk->steps[k]) / other->element_bytes <= IN_ORDER_STEP;
        if (!walk || walk->step_count < STEPS_NEEDED || small * 4 < walk->step_count * 3)
            continue;
        for (size_t i = 0; i < regroup->count; i++) {
            const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
            const struct lwp_traversal_pair *pair =
                array == other ? NULL : lwp_traversals_pair(&candidates->walks, array->object, other->object, loop->region);
            for (int close = 0; pair && close < 2; close++) {
                double mine[LWP_TRAVERSAL_MEETINGS], its[LWP_TRAVERSAL_MEETINGS];
                size_t count = lwp_regroup_indices(array, other, pair, close, mine, its);
                all += count;
                for (size_t k = 0; k < count; k++)
                    near += fabs(gain_place(array, mine[k]) - gain_place(other, its[k])) <= 0.02;
            }
        }
    }
    return all < NEEDED      ? GAIN_UNKNOWN
           : near * 2 >= all ? GAIN_IN_ORDER
           : near * 6 <= all ? GAIN_JUMPING
                             : GAIN_UNKNOWN;
}

/* Two arrays at one index each, some iterations apart, are as good as two executions of one instruction. */
static size_t gain_steps(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup_loop *loop,
                         const struct lwp_regroup_array *a, const struct lwp_regroup_array *b, uint64_t *steps,
                         size_t room)
{
    double ahead[LWP_TRAVERSAL_MEETINGS];
    const struct lwp_traversal_pair *pair = lwp_traversals_pair(&candidates->walks, a->object, b->object, loop->region);
    size_t count = pair ? lwp_regroup_ahead(a, b, pair, false, ahead) : 0, made = 0;
    for (size_t i = 0; i < count && made < room; i++)
        if (fabs(ahead[i]) >= 1)
            steps[made++] = (uint64_t)fabs(ahead[i]);
    return made;
}

/* Whether steps are all different. A stencil's are a few fixed ones, whatever its loop does. */
static bool gain_scattered(const uint64_t *steps, size_t count)
{
    size_t single = 0;
    for (size_t i = 0; i < count; i++)
        single += (i == 0 || steps[i] - steps[i - 1] > 8) && (i + 1 == count || steps[i + 1] - steps[i] > 8);
    return count >= 6 && single * 2 >= count;
}

static enum gain_way gain_way(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup,
                              const struct lwp_regroup_loop *loop, uint64_t line, uint64_t *stride)
{
    uint64_t steps[STEPS_MAX], smallest = UINT64_MAX;
    size_t count = 0, vectors = 0, used = 0, fixed = 0;
    *stride = 1;
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
        const struct lwp_traversal *walk = lwp_traversals_of(&candidates->walks, array->object, loop->region);
        if (!walk || !loop->uses[regroup->members[i]])
            continue;
        used++;
        vectors += loop->vector[regroup->members[i]];
        fixed += loop->steps[regroup->members[i]];
        smallest = array->element_bytes < smallest ? array->element_bytes : smallest;
        for (uint32_t k = 0; k < walk->step_count && count < STEPS_MAX; k++) {
            uint64_t step = (uint64_t)llabs(walk->steps[k]) / array->element_bytes;
            if (step)
                steps[count++] = step;
        }
    }
    /* By its code: where some go, all go. That others do not step may only mean that registers ran out. */
    enum gain_way told = fixed >= 2 || fixed == used ? GAIN_IN_ORDER : GAIN_UNKNOWN;
    bool pure = count >= STEPS_NEEDED;
    for (size_t i = 0; i < regroup->count && !pure; i++)
        for (size_t k = 0; k < i; k++)
            count += gain_steps(candidates, loop, &candidates->arrays[regroup->members[i]],
                                &candidates->arrays[regroup->members[k]], steps + count, STEPS_MAX - count);
    if (vectors * 2 > used) /* of consecutive elements */
        return GAIN_IN_ORDER;
    if (count < STEPS_NEEDED) {
        enum gain_way seen = gain_way_by_company(candidates, regroup, loop);
        return seen == GAIN_UNKNOWN ? told : told == GAIN_UNKNOWN || told == seen ? seen : GAIN_UNKNOWN;
    }
    uint64_t common = gain_stride(steps, count);
    qsort(steps, count, sizeof *steps, gain_compare);
    if (common * smallest > line && (pure || steps[count - 1] >= steps[0] + 2 * common)) {
        *stride = common;
        return GAIN_STRIDED;
    }
    if (steps[count / 2] <= IN_ORDER_STEP)
        return GAIN_IN_ORDER;
    if (gain_scattered(steps, count))
        return told == GAIN_IN_ORDER ? GAIN_UNKNOWN : GAIN_JUMPING;
    return told;
}

/* Lines per index, with the arrays by themselves and joined. */
static void gain_lines(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup,
                       const struct lwp_regroup_loop *loop, uint64_t line, uint64_t stride, bool jumping,
                       double *before, double *after)
{
    uint64_t offsets[LWP_REGROUP_ARRAYS_MAX], none[LWP_REGROUP_ARRAYS_MAX] = {0}, bytes[LWP_REGROUP_ARRAYS_MAX];
    uint64_t spacing[LWP_REGROUP_ARRAYS_MAX], start[LWP_REGROUP_ARRAYS_MAX];
    uint64_t alignment[LWP_REGROUP_ARRAYS_MAX] = {0};
    int apart[LWP_REGROUP_ARRAYS_MAX];
    bool uses[LWP_REGROUP_ARRAYS_MAX];
    uint64_t size = lwp_regroup_pack(candidates, regroup->members, regroup->count, offsets) * stride;
    for (size_t i = 0; i < regroup->count; i++) {
        bytes[i] = candidates->arrays[regroup->members[i]].element_bytes;
        spacing[i] = bytes[i] * stride;
        start[i] = candidates->arrays[regroup->members[i]].on_heap ? malloc_start : 0;
        if (stride > 1) { /* each column begins somewhere else in its line */
            start[i] = 0;
            alignment[i] = candidates->arrays[regroup->members[i]].alignment;
        }
        apart[i] = (int)i;
        uses[i] = loop->uses[regroup->members[i]];
    }
    *before = lwp_gain_lines(&(struct lwp_gain_placement){.field_count = regroup->count,
                                                          .offsets = none,
                                                          .bytes = bytes,
                                                          .group = apart,
                                                          .groups = regroup->count,
                                                          .spacing = spacing,
                                                          .alignment = alignment,
                                                          .start = start},
                             uses, line, jumping);
    bool all = true;
    double used = 0;
    for (size_t i = 0; i < regroup->count; i++) {
        all &= uses[i];
        used += uses[i] ? (double)bytes[i] : 0;
    }
    if (!jumping && stride == 1) /* each line is fetched once for all elements on it */
        *before = used / (double)line;
    *after = lwp_gain_lines(&(struct lwp_gain_placement){.field_count = regroup->count,
                                                         .offsets = offsets,
                                                         .bytes = bytes,
                                                         .groups = 1,
                                                         .spacing = &size,
                                                         .alignment = alignment,
                                                         .start = start},
                            uses, line, jumping);
    if (!jumping && stride == 1 && all)
        *after = (double)size / (double)line;
}

/* All arrays the loop goes through, joined or not. */
static size_t gain_streams(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup_loop *loop)
{
    size_t streams = 0;
    for (size_t c = 0; c < candidates->count; c++)
        streams += loop->uses[c];
    return streams;
}

/* How the model of gain.c sees the arrays of a loop: those it uses, one element of each an index. */
static struct lwp_gain_need gain_need(const struct lwp_regroup_candidates *candidates,
                                      const struct lwp_regroup *regroup, const struct lwp_regroup_loop *loop,
                                      bool joined, double lines, double jumping)
{
    double used = 0, places = 0, elements = (double)candidates->arrays[regroup->members[0]].elements;
    for (size_t i = 0; i < regroup->count; i++) {
        used += loop->uses[regroup->members[i]] ? (double)candidates->arrays[regroup->members[i]].element_bytes : 0;
        places += loop->uses[regroup->members[i]];
    }
    double bytes = joined ? (double)regroup->bytes : used;
    return (struct lwp_gain_need){.lines = lines,
                                  .jumping = jumping,
                                  .busy = elements * bytes,
                                  .spread = elements * bytes,
                                  .spacing = bytes,
                                  .places = joined ? 1 : places};
}

struct gain_loop {
    enum gain_way way;
    double weight, before[2], after[2]; /* lines: [1] jumping */
    size_t used, vectors;
};

static size_t gain_followed(const struct lwp_profile *profile)
{
    return profile->machine.streams ? profile->machine.streams : STREAMS_FOLLOWED;
}

/* More streams than prefetchers follow, most of them of the group. */
static bool gain_many(const struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                      const struct lwp_regroup_loop *loop, const struct gain_loop *of)
{
    size_t streams = gain_streams(candidates, loop);
    return streams > gain_followed(profile) && of->used * 2 > streams;
}

static struct lwp_gain_range gain_in_order(const struct lwp_profile *profile,
                                           const struct lwp_regroup_candidates *candidates,
                                           const struct lwp_regroup_loop *loop, const struct gain_loop *of,
                                           double arrives)
{
    size_t streams = gain_streams(candidates, loop);
    bool many = gain_many(profile, candidates, loop, of);
    struct lwp_gain_range range;
    range.low = range.high = 1 - of->after[0] / of->before[0];
    range.low *= range.low > 0 ? arrives : 1;
    range.low += many ? fmin(0.25, 0.0145 * (double)(streams - gain_followed(profile))) : 0;
    range.high += streams > 4 && of->used > 2 ? fmin(0.4, 0.02 * (double)(streams - 4)) : 0;
    if (of->vectors && !many)
        range.low = fmin(range.low, 0) - 0.1;
    return range;
}

static struct lwp_gain_range gain_saved(const struct lwp_profile *profile,
                                        const struct lwp_regroup_candidates *candidates,
                                        const struct lwp_regroup *regroup, const struct lwp_regroup_loop *loop,
                                        const struct gain_loop *of)
{
    double l3 = profile->machine.l3_bytes ? (double)profile->machine.l3_bytes : (double)usual_l3;
    struct lwp_gain_need before = gain_need(candidates, regroup, loop, false, of->before[0], of->before[1]);
    struct lwp_gain_need after = gain_need(candidates, regroup, loop, true, of->after[0], of->after[1]);
    struct lwp_gain_walk walk = {
        .pattern = LWP_GAIN_JUMPING, .chained = loop->shape.chained, .instructions = loop->shape.instructions};
    double arrives = before.busy > l3 ? 0.6 : 0.3;
    struct lwp_gain_range order = gain_in_order(profile, candidates, loop, of, arrives), jumps;
    if (of->way == GAIN_IN_ORDER)
        return order;
    if (of->way == GAIN_STRIDED) { /* a column of joined elements may stay in the cache where those of all did not */
        double saved = 1 - of->after[0] / of->before[0];
        return (struct lwp_gain_range){saved > 0 ? saved * arrives : saved, 1 - 0.65 * (1 - saved)};
    }
    jumps = lwp_gain_saved(&profile->machine, walk, &before, &after, &after);
    if (of->way == GAIN_JUMPING)
        return jumps;
    return (struct lwp_gain_range){fmin(order.low, jumps.low), fmax(order.high, jumps.high)};
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

void lwp_regroup_gain(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                      struct lwp_regroup *regroup)
{
    uint64_t line = profile->machine.line_bytes ? profile->machine.line_bytes : usual_line;
    uint64_t offsets[LWP_REGROUP_ARRAYS_MAX];
    struct lwp_gain *gain = &regroup->gain;
    struct lwp_share share = lwp_share_of(&regroup->weight, &profile->total);
    double saved_low = 0, saved_high = 0, weights = 0, all = profile->total.weight;
    *gain = (struct lwp_gain){.low = 1, .high = 1};
    gain->loops = lwp_arena_alloc(profile->arena, candidates->loop_count + 1, sizeof *gain->loops);
    regroup->bytes = lwp_regroup_pack(candidates, regroup->members, regroup->count, offsets);
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
        of.way = gain_way(candidates, regroup, loop, line, &stride);
        for (int jumping = 0; jumping < 2; jumping++)
            gain_lines(candidates, regroup, loop, line, stride, jumping, &of.before[jumping], &of.after[jumping]);
        struct lwp_gain_range waiting = lwp_gain_waiting(profile, loop->region, of.weight, &loop->shape);
        struct lwp_gain_range saved = gain_saved(profile, candidates, regroup, loop, &of);
        if (of.way != GAIN_JUMPING && of.way != GAIN_STRIDED &&
            gain_many(profile, candidates, loop, &of)) /* all of it is slowed down */
            waiting.low += 0.4 * (waiting.high - waiting.low);
        double whole = fmax(profile->regions[loop->region].weight.weight, waiting.high);
        saved_low += share.low / share.value * saved.low * (saved.low > 0 ? waiting.low : waiting.high) / all;
        saved_high += saved.high * fmin(share.high / share.value * waiting.high, whole) / all;
        bool jumps = of.way == GAIN_JUMPING;
        gain->loops[gain->loop_count++] = (struct lwp_gain_loop){loop->region, of.before[jumps], of.after[jumps]};
        gain->before += of.weight * of.before[jumps];
        gain->after += of.weight * of.after[jumps];
        weights += of.weight;
    }
    gain->before = weights > 0 ? gain->before / weights : 0;
    gain->after = weights > 0 ? gain->after / weights : 0;
    struct lwp_gain_range speedup = lwp_gain_speedup(saved_low, saved_high);
    gain->low = speedup.low;
    gain->high = fmax(speedup.low, speedup.high);
}
