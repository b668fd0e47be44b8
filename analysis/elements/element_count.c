/* How many elements does an object have? */
#include "analysis/elements/element_count.h"

#include "analysis/elements/element_evidence.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/streams.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

/* Of an array whose elements are all used alike: less likely than this is not believed; and the last quarter of what is used has a quarter of
 * the samples, half of that at least. (Of the upper half of a matrix fewer and fewer elements are used.) */
static const double unlikely = 1e-3, last = 0.25, last_least = 0.125;

static uint64_t count_furthest(const struct lwp_profile *profile, uint32_t index, const struct lwp_stream **most)
{
    uint64_t offsets[LWP_RESERVOIR], furthest = 0;
    *most = NULL;
    LWP_STREAMS_OF(profile, index, stream) {
        const size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR);
        for (size_t i = 0; i < count; i++)
            LWP_RAISE(furthest, offsets[i]);
        if (count && (!*most || stream->accesses > (*most)->accesses))
            *most = stream;
    }
    return furthest;
}

/* Of memory that nobody was seen allocating, as a heap that is looked at from outside, it is known that it is there: what is used of it is
 * about as much as the stream with most accesses goes over. Of n even draws the outermost two are (n - 1) / (n + 1) of it apart. */
static uint64_t count_span(const struct lwp_stream *stream)
{
    enum { FEW = 20, STRAYS = 50 };
    uint64_t offsets[LWP_RESERVOIR];
    const size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR), strays = count / STRAYS;
    if (count < FEW)
        return 0;
    qsort(offsets, count, sizeof *offsets, lwp_compare_u64);
    const double kept = (double)(count - 2 * strays);
    return (uint64_t)((double)(offsets[count - 1 - strays] - offsets[strays]) * ((double)count + 1) / (kept - 1));
}

static void count_reach_outside(struct lwp_object *object, const struct lwp_stream *stream)
{
    const double blocks = (double)object->bytes / (double)object->largest;
    const uint64_t span = stream ? count_span(stream) : 0;
    if (span >= lwp_element_spacing(object) && (double)span < (1 - last) * (double)object->bytes)
        object->element_reach = (uint64_t)((double)span / blocks) + object->element_start;
}

/* By the stream with most accesses: others may be of a time when there were fewer elements. The exact engine's windows are no even draws:
 * loops that take about as long as from one to the next are seen at the same places each time. */
void lwp_element_reach_find(struct lwp_profile *profile, uint32_t index)
{
    struct lwp_object *object = &profile->objects[index];
    const uint64_t start = object->element_start, spacing = lwp_element_spacing(object);
    const struct lwp_stream *stream;
    uint64_t offsets[LWP_RESERVOIR];
    object->element_reach = 0;
    if (profile->instructions_recorded < profile->instructions)
        return;
    if (!object->element_bytes || object->single || object->element_end || object->pool_size || object->bytes < object->largest)
        return;
    const uint64_t furthest = count_furthest(profile, index, &stream);
    if (object->kind == LWP_OBJECT_HEAP && object->context == 0) {
        count_reach_outside(object, stream);
        return;
    }
    if (!stream || furthest < start)
        return;
    const size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR);
    const uint64_t end = start + ((furthest - start) / spacing + 1) * spacing;
    /* The highest of n even draws is n / (n + 1) of the way, in the mean. */
    const double samples = (double)count, reach = (double)end * (1 + 1 / samples);
    size_t beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond += (double)offsets[i] >= (1 - last) * (double)end;
    if (reach < (double)object->largest && pow((double)end / (double)object->largest, samples) < unlikely &&
        (double)beyond >= last_least * samples)
        object->element_reach = (uint64_t)reach;
}

uint64_t lwp_element_used(const struct lwp_object *object)
{
    const double blocks = object->largest ? (double)object->bytes / (double)object->largest : 1;
    return object->element_reach ? (uint64_t)(blocks * (double)object->element_reach) : object->bytes;
}

uint64_t lwp_element_count(const struct lwp_object *object)
{
    uint64_t start = object->element_start, spacing = lwp_element_spacing(object);
    if (!object->element_bytes || object->bytes < start)
        return 0;
    if (object->single)
        return object->bytes / (start + object->element_bytes);
    if (object->type && lwp_element_is_flexible(object->type)) /* one behind the other in an arena, each with a tail of its own */
        return 0;
    if (object->pool_size > start && object->pool_size == object->largest) /* each block has a header, and perhaps a rest */
        return object->bytes / object->pool_size * ((object->pool_size - start) / spacing);
    uint64_t end = object->element_reach ? object->element_reach : object->element_end ? object->element_end : object->largest;
    const bool partly = object->element_reach || object->element_end || (object->bytes > object->largest && start);
    if (!partly || end < start)
        return (object->bytes - start) / spacing;
    /* Each block has a header, those of a growing array have as large a part unused, and tables that grew of control bytes. */
    return (uint64_t)((double)object->bytes / (double)object->largest * (double)(end - start)) / spacing;
}
