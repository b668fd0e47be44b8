/* The size of an object's elements by sampled addresses (LWPTool eq. 5, and where it would go wrong).
 *
 * In: the streams of one object with their strides. Out: the stride that nearly all accesses agree with, and whether
 * that is the element's size. It is not when
 * - an unrolled or vectorised loop steps over several elements at once: then what each loop touches repeats within the
 *   stride. The same is seen of a structure with equal parts that are always used together; so this stays open unless
 *   a remainder loop, or the size of the block, decides;
 * - loops inside of an element traverse an array or a text in it: then they leave parts of a larger stride out;
 * - parts of the block have different strides: several arrays in one block;
 * - different strides have a GCD that nothing steps by.
 * Limits: a program that visits every second element only shows twice the size; nothing in the addresses tells. */

#include "analysis/elements/element_evidence.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS_TRIED = 48, ELEMENT_MAX = 1 << 16, LOOPS_COUNTED = 24 };

static const double agree_needed = 0.85, direct_needed = 0.05, plain_repeat = 0.94, likely = 0.5;

/* ---- the streams of an object ---- */

static int element_by_low(const void *a, const void *b)
{
    const struct lwp_element_stream *x = a, *y = b;
    return LWP_COMPARE(x->low, y->low) ?: LWP_COMPARE(x->stream->address, y->stream->address);
}

/* Those of the program's own code; of more than LWP_ELEMENT_STREAMS the first. */
static void size_streams(const struct lwp_profile *profile, uint32_t object, struct lwp_element_streams *streams)
{
    uint64_t offsets[LWP_RESERVOIR];
    for (uint32_t i = profile->object_streams[object]; i != LWP_NONE && streams->count < LWP_ELEMENT_STREAMS;
         i = profile->streams[i].next_of_object) {
        const struct lwp_stream *stream = &profile->streams[i];
        size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR), trim = count / 25;
        if (count == 0 || lwp_element_copies(profile, stream))
            continue;
        qsort(offsets, count, sizeof *offsets, lwp_compare_u64);
        streams->items[streams->count++] = (struct lwp_element_stream){stream, offsets[trim], offsets[count - 1 - trim]};
        streams->accesses += (double)stream->accesses;
    }
    qsort(streams->items, streams->count, sizeof *streams->items, element_by_low);
}

/* ---- their stride ---- */

/* The largest stride that nearly all accesses agree with and that some of them really have. */
static uint64_t size_common(const struct lwp_element_streams *streams)
{
    const struct lwp_stream *items[LWP_ELEMENT_STREAMS];
    size_t count = 0, pairs;
    uint64_t best = 0;
    double all = 0, direct = 0;
    for (size_t i = 0; i < streams->count; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        if (stream->stride.bytes == 0 || stream->stride.probability < LWP_ELEMENT_SURE)
            continue;
        items[count++] = stream;
        all += (double)stream->accesses;
    }
    pairs = count < PAIRS_TRIED ? count : PAIRS_TRIED;
    for (size_t i = 0; i < pairs; i++)
        for (size_t j = i; j < pairs; j++) {
            uint64_t candidate = lwp_stride_gcd(items[i]->stride.bytes, items[j]->stride.bytes);
            double agree = 0;
            for (size_t k = 0; k < count && candidate > best; k++)
                if (items[k]->stride.bytes % candidate == 0)
                    agree += (double)items[k]->accesses;
            if (candidate > best && agree >= agree_needed * all)
                best = candidate;
        }
    for (size_t i = 0; i < count; i++)
        if (items[i]->stride.bytes == best)
            direct += (double)items[i]->accesses;
    return best && direct >= direct_needed * all ? best : 0;
}

/* Two streams that do not overlap and have different strides traverse different arrays, whatever fills or copies the whole block. */
static bool size_several(const struct lwp_profile *profile, uint32_t object, const struct lwp_element_streams *streams)
{
    uint64_t end[LWP_ELEMENT_STREAMS], stride[LWP_ELEMENT_STREAMS];
    size_t count = 0;
    if (profile->objects[object].pool_size)
        return false;
    for (size_t i = 0; i < streams->count; i++) { /* by their lowest offset */
        const struct lwp_element_stream *item = &streams->items[i];
        const struct lwp_stride *own = &item->stream->stride;
        if ((double)item->stream->accesses < LWP_ELEMENT_PART_COUNTS * streams->accesses || own->probability < LWP_ELEMENT_SURE)
            continue;
        for (size_t k = 0; k < count; k++)
            if (end[k] < item->low && stride[k] != own->bytes)
                return true;
        end[count] = item->high;
        stride[count++] = own->bytes;
    }
    return false;
}

/* The stride is met again and again, in each loop independently; in one loop the samples of several accesses are of the
 * same moments. So the errors of different loops multiply (eq. 4 for all their samples together). */
static double size_probability(const struct lwp_element_streams *streams, uint64_t stride)
{
    uint32_t regions[LOOPS_COUNTED];
    double best[LOOPS_COUNTED], wrong = 1;
    size_t count = 0;
    for (size_t i = 0; i < streams->count; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        size_t at = 0;
        if (stream->stride.bytes != stride)
            continue;
        while (at < count && regions[at] != stream->region)
            at++;
        if (at == LOOPS_COUNTED)
            continue;
        if (at == count) {
            regions[count] = stream->region;
            best[count++] = 0;
        }
        LWP_RAISE(best[at], stream->stride.probability);
    }
    for (size_t i = 0; i < count; i++)
        wrong *= 1 - best[i];
    return 1 - wrong;
}

/* A block of one element's size after the other ends with a whole one. Of a block that does not hold whole strides the
 * part that it does hold is the size. */
static bool size_block_says(const struct lwp_object *object, uint64_t stride, uint64_t size)
{
    return object->kind == LWP_OBJECT_HEAP && object->allocations == 1 && object->bytes == object->largest && object->bytes % stride != 0 &&
           object->bytes % size == 0;
}

static const char *size_function(const struct lwp_profile *profile, uint32_t region)
{
    return region < profile->region_count ? profile->regions[region].function : NULL;
}

/* A remainder loop: takes one by one what an unrolled loop of the same function left. */
static bool size_remainder_says(const struct lwp_profile *profile, const struct lwp_element_streams *streams, uint64_t stride,
                                uint64_t size)
{
    for (size_t i = 0; i < streams->count; i++) {
        const struct lwp_stream *rest = streams->items[i].stream;
        const char *function = size_function(profile, rest->region);
        if (rest->stride.bytes != size || rest->stride.probability < LWP_ELEMENT_SURE || !function)
            continue;
        for (size_t k = 0; k < streams->count; k++) {
            const struct lwp_stream *stream = streams->items[k].stream;
            const char *other = size_function(profile, stream->region);
            if (stream->stride.bytes == stride && other && strcmp(function, other) == 0)
                return true;
        }
    }
    return false;
}

/* `walk`: what is stepped by inside of elements, 0: nothing. It is no smaller element that a remainder loop takes. */
static uint64_t size_fold(struct lwp_element_evidence *evidence, const struct lwp_element_streams *streams, uint64_t walk)
{
    const struct lwp_object *object = &evidence->profile->objects[evidence->object];
    bool open = false;
    for (uint64_t parts = LWP_ELEMENT_PARTS; parts > 1; parts--) {
        uint64_t size = evidence->stride / parts;
        if (evidence->stride % parts || !lwp_element_covers_repeat(&evidence->covers, size))
            continue;
        if (size != walk && size_remainder_says(evidence->profile, streams, evidence->stride, size))
            return size;
        open = true;
    }
    for (uint64_t parts = 2; parts <= LWP_ELEMENT_PARTS; parts++) /* the least that explains the block's size */
        if (evidence->stride % parts == 0 && lwp_element_covers_repeat(&evidence->covers, evidence->stride / parts) &&
            size_block_says(object, evidence->stride, evidence->stride / parts))
            return lwp_element_covers_repeat(&evidence->covers, evidence->stride / parts / 2) ? 0 : evidence->stride / parts;
    for (uint64_t parts = LWP_ELEMENT_PARTS; parts > 1; parts--)
        if (evidence->stride % parts == 0 && lwp_element_covers_repeat(&evidence->covers, evidence->stride / parts) &&
            lwp_element_covers_plainly_repeat(&evidence->covers, evidence->stride / parts)) {
            evidence->probability *= plain_repeat;
            return evidence->stride / parts;
        }
    return open ? 0 : evidence->stride;
}

/* A loop that fills or copies a block word by word goes over structures, too: next to it a larger stride, that is not
 * of an unrolled loop over such words, leaves open which of the two is the element. */
static bool size_word_by_word(const struct lwp_element_evidence *evidence, const struct lwp_element_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        if (streams->items[i].stream->stride.bytes == evidence->stride && streams->items[i].stream->bytes < evidence->stride)
            return false;
    for (size_t i = 0; i < streams->count; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        uint64_t larger = stream->stride.bytes;
        if (larger <= evidence->stride || larger % evidence->stride || larger > ELEMENT_MAX ||
            stream->stride.probability < LWP_ELEMENT_SURE || (double)stream->accesses < direct_needed * streams->accesses)
            continue;
        struct lwp_element_covers covers;
        lwp_element_covers_find(evidence->profile, streams, larger, &covers);
        bool unrolled = lwp_element_covers_repeat(&covers, evidence->stride);
        lwp_element_covers_free(&covers);
        if (!unrolled)
            return true;
    }
    return false;
}

void lwp_element_evidence_find(struct lwp_profile *profile, uint32_t object, struct lwp_element_evidence *evidence)
{
    struct lwp_element_streams *streams = calloc(1, sizeof *streams);
    uint64_t bytewise = 0, all = 0;
    bool open;
    *evidence = (struct lwp_element_evidence){.profile = profile, .object = object};
    if (!streams)
        return;
    size_streams(profile, object, streams);
    for (size_t i = 0; i < streams->count; i++) {
        all += streams->items[i].stream->accesses;
        bytewise += streams->items[i].stream->bytes == 1 ? streams->items[i].stream->accesses : 0;
    }
    evidence->bytewise = (all - bytewise) * 50 <= all;
    evidence->several = size_several(profile, object, streams);
    evidence->stride = evidence->several ? 0 : size_common(streams);
    if (evidence->stride && evidence->stride <= ELEMENT_MAX) {
        uint64_t step = evidence->stride, around = lwp_element_walk_around(streams, step, &open);
        if (around)
            evidence->stride = around;
        evidence->probability = size_probability(streams, evidence->stride);
        lwp_element_covers_find(profile, streams, evidence->stride, &evidence->covers);
        open = (open && !around) || size_word_by_word(evidence, streams);
        evidence->bytes = open ? 0 : size_fold(evidence, streams, around ? step : 0);
        evidence->probability *= around ? 1 : lwp_element_walk_none(streams, evidence->stride);
        if (evidence->probability < likely)
            evidence->bytes = 0;
    } else if (evidence->stride) {
        evidence->covers.stride = evidence->stride;
        evidence->probability = size_probability(streams, evidence->stride);
    }
    free(streams);
}

bool lwp_element_evidence_allows(const struct lwp_element_evidence *evidence, uint64_t bytes)
{
    if (bytes == 1)
        return evidence->bytewise && evidence->stride <= 1;
    if (evidence->stride == 0 || bytes == evidence->stride || bytes % evidence->stride == 0)
        return true;
    return lwp_element_covers_repeat(&evidence->covers, bytes);
}
