/* What moving arrays apart does to a loop: its streams are run on this machine as they lie, and as they come to lie.
 *
 * Streams of one part go on by one step, so one pointer leads to all of them, and it does not matter in which direction. They lie as far
 * apart as they do in the program: not only the bits of an address that choose the set decide on what a conflict costs (caches that
 * predict the way look at a hash of those above them). Where that is not known, or too far, blocks follow each other, each as far past a
 * multiple of the cache's way as in the program. Limits: what no sample saw of the loop is left out; the levels behind the first are
 * met at other physical addresses. */
#include "analysis/advice/layout/conflicts_internal.h"

#include "analysis/advice/gain/loop_pattern.h"
#include "analysis/advice/gain/measured.h"
#include "analysis/advice/gain/pace.h"
#include "analysis/advice/gain/timed.h"
#include "analysis/statistics/stride.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t far_bytes = 1 << 29; /* apart: farther than an instruction's displacement can say with room for an array */
static const uint64_t page = 4096, chunk_head = 16, map_least = 128 << 10; /* glibc's malloc */

/* The program's stream behind one of the loop's; NULL: not known. */
static const struct lwp_stream *measured_stream(const struct lwp_profile *profile, const struct lwp_conflict_loop *loop, size_t i)
{
    for (size_t k = 0; k < profile->stream_count; k++) {
        const struct lwp_stream *stream = &profile->streams[k];
        if (stream->address == loop->streams[i].code && stream->object == loop->streams[i].object && stream->region == loop->region)
            return stream;
    }
    return NULL;
}

/* Of the loop's parts, which it walks over at different times, the one with most stalls. */
static uint32_t measured_part(const struct lwp_conflict_loop *loop)
{
    double weights[LWP_CONFLICT_STREAMS_MAX] = {0};
    uint32_t most = 0;
    for (size_t i = 0; i < loop->count; i++)
        weights[loop->streams[i].part] += loop->streams[i].weight;
    for (uint32_t part = 1; part < LWP_CONFLICT_STREAMS_MAX; part++)
        most = weights[part] > weights[most] ? part : most;
    return most;
}

static bool measured_same_block(const struct lwp_conflict_stream *a, const struct lwp_conflict_stream *b)
{
    return a->object == b->object && a->start == b->start && a->part == b->part;
}

/* Where a stream begins. `moved`: bytes for each stream, NULL: as they lie. */
static int64_t measured_at(const struct lwp_conflict_loop *loop, const int64_t *moved, size_t stream)
{
    return loop->streams[stream].at + (moved ? moved[stream] : 0);
}

/* A place in a page as that of the part's first stream in the program, before all of them; false: only their places in a way are known, or
 * some lie too far away. */
static bool measured_as_they_lie(const struct lwp_conflict_loop *loop, uint32_t part, const int64_t *moved, int64_t *first)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    *first = INT64_MAX;
    for (size_t i = 0; i < loop->count; i++)
        if (loop->streams[i].part == part) {
            LWP_LOWER(*first, loop->streams[i].at);
            LWP_LOWER(low, measured_at(loop, moved, i));
            LWP_RAISE(high, measured_at(loop, moved, i));
        }
    if (low < *first)
        *first -= (int64_t)lwp_round_up((uint64_t)(*first - low), page);
    return loop->absolute && high - *first < far_bytes;
}

/* Pages that malloc maps in addition for a block of its own when it becomes longer by so many bytes. */
static uint64_t measured_grows(const struct lwp_object *object, uint64_t start, int64_t by)
{
    const bool mapped = object->kind == LWP_OBJECT_HEAP && start % page == chunk_head && object->largest >= map_least;
    const uint64_t bytes = object->largest + chunk_head;
    return mapped && by > 0 ? (lwp_round_up(bytes + (uint64_t)by, page) - lwp_round_up(bytes, page)) / page : 0;
}

void lwp_conflict_grown(const struct lwp_profile *profile, const struct lwp_conflict_loop *loop, const int64_t *moved, int64_t *placed)
{
    for (size_t i = 0; i < loop->count; i++) {
        uint64_t pages = 0;
        for (size_t k = 0; k < loop->count && loop->absolute; k++) {
            const struct lwp_conflict_stream *block = &loop->streams[k];
            const bool again = k > 0 && block[-1].object == block->object && block[-1].start == block->start;
            if (!again && block->start >= loop->streams[i].start)
                pages += measured_grows(&profile->objects[block->object], block->start, moved[k]);
        }
        placed[i] = moved[i] - (int64_t)(pages * page);
    }
}

struct measured_block {
    size_t first, end; /* streams */
    int64_t low, high; /* where the first and the last of them begin */
};

/* Streams are sorted by block. */
static struct measured_block measured_block(const struct lwp_conflict_loop *loop, const int64_t *moved, size_t first)
{
    struct measured_block block = {first, first, INT64_MAX, INT64_MIN};
    for (; block.end < loop->count && measured_same_block(&loop->streams[first], &loop->streams[block.end]); block.end++) {
        const int64_t at = measured_at(loop, moved, block.end);
        LWP_LOWER(block.low, at);
        LWP_RAISE(block.high, at);
    }
    return block;
}

/* False: it is not known what the streams do, or there are too many. */
static bool measured_pattern(const struct lwp_profile *profile, const struct lwp_conflict_loop *loop, const struct lwp_loop_shape *shape,
                             const int64_t *moved, uint64_t elements, struct lwp_pattern *pattern)
{
    const uint32_t part = measured_part(loop);
    int64_t first;
    const bool as_they_lie = measured_as_they_lie(loop, part, moved, &first);
    struct lwp_pattern_array *array = &pattern->arrays[0];
    memset(pattern, 0, sizeof *pattern); /* padding too: patterns are compared as bytes */
    *array = (struct lwp_pattern_array){.walk = LWP_PATTERN_STEPS};
    pattern->array_count = 1;
    pattern->elements = elements;
    lwp_gain_computes(&shape->work, 1, pattern);
    pattern->threads = 1;
    struct measured_block block;
    for (size_t i = 0; i < loop->count; i = block.end) {
        block = measured_block(loop, moved, i);
        if (loop->streams[i].part != part)
            continue;
        array->spacing = (uint64_t)llabs(loop->streams[i].step);
        const uint64_t base =
            as_they_lie ? (uint64_t)(block.low - first) : lwp_round_up(array->extent, loop->way) + lwp_stride_residue(block.low, loop->way);
        for (size_t k = i; k < block.end; k++) {
            const struct lwp_stream *stream = measured_stream(profile, loop, k);
            const uint64_t offset = base + (uint64_t)(measured_at(loop, moved, k) - block.low);
            if (!stream || pattern->access_count == LWP_PATTERN_ACCESSES || offset > INT32_MAX / 2)
                return false;
            pattern->accesses[pattern->access_count++] =
                (struct lwp_pattern_access){.offset = offset,
                                            .bytes = stream->bytes,
                                            .store = stream->stores > stream->loads,
                                            .by_index = lwp_code_operand(profile->code, stream->module, stream->address).index >= 0,
                                            .vector = stream->vector};
        }
        const uint64_t ends = base + (uint64_t)(block.high - block.low) + elements * array->spacing + loop->line;
        LWP_RAISE(array->extent, ends);
    }
    return pattern->access_count > 0;
}

/* Iterations until the shortest block ends. */
static uint64_t measured_elements(const struct lwp_profile *profile, const struct lwp_conflict_loop *loop)
{
    double least = INFINITY;
    for (size_t i = 0; i < loop->count; i++)
        least = fmin(least, (double)profile->objects[loop->streams[i].object].largest / (double)llabs(loop->streams[i].step));
    return isfinite(least) ? lwp_pattern_whole((uint64_t)least) : 0;
}

static double measured_pace(const struct lwp_profile *profile, const struct lwp_conflict_loop *loop)
{
    double pace = 0;
    for (size_t i = 0; i < loop->count && pace <= 0; i++) {
        const struct lwp_conflict_stream *stream = &loop->streams[i];
        const struct lwp_traversal *traversal = lwp_traversals_of(&profile->traversals, stream->object, loop->region);
        if (traversal)
            pace = lwp_pace_of(traversal, (double)llabs(stream->step), (double)profile->objects[stream->object].largest);
    }
    return pace;
}

bool lwp_conflict_measure(struct lwp_profile *profile, const struct lwp_conflict_loop *loop, const struct lwp_loop_shape *shape,
                          const int64_t *moved, struct lwp_gain_measured *measured)
{
    struct lwp_pattern before, after;
    struct lwp_pattern_times times;
    int64_t placed[LWP_CONFLICT_STREAMS_MAX];
    lwp_conflict_grown(profile, loop, moved, placed);
    const uint64_t elements = measured_elements(profile, loop);
    *measured = (struct lwp_gain_measured){.ratio = 1, .low = 1, .high = 1};
    if (!shape->work.instructions || elements < LWP_PATTERN_UNROLLED || !measured_pattern(profile, loop, shape, NULL, elements, &before) ||
        !measured_pattern(profile, loop, shape, placed, elements, &after) ||
        !lwp_gain_times(profile, loop->region, &before, &after, &times))
        return false;
    const struct lwp_gain_range stalls = lwp_gain_stall_share(profile, loop->region, shape);
    bool same;
    measured->pace = measured_pace(profile, loop);
    measured->pattern = times.before;
    measured->core = times.core;
    lwp_gain_interval(&times, &stalls, measured->pace, measured);
    measured->between = lwp_gain_resembles(&times, &stalls, measured->pace, &same);
    measured->reproduced = measured->between && same;
    return measured->between;
}
