/* What sampled addresses say about the size of an object's elements (LWPTool eq. 5, and where it would go wrong).
 *
 * In: the streams of one object with their strides. Out: the stride that nearly all accesses agree with, and whether
 * that is the element's size. It is not when
 * - an unrolled or vectorised loop steps over several elements at once: then what each loop touches repeats within the
 *   stride. The same is seen of a structure with equal parts that are always used together; so this stays open unless
 *   a remainder loop, or the size of the block, decides;
 * - loops inside of an element walk an array or a text in it: then they leave parts of a larger stride out;
 * - parts of the block have different strides: several arrays in one block;
 * - different strides have a GCD that nothing steps by.
 * Limits: a program that visits every second element only shows twice the size; nothing in the addresses tells. */
#include "analysis/element_size.h"

#include "analysis/elements.h"
#include "analysis/objects.h"
#include "analysis/streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STREAMS_JUDGED = 512,
    PAIRS_TRIED = 48,
    ELEMENT_MAX = 1 << 16,
    PARTS_MAX = 512,
    LOOPS_COVERED = 24,
    USES_MAX = 96,
    NESTED_MAX = 1024,
    SCALAR_MAX = 8,
    SURE_ACCESSES = 20
};

static const double sure = 0.95, agree_needed = 0.85, direct_needed = 0.05, part_counts = 0.01, keeps_to = 0.8,
                    plain_repeat = 0.94, left_out_chance = 1e-9, likely = 0.5;

struct size_stream {
    const struct lwp_stream *stream;
    uint64_t low, high; /* of its offsets, without the outermost few: those may be strays */
};

struct size_streams {
    struct size_stream items[STREAMS_JUDGED];
    size_t count;
    double accesses;
};

struct element_use {
    uint64_t residue;
    uint16_t bytes;
};

struct lwp_element_cover {
    uint32_t region;
    uint64_t accesses;
    bool wide;
    struct element_use uses[USES_MAX];
    size_t count;
    uint8_t *touched; /* by byte of the stride */
};

static int size_offset_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int size_by_low(const void *a, const void *b)
{
    const struct size_stream *x = a, *y = b;
    if (x->low != y->low)
        return (x->low > y->low) - (x->low < y->low);
    return (x->stream->address > y->stream->address) - (x->stream->address < y->stream->address);
}

static void size_collect(const struct lwp_profile *profile, uint32_t object, struct size_streams *streams)
{
    uint64_t offsets[2 * LWP_RESERVOIR];
    for (uint32_t i = profile->object_streams[object]; i != LWP_NONE && streams->count < STREAMS_JUDGED;
         i = profile->streams[i].next_of_object) {
        const struct lwp_stream *stream = &profile->streams[i];
        size_t count = lwp_streams_offsets(stream, offsets, 2 * LWP_RESERVOIR), trim = count / 25;
        if (count == 0 || lwp_objects_library_code(profile, stream->module))
            continue;
        qsort(offsets, count, sizeof *offsets, size_offset_compare);
        streams->items[streams->count++] = (struct size_stream){stream, offsets[trim], offsets[count - 1 - trim]};
        streams->accesses += (double)stream->accesses;
    }
}

/* The largest stride that nearly all accesses agree with and that some of them really have. */
static uint64_t size_common(const struct size_streams *streams)
{
    const struct lwp_stream *items[STREAMS_JUDGED];
    size_t count = 0, pairs;
    uint64_t best = 0;
    double all = 0, direct = 0;
    for (size_t i = 0; i < streams->count; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        if (stream->stride.bytes == 0 || stream->stride.probability < sure)
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

/* Two streams that share no place and have different strides walk different arrays, whatever fills or copies the whole
 * block. */
static bool size_several(const struct lwp_profile *profile, uint32_t object, const struct size_streams *streams)
{
    uint64_t end[STREAMS_JUDGED], stride[STREAMS_JUDGED];
    size_t count = 0;
    if (profile->objects[object].pool_size)
        return false;
    for (size_t i = 0; i < streams->count; i++) { /* by their lowest offset */
        const struct size_stream *item = &streams->items[i];
        const struct lwp_stride *own = &item->stream->stride;
        if ((double)item->stream->accesses < part_counts * streams->accesses || own->probability < sure)
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
static double size_probability(const struct size_streams *streams, uint64_t stride)
{
    uint32_t regions[LOOPS_COVERED];
    double best[LOOPS_COVERED], wrong = 1;
    size_t count = 0;
    for (size_t i = 0; i < streams->count; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        size_t at = 0;
        if (stream->stride.bytes != stride)
            continue;
        while (at < count && regions[at] != stream->region)
            at++;
        if (at == LOOPS_COVERED)
            continue;
        if (at == count) {
            regions[count] = stream->region;
            best[count++] = 0;
        }
        if (stream->stride.probability > best[at])
            best[at] = stream->stride.probability;
    }
    for (size_t i = 0; i < count; i++)
        wrong *= 1 - best[i];
    return 1 - wrong;
}

/* ---- several elements in one stride? ---- */

static void cover_add(struct lwp_element_cover *cover, uint64_t stride, uint64_t residue, uint16_t bytes, bool packed)
{
    for (uint64_t at = residue; at < residue + bytes && at < residue + stride; at++)
        cover->touched[at % stride] = 1;
    if (packed || bytes > SCALAR_MAX) {
        cover->wide = true;
        return;
    }
    for (size_t i = 0; i < cover->count; i++)
        if (cover->uses[i].residue == residue && cover->uses[i].bytes == bytes)
            return;
    if (cover->count < USES_MAX)
        cover->uses[cover->count++] = (struct element_use){residue, bytes};
}

static struct lwp_element_cover *cover_of(struct lwp_element_evidence *evidence, uint32_t region)
{
    for (size_t i = 0; i < evidence->cover_count; i++)
        if (evidence->cover[i].region == region)
            return &evidence->cover[i];
    if (evidence->cover_count == LOOPS_COVERED)
        return NULL;
    struct lwp_element_cover *cover = &evidence->cover[evidence->cover_count];
    *cover = (struct lwp_element_cover){.region = region, .touched = calloc(evidence->stride, 1)};
    if (!cover->touched)
        return NULL;
    evidence->cover_count++;
    return cover;
}

/* What the samples saw, and what the loop's code does beside it. */
static void cover_find(struct lwp_element_evidence *evidence, const struct size_streams *streams)
{
    enum { SIBLINGS = 64 };
    struct lwp_sibling siblings[SIBLINGS];
    evidence->cover = calloc(LOOPS_COVERED, sizeof *evidence->cover);
    for (size_t i = 0; i < streams->count && evidence->cover; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        uint64_t residue;
        if (stream->stride.bytes % evidence->stride || stream->bytes == 0 || stream->accesses < 3 ||
            lwp_elements_residue(stream, evidence->stride, &residue) < keeps_to)
            continue;
        struct lwp_element_cover *cover = cover_of(evidence, stream->region);
        if (!cover)
            continue;
        cover->accesses += stream->accesses;
        cover_add(cover, evidence->stride, residue, stream->bytes, lwp_elements_packed(evidence->profile, stream));
        const struct lwp_place *place = stream->module == LWP_NONE
                                            ? NULL
                                            : lwp_code_place(evidence->profile->code, stream->module, stream->address);
        size_t count =
            place ? lwp_code_siblings(evidence->profile->code, stream->module, stream->address, siblings, SIBLINGS) : 0;
        for (size_t k = 0; k < count && k < SIBLINGS; k++) {
            int64_t size = (int64_t)evidence->stride;
            int64_t at = (((int64_t)residue + siblings[k].delta) % size + size) % size;
            if (siblings[k].loop == place->loop && siblings[k].bytes)
                cover_add(cover, evidence->stride, (uint64_t)at, siblings[k].bytes,
                          lwp_code_operand(evidence->profile->code, stream->module, siblings[k].address).packed);
        }
    }
}

/* Whether the loop may be one over elements of `size`, several at a time: what it touches of one it touches of all. */
static bool cover_repeats(const struct lwp_element_cover *cover, uint64_t stride, uint64_t size)
{
    for (size_t i = 0; i < cover->count; i++) {
        uint64_t next = (cover->uses[i].residue + size) % stride;
        bool found = false;
        if (cover->uses[i].bytes > size)
            return false;
        for (size_t j = 0; j < cover->count && !found; j++)
            found = cover->uses[j].residue == next && cover->uses[j].bytes == cover->uses[i].bytes;
        for (uint64_t at = next; cover->wide && !found && cover->touched[at % stride]; at++)
            found = at + 1 == next + cover->uses[i].bytes;
        if (!found)
            return false;
    }
    for (uint64_t first = 0; cover->wide && first < size; first++) {
        bool all = true;
        for (uint64_t at = first; all && at < stride; at += size)
            all = cover->touched[at];
        if (all)
            return true;
    }
    return !cover->wide;
}

static bool size_repeats(const struct lwp_element_evidence *evidence, uint64_t size)
{
    if (size == 0 || evidence->stride % size || evidence->stride / size > PARTS_MAX)
        return false;
    for (size_t i = 0; i < evidence->cover_count; i++)
        if (evidence->cover[i].accesses >= SURE_ACCESSES && !cover_repeats(&evidence->cover[i], evidence->stride, size))
            return false;
    return true;
}

/* A block of one element's size after the other ends with a whole one. Of a block that does not hold whole strides the
 * part that it does hold is the size. */
static bool size_block_says(const struct lwp_object *object, uint64_t stride, uint64_t size)
{
    return object->kind == LWP_OBJECT_HEAP && object->allocations == 1 && object->bytes == object->largest &&
           object->bytes % stride != 0 && object->bytes % size == 0;
}

static const char *size_function(const struct lwp_profile *profile, uint32_t region)
{
    return region < profile->region_count ? profile->regions[region].function : NULL;
}

/* The loop that takes the rest, one by one, of what an unrolled loop of the same function left. */
static bool size_remainder_says(const struct lwp_profile *profile, const struct size_streams *streams, uint64_t stride,
                                uint64_t size)
{
    for (size_t i = 0; i < streams->count; i++) {
        const struct lwp_stream *rest = streams->items[i].stream;
        const char *function = size_function(profile, rest->region);
        if (rest->stride.bytes != size || rest->stride.probability < sure || !function)
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

/* Equal parts nobody would write down as one structure: several fields of different widths over and over, or four and
 * more times the same field with gaps between. */
static bool size_plainly_repeats(const struct lwp_element_evidence *evidence, uint64_t size)
{
    for (size_t i = 0; i < evidence->cover_count; i++) {
        const struct lwp_element_cover *cover = &evidence->cover[i];
        uint64_t touched = 0;
        bool differ = false;
        for (uint64_t at = 0; at < evidence->stride; at++)
            touched += cover->touched[at];
        for (size_t k = 1; k < cover->count; k++)
            differ |= cover->uses[k].bytes != cover->uses[0].bytes;
        if (cover->accesses >= SURE_ACCESSES && !cover->wide &&
            (differ || (evidence->stride / size >= 4 && touched * 2 <= evidence->stride)))
            return true;
    }
    return false;
}

/* `walk`: what is stepped by inside of elements, 0: nothing. It is no smaller element that a remainder loop takes. */
static uint64_t size_fold(struct lwp_element_evidence *evidence, const struct size_streams *streams, uint64_t walk)
{
    const struct lwp_object *object = &evidence->profile->objects[evidence->object];
    bool open = false;
    for (uint64_t parts = PARTS_MAX; parts > 1; parts--) {
        uint64_t size = evidence->stride / parts;
        if (evidence->stride % parts || !size_repeats(evidence, size))
            continue;
        if (size != walk && size_remainder_says(evidence->profile, streams, evidence->stride, size))
            return size;
        open = true;
    }
    for (uint64_t parts = 2; parts <= PARTS_MAX; parts++) /* the least that explains the block's size */
        if (evidence->stride % parts == 0 && size_repeats(evidence, evidence->stride / parts) &&
            size_block_says(object, evidence->stride, evidence->stride / parts))
            return size_repeats(evidence, evidence->stride / parts / 2) ? 0 : evidence->stride / parts;
    for (uint64_t parts = PARTS_MAX; parts > 1; parts--)
        if (evidence->stride % parts == 0 && size_repeats(evidence, evidence->stride / parts) &&
            size_plainly_repeats(evidence, evidence->stride / parts)) {
            evidence->probability *= plain_repeat;
            return evidence->stride / parts;
        }
    return open ? 0 : evidence->stride;
}

/* ---- a walk inside of elements? ---- */

/* P(at most `hits` of `count` fall into a share of the places). */
static double size_few(double count, double hits, double share)
{
    double sum = 0;
    for (double k = 0; k <= hits; k++)
        sum += exp(lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1) + k * log(share) +
                   (count - k) * log1p(-share));
    return sum;
}

/* How likely it is by chance that offsets which step by `stride` leave that much of a larger one out: 1 when they leave
 * nothing out. in[]: the parts of it, at most BINS, that they do not leave out. */
enum { BINS = 8 };

static double size_left_out(const uint64_t *offsets, size_t count, uint64_t stride, uint64_t larger, bool *in)
{
    uint64_t classes = larger / stride, bins = classes < BINS ? classes : BINS;
    uint64_t found[BINS] = {0}, empty = 0, left_classes = 0, strays = 0;
    double choices = 1;
    for (size_t k = 0; k < count; k++)
        found[offsets[k] % larger * bins / larger]++;
    for (uint64_t i = 0; i < bins; i++) {
        in[i] = found[i] * 50 > count;
        if (in[i])
            continue;
        empty++;
        strays += found[i];
        choices *= (double)(bins - empty + 1) / (double)empty;
        left_classes += ((i + 1) * classes + bins - 1) / bins - (i * classes + bins - 1) / bins;
    }
    if (empty == 0 || empty == bins)
        return 1;
    return choices * size_few((double)count, (double)strays, (double)left_classes / (double)classes);
}

/* The offsets of the streams that step by `stride`; the caller's to free. */
static uint64_t *size_stepping(const struct size_streams *streams, uint64_t stride, size_t *count)
{
    uint64_t *offsets = calloc(streams->count + 1, 2 * LWP_RESERVOIR * sizeof *offsets);
    *count = 0;
    for (size_t i = 0; i < streams->count && offsets; i++)
        if (streams->items[i].stream->stride.bytes == stride)
            *count += lwp_streams_offsets(streams->items[i].stream, offsets + *count, 2 * LWP_RESERVOIR);
    return offsets;
}

/* An element whose inner array is walked, when another field of it is used too; *open when only the walk is seen. */
static uint64_t size_around(const struct size_streams *streams, uint64_t stride, bool *open)
{
    enum { NEEDED = 24, PARTS = 64 };
    bool in[BINS];
    uint64_t around = 0;
    size_t count;
    uint64_t *offsets = size_stepping(streams, stride, &count);
    *open = false;
    for (size_t i = 0; i < streams->count && count >= NEEDED; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        uint64_t larger = stream->stride.bytes, bins = larger / stride < BINS ? larger / stride : BINS, residue;
        if (larger <= stride || larger % stride || stream->stride.probability < sure ||
            (double)stream->accesses < part_counts * streams->accesses ||
            size_left_out(offsets, count, stride, larger, in) >= left_out_chance)
            continue;
        *open = true;
        bool apart = lwp_elements_residue(stream, larger, &residue) >= keeps_to && !in[residue * bins / larger];
        if (larger <= NESTED_MAX && apart && (around == 0 || larger < around))
            around = larger;
    }
    for (uint64_t parts = 2; parts <= PARTS && count >= NEEDED && !*open; parts++)
        *open = size_left_out(offsets, count, stride, stride * parts, in) < left_out_chance;
    free(offsets);
    return around;
}

/* How many samples at least the offsets are of. One leaves up to three accesses that follow each other, of one
 * instruction in a short loop: where there are few samples, they say no more of where the loop goes than one. */
static size_t size_samples(const struct lwp_offsets *fair, uint64_t stride)
{
    enum { OF_A_SAMPLE = 3 };
    uint64_t offsets[LWP_RESERVOIR];
    size_t samples = 0, of_sample = 0;
    memcpy(offsets, fair->offsets, fair->count * sizeof *offsets);
    qsort(offsets, fair->count, sizeof *offsets, size_offset_compare);
    for (size_t i = 0; i < fair->count; i++) {
        bool follows = of_sample > 0 && of_sample < OF_A_SAMPLE && offsets[i] == offsets[i - 1] + stride;
        of_sample = follows ? of_sample + 1 : 1;
        samples += !follows;
    }
    return samples;
}

/* The probability that no loop walks an array inside of larger elements, when another one, that fills or copies them,
 * hides among all accesses what it leaves out: by what the loops leave out each for itself. Elements of many parts are
 * expected less than of few: their tests weigh 1 / parts^2 (weighted Bonferroni). */
static double size_no_walk(const struct size_streams *streams, uint64_t stride)
{
    enum { NEEDED = 8, PARTS = 64, PERIODS = 4 };
    static const double expected = 3e-5; /* before anything is seen */
    static const double weights = 0.645; /* 1 / 2^2 + 1 / 3^2 + ... */
    double least = 1, walks = 0;
    bool in[BINS];
    for (size_t i = 0; i < streams->count; i++) {
        const struct size_stream *item = &streams->items[i];
        const struct lwp_offsets *fair = &item->stream->fair;
        if (item->stream->stride.bytes != stride || size_samples(fair, stride) < NEEDED)
            continue;
        walks++;
        for (uint64_t parts = 2; parts <= PARTS && item->high - item->low >= PERIODS * parts * stride; parts++)
            least = fmin(least, weights * (double)(parts * parts) *
                                    size_left_out(fair->offsets, fair->count, stride, parts * stride, in));
    }
    return least * walks < 1 && walks > 0 ? least * walks / (least * walks + expected) : 1;
}

/* A loop that fills or copies a block word by word goes over structures, too: next to it a larger stride, that is not
 * of an unrolled loop over such words, leaves open which of the two is the element. */
static bool size_word_by_word(const struct lwp_element_evidence *evidence, const struct size_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        if (streams->items[i].stream->stride.bytes == evidence->stride &&
            streams->items[i].stream->bytes < evidence->stride)
            return false;
    for (size_t i = 0; i < streams->count; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        uint64_t larger = stream->stride.bytes;
        if (larger <= evidence->stride || larger % evidence->stride || larger > ELEMENT_MAX ||
            stream->stride.probability < sure || (double)stream->accesses < direct_needed * streams->accesses)
            continue;
        struct lwp_element_evidence other = {
            .profile = evidence->profile, .object = evidence->object, .stride = larger};
        cover_find(&other, streams);
        bool unrolled = size_repeats(&other, evidence->stride);
        lwp_element_evidence_free(&other);
        if (!unrolled)
            return true;
    }
    return false;
}

void lwp_element_evidence_find(const struct lwp_profile *profile, uint32_t object,
                               struct lwp_element_evidence *evidence)
{
    struct size_streams *streams = calloc(1, sizeof *streams);
    uint64_t bytewise = 0, all = 0;
    bool open;
    *evidence = (struct lwp_element_evidence){.profile = profile, .object = object};
    if (!streams)
        return;
    size_collect(profile, object, streams);
    qsort(streams->items, streams->count, sizeof *streams->items, size_by_low);
    for (size_t i = 0; i < streams->count; i++) {
        all += streams->items[i].stream->accesses;
        bytewise += streams->items[i].stream->bytes == 1 ? streams->items[i].stream->accesses : 0;
    }
    evidence->bytewise = (all - bytewise) * 50 <= all;
    evidence->several = size_several(profile, object, streams);
    evidence->stride = evidence->several ? 0 : size_common(streams);
    if (evidence->stride && evidence->stride <= ELEMENT_MAX) {
        uint64_t step = evidence->stride, around = size_around(streams, step, &open);
        if (around)
            evidence->stride = around;
        evidence->probability = size_probability(streams, evidence->stride);
        cover_find(evidence, streams);
        open = (open && !around) || size_word_by_word(evidence, streams);
        evidence->bytes = open ? 0 : size_fold(evidence, streams, around ? step : 0);
        evidence->probability *= around ? 1 : size_no_walk(streams, evidence->stride);
        if (evidence->probability < likely)
            evidence->bytes = 0;
    } else if (evidence->stride) {
        evidence->probability = size_probability(streams, evidence->stride);
    }
    free(streams);
}

void lwp_element_evidence_free(struct lwp_element_evidence *evidence)
{
    for (size_t i = 0; i < evidence->cover_count; i++)
        free(evidence->cover[i].touched);
    free(evidence->cover);
    evidence->cover = NULL;
    evidence->cover_count = 0;
}

bool lwp_element_evidence_allows(const struct lwp_element_evidence *evidence, uint64_t bytes)
{
    if (bytes == 1)
        return evidence->bytewise && evidence->stride <= 1;
    if (evidence->stride == 0 || bytes == evidence->stride || bytes % evidence->stride == 0)
        return true;
    return size_repeats(evidence, bytes);
}
