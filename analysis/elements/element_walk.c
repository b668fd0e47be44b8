
#include "analysis/elements/element_evidence.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/streams.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NESTED_MAX = 1024 };

static const double keeps_to = 0.8, left_out_chance = 1e-9;

/* lgamma() tells its sign to all threads. */
static double walk_lgamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* P(at most `hits` of `count` fall into a share of the places). */
static double walk_few(double count, double hits, double share)
{
    double sum = 0;
    for (double k = 0; k <= hits; k++)
        sum += exp(walk_lgamma(count + 1) - walk_lgamma(k + 1) - walk_lgamma(count - k + 1) + k * log(share) + (count - k) * log1p(-share));
    return sum;
}

/* How likely it is by chance that offsets which step by `stride` leave that much of a larger one out: 1 when they leave
 * nothing out, which mostly shows long before the last of them. in[]: the parts of it, at most BINS, that they do not
 * leave out. */
enum { BINS = 8 };

static double walk_left_out(const uint64_t *offsets, size_t count, uint64_t stride, uint64_t larger, bool *in)
{
    uint64_t classes = larger / stride, bins = classes < BINS ? classes : BINS;
    uint64_t found[BINS] = {0}, enough = count / 50 + 1, full = 0, empty = 0, left_classes = 0, strays = 0;
    double choices = 1;
    for (size_t k = 0; k < count && full < bins; k++)
        full += ++found[offsets[k] % larger * bins / larger] == enough;
    for (uint64_t i = 0; i < bins; i++) {
        in[i] = found[i] >= enough;
        if (in[i])
            continue;
        empty++;
        strays += found[i];
        choices *= (double)(bins - empty + 1) / (double)empty;
        left_classes += ((i + 1) * classes + bins - 1) / bins - (i * classes + bins - 1) / bins;
    }
    if (empty == 0 || empty == bins)
        return 1;
    return choices * walk_few((double)count, (double)strays, (double)left_classes / (double)classes);
}

/* The offsets of the streams that step by `stride`; the caller's to free. */
static uint64_t *walk_stepping(const struct lwp_element_streams *streams, uint64_t stride, size_t *count)
{
    uint64_t *offsets = calloc(streams->count + 1, LWP_RESERVOIR * sizeof *offsets);
    *count = 0;
    for (size_t i = 0; i < streams->count && offsets; i++)
        if (streams->items[i].stream->stride.bytes == stride)
            *count += lwp_streams_offsets(streams->items[i].stream, offsets + *count, LWP_RESERVOIR);
    return offsets;
}

uint64_t lwp_element_walk_around(const struct lwp_element_streams *streams, uint64_t stride, bool *open)
{
    enum { NEEDED = 24, PARTS = 64 };
    bool in[BINS];
    uint64_t around = 0;
    size_t count;
    uint64_t *offsets = walk_stepping(streams, stride, &count);
    *open = false;
    for (size_t i = 0; i < streams->count && count >= NEEDED; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        uint64_t larger = stream->stride.bytes, bins = larger / stride < BINS ? larger / stride : BINS, residue;
        if (larger <= stride || larger % stride || stream->stride.probability < LWP_ELEMENT_SURE ||
            (double)stream->accesses < LWP_ELEMENT_PART_COUNTS * streams->accesses ||
            walk_left_out(offsets, count, stride, larger, in) >= left_out_chance)
            continue;
        *open = true;
        bool apart = lwp_element_residue(stream, larger, &residue) >= keeps_to && !in[residue * bins / larger];
        if (larger <= NESTED_MAX && apart && (around == 0 || larger < around))
            around = larger;
    }
    for (uint64_t parts = 2; parts <= PARTS && count >= NEEDED && !*open; parts++)
        *open = walk_left_out(offsets, count, stride, stride * parts, in) < left_out_chance;
    free(offsets);
    return around;
}

/* How many samples at least the fair offsets are of. One leaves up to three accesses that follow each other, of one
 * instruction in a short loop: where there are few samples, they say no more of where the loop goes than one. */
static size_t walk_samples(const struct lwp_offsets *kept, uint64_t stride)
{
    enum { OF_A_SAMPLE = 3 };
    uint64_t offsets[LWP_RESERVOIR];
    size_t samples = 0, of_sample = 0;
    memcpy(offsets, kept->items, kept->fair * sizeof *offsets);
    qsort(offsets, kept->fair, sizeof *offsets, lwp_compare_u64);
    for (size_t i = 0; i < kept->fair; i++) {
        bool follows = of_sample > 0 && of_sample < OF_A_SAMPLE && offsets[i] == offsets[i - 1] + stride;
        of_sample = follows ? of_sample + 1 : 1;
        samples += !follows;
    }
    return samples;
}

double lwp_element_walk_none(const struct lwp_element_streams *streams, uint64_t stride)
{
    enum { NEEDED = 8, PARTS = 64, PERIODS = 4 };
    static const double expected = 3e-5; /* before anything is seen */
    static const double weights = 0.645; /* 1 / 2^2 + 1 / 3^2 + ... */
    double least = 1, walks = 0;
    bool in[BINS];
    for (size_t i = 0; i < streams->count; i++) {
        const struct lwp_element_stream *item = &streams->items[i];
        const struct lwp_offsets *kept = &item->stream->offsets;
        if (item->stream->stride.bytes != stride || walk_samples(kept, stride) < NEEDED)
            continue;
        walks++;
        for (uint64_t parts = 2; parts <= PARTS && item->high - item->low >= PERIODS * parts * stride; parts++)
            least = fmin(least, weights * (double)(parts * parts) * walk_left_out(kept->items, kept->fair, stride, parts * stride, in));
    }
    return least * walks < 1 && walks > 0 ? least * walks / (least * walks + expected) : 1;
}

uint64_t lwp_element_walk_past(const struct lwp_profile *profile, const struct lwp_stream *stream, uint64_t bytes)
{
    struct lwp_loop_shape shape;
    if (!profile->code || stream->module == LWP_NONE || !lwp_loop_shape(profile->code, stream->module, stream->address, &shape) ||
        !shape.steps)
        return 0;
    const uint64_t step = (uint64_t)llabs(shape.step), touched = shape.accesses * (stream->bytes > bytes ? stream->bytes : bytes);
    return step > touched ? step : 0;
}

bool lwp_element_walk_passes(const struct lwp_profile *profile, uint32_t index, uint64_t bytes)
{
    double all = 0, passes = 0;
    LWP_STREAMS_OF(profile, index, stream) {
        all += (double)stream->accesses;
        passes += lwp_element_walk_past(profile, stream, bytes) ? (double)stream->accesses : 0;
    }
    return 2 * passes > all;
}
