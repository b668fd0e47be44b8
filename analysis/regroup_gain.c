/* What joining arrays saves: cache lines per index before and after, and the speed-up that makes plausible.
 *
 * How a loop goes through the indices is read from the steps between two executions of one instruction: to the next
 * element (or a few on), a fixed stride on, or anywhere. Going from each element to the next, every line is used up
 * whether the arrays are joined or not: joining saves nothing, and a loop that uses some of the arrays only now fetches
 * all. It only takes fewer streams: beyond a dozen or so the processor's prefetchers lose track. Jumping or with a
 * large stride each array costs a line at each index, and the joined element costs one or two in all.
 *
 * From lines to time as for splits (gain.c). Limits: a column walk whose lines stay in the cache until the next column
 * counts as if they did not; conflicts of arrays a power of two apart are not counted; loops that lose their vector
 * instructions when arrays are joined are feared, not measured. */
#include "analysis/regroup.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS_NEEDED = 4, STEPS_MAX = 4096, STREAMS_FOLLOWED = 12, IN_ORDER_STEP = 64 };

static const uint64_t usual_line = 64, usual_l3 = 16 << 20;

enum gain_way { GAIN_UNKNOWN, GAIN_IN_ORDER, GAIN_STRIDED, GAIN_JUMPING };

uint64_t lwp_regroup_pack(const struct lwp_regroup_candidates *candidates, const size_t *members, size_t count,
                          uint64_t *offsets)
{
    uint64_t size = 0, alignment = 1;
    for (size_t i = 0; i < count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[members[i]];
        uint64_t align = array->alignment ? array->alignment : 1;
        size = (size + align - 1) / align * align;
        offsets[i] = size;
        size += array->element_bytes;
        if (align > alignment)
            alignment = align;
    }
    return (size + alignment - 1) / alignment * alignment;
}

static uint64_t gain_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
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
            uint64_t stride = gain_gcd(steps[i], steps[j]);
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
        const struct lwp_walk *walk = lwp_walks_of(&candidates->walks, other->object, loop->region);
        size_t small = 0;
        for (uint32_t k = 0; walk && k < walk->step_count; k++)
            small += (uint64_t)llabs(walk->steps[k]) / other->element_bytes <= IN_ORDER_STEP;
        if (!walk || walk->step_count < STEPS_NEEDED || small * 4 < walk->step_count * 3)
            continue;
        for (size_t i = 0; i < regroup->count; i++) {
            const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
            const struct lwp_walk_pair *pair =
                array == other ? NULL : lwp_walks_pair(&candidates->walks, array->object, other->object, loop->region);
            for (int close = 0; pair && close < 2; close++) {
                double mine[LWP_WALK_MEETINGS], its[LWP_WALK_MEETINGS];
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
    double ahead[LWP_WALK_MEETINGS];
    const struct lwp_walk_pair *pair = lwp_walks_pair(&candidates->walks, a->object, b->object, loop->region);
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
    size_t count = 0, vectors = 0, used = 0;
    *stride = 1;
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
        const struct lwp_walk *walk = lwp_walks_of(&candidates->walks, array->object, loop->region);
        if (!walk || !loop->uses[regroup->members[i]])
            continue;
        used++;
        vectors += loop->vector[regroup->members[i]];
        smallest = array->element_bytes < smallest ? array->element_bytes : smallest;
        for (uint32_t k = 0; k < walk->step_count && count < STEPS_MAX; k++) {
            uint64_t step = (uint64_t)llabs(walk->steps[k]) / array->element_bytes;
            if (step)
                steps[count++] = step;
        }
    }
    bool pure = count >= STEPS_NEEDED;
    for (size_t i = 0; i < regroup->count && !pure; i++)
        for (size_t k = 0; k < i; k++)
            count += gain_steps(candidates, loop, &candidates->arrays[regroup->members[i]],
                                &candidates->arrays[regroup->members[k]], steps + count, STEPS_MAX - count);
    if (vectors * 2 > used) /* of consecutive elements */
        return GAIN_IN_ORDER;
    if (count < STEPS_NEEDED)
        return gain_way_by_company(candidates, regroup, loop);
    uint64_t common = gain_stride(steps, count);
    qsort(steps, count, sizeof *steps, gain_compare);
    if (common * smallest > line && (pure || steps[count - 1] >= steps[0] + 2 * common)) {
        *stride = common;
        return GAIN_STRIDED;
    }
    if (steps[count / 2] <= IN_ORDER_STEP)
        return GAIN_IN_ORDER;
    return gain_scattered(steps, count) ? GAIN_JUMPING : gain_way_by_company(candidates, regroup, loop);
}

/* Lines per index, with the arrays by themselves and joined. */
static void gain_lines(const struct lwp_regroup_candidates *candidates, const struct lwp_regroup *regroup,
                       const struct lwp_regroup_loop *loop, uint64_t line, uint64_t stride, bool jumping,
                       double *before, double *after)
{
    uint64_t offsets[LWP_REGROUP_ARRAYS_MAX], none[LWP_REGROUP_ARRAYS_MAX] = {0}, bytes[LWP_REGROUP_ARRAYS_MAX];
    uint64_t spacing[LWP_REGROUP_ARRAYS_MAX], alignment[LWP_REGROUP_ARRAYS_MAX];
    int apart[LWP_REGROUP_ARRAYS_MAX];
    bool uses[LWP_REGROUP_ARRAYS_MAX];
    uint64_t size = lwp_regroup_pack(candidates, regroup->members, regroup->count, offsets) * stride;
    for (size_t i = 0; i < regroup->count; i++) {
        bytes[i] = candidates->arrays[regroup->members[i]].element_bytes;
        spacing[i] = bytes[i] * stride;
        alignment[i] = candidates->arrays[regroup->members[i]].alignment;
        apart[i] = (int)i;
        uses[i] = loop->uses[regroup->members[i]];
    }
    *before = lwp_gain_lines(&(struct lwp_gain_placement){.field_count = regroup->count,
                                                          .offsets = none,
                                                          .bytes = bytes,
                                                          .group = apart,
                                                          .groups = regroup->count,
                                                          .spacing = spacing,
                                                          .alignment = alignment},
                             uses, line, jumping);
    bool all = true;
    double used = 0;
    for (size_t i = 0; i < regroup->count; i++) {
        all &= uses[i];
        used += uses[i] ? (double)bytes[i] : 0;
    }
    if (!jumping && stride == 1) /* each line is fetched once for all elements on it */
        *before = used / (double)line;
    uint64_t start = 16; /* what malloc gives */
    *after = lwp_gain_lines(&(struct lwp_gain_placement){.field_count = regroup->count,
                                                         .offsets = offsets,
                                                         .bytes = bytes,
                                                         .groups = 1,
                                                         .spacing = &size,
                                                         .alignment = &start},
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

void lwp_regroup_gain(struct lwp_profile *profile, const struct lwp_regroup_candidates *candidates,
                      struct lwp_regroup *regroup)
{
    uint64_t line = profile->machine.line_bytes ? profile->machine.line_bytes : usual_line, footprint = 0;
    uint64_t l3 = profile->machine.l3_bytes ? profile->machine.l3_bytes : usual_l3;
    uint64_t offsets[LWP_REGROUP_ARRAYS_MAX];
    struct lwp_gain *gain = &regroup->gain;
    struct lwp_share share = lwp_share_of(&regroup->weight, &profile->total);
    double saved_low = 0, saved_high = 0, weights = 0;
    *gain = (struct lwp_gain){.low = 1, .high = 1};
    gain->loops = lwp_arena_alloc(profile->arena, candidates->loop_count + 1, sizeof *gain->loops);
    regroup->bytes = lwp_regroup_pack(candidates, regroup->members, regroup->count, offsets);
    if (share.value <= 0)
        return;
    for (size_t i = 0; i < regroup->count; i++)
        footprint += profile->objects[candidates->arrays[regroup->members[i]].object].largest;
    double arrives = footprint > l3 ? 0.6 : 0.3;
    for (size_t l = 0; l < candidates->loop_count; l++) {
        const struct lwp_regroup_loop *loop = &candidates->loops[l];
        const struct lwp_region *region = &profile->regions[loop->region];
        uint64_t stride;
        double weight = 0, before[2], after[2];
        size_t used = 0, vectors = 0;
        for (size_t i = 0; i < regroup->count; i++) {
            size_t c = regroup->members[i];
            weight += loop->uses[c] ? loop->of[c].weight : 0;
            used += loop->uses[c];
            vectors += loop->uses[c] && loop->vector[c];
        }
        if (used == 0 || weight <= 0)
            continue;
        enum gain_way way = gain_way(candidates, regroup, loop, line, &stride);
        for (int jumping = 0; jumping < 2; jumping++)
            gain_lines(candidates, regroup, loop, line, stride, jumping, &before[jumping], &after[jumping]);
        double low[2], high[2];
        for (int jumping = 0; jumping < 2; jumping++) {
            low[jumping] = high[jumping] = 1 - after[jumping] / before[jumping];
            /* Lines of one index are fetched at the same time: one wait for all, until they are too many. */
            double waits = jumping ? fmin(0.6, 0.02 * fmax(0, before[1] - 2)) * arrives / 0.6 : arrives;
            low[jumping] *= low[jumping] > 0 ? waits : 1;
        }
        if (way == GAIN_STRIDED) /* a column of joined elements may stay in the cache where those of all did not */
            high[0] = 1 - 0.65 * (1 - high[0]);
        if (way == GAIN_IN_ORDER || way == GAIN_UNKNOWN) {
            size_t streams = gain_streams(candidates, loop);
            bool many = streams > STREAMS_FOLLOWED && used * 2 > streams;
            low[0] += many ? fmin(0.1, 0.005 * (double)(streams - STREAMS_FOLLOWED)) : 0;
            high[0] += streams > 4 && used > 2 ? fmin(0.4, 0.02 * (double)(streams - 4)) : 0;
            if (vectors && !many)
                low[0] = fmin(low[0], 0) - 0.1;
        }
        bool jumps = way == GAIN_JUMPING;
        double least = way == GAIN_UNKNOWN ? fmin(low[0], low[1]) : low[jumps];
        double most = way == GAIN_UNKNOWN ? fmax(high[0], high[1]) : high[jumps];
        double between = 0, waiting = 0;
        if (region->stalled > 0 && region->weight.weight > region->stalled) {
            between = (region->weight.weight - region->stalled) * fmin(1, weight / region->stalled);
            waiting = region->stalled / region->weight.weight;
        }
        saved_low += share.low / share.value / profile->total.weight * (weight + between * waiting) * least;
        saved_high +=
            (share.high / share.value * weight + between * fmin(1, 2 * waiting)) / profile->total.weight * most;
        gain->loops[gain->loop_count++] = (struct lwp_gain_loop){loop->region, before[jumps], after[jumps]};
        gain->before += weight * before[jumps];
        gain->after += weight * after[jumps];
        weights += weight;
    }
    gain->before = weights > 0 ? gain->before / weights : 0;
    gain->after = weights > 0 ? gain->after / weights : 0;
    gain->low = 1 / (1 - fmin(saved_low, 0.98));
    gain->high = 1 / (1 - fmin(saved_high, 0.98));
}
