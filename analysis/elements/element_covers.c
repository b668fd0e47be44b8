
#include "analysis/elements/element_evidence.h"
#include "analysis/elements/element_place.h"
#include "analysis/statistics/stride.h"

#include <stdlib.h>

enum { LOOPS_COVERED = 24, USES_MAX = 96, SCALAR_MAX = 8, SURE_ACCESSES = 20, LANE_SURE_ACCESSES = 64 };

static const double keeps_to = 0.8;

struct element_use {
    uint64_t residue;
    uint16_t bytes;
};

struct element_cover {
    uint32_t region;
    uint64_t accesses;
    size_t lanes; /* streams of which no other one's code tells where they go */
    bool wide;
    struct element_use uses[USES_MAX];
    size_t count;
    uint8_t *touched; /* by byte of the stride */
};

/* Whether something is touched that was not before. */
static bool cover_add(struct element_cover *cover, uint64_t stride, uint64_t residue, uint16_t bytes, bool packed)
{
    bool news = false;
    for (uint64_t at = residue; at < residue + bytes && at < residue + stride; at++) {
        news |= !cover->touched[at % stride]; // NOLINT(clang-analyzer-core.NullDereference): cover_of() gives none without
        cover->touched[at % stride] = 1;
    }
    if (packed || bytes > SCALAR_MAX) {
        cover->wide = true;
        return news;
    }
    for (size_t i = 0; i < cover->count; i++)
        if (cover->uses[i].residue == residue && cover->uses[i].bytes == bytes)
            return news;
    if (cover->count < USES_MAX)
        cover->uses[cover->count++] = (struct element_use){residue, bytes};
    return news;
}

static struct element_cover *cover_of(struct lwp_element_covers *covers, uint32_t region)
{
    for (size_t i = 0; i < covers->count; i++)
        if (covers->items[i].region == region)
            return &covers->items[i];
    if (covers->count == LOOPS_COVERED)
        return NULL;
    struct element_cover *cover = &covers->items[covers->count];
    *cover = (struct element_cover){.region = region, .touched = calloc(covers->stride, 1)};
    if (!cover->touched)
        return NULL;
    covers->count++;
    return cover;
}

/* What a stream's instruction touches, and what the loop's code does beside it. */
static void cover_stream(const struct lwp_profile *profile, const struct lwp_stream *stream, uint64_t stride, uint64_t residue,
                         struct element_cover *cover)
{
    enum { SIBLINGS = 64 };
    struct lwp_sibling siblings[SIBLINGS];
    cover->lanes += cover_add(cover, stride, residue, stream->bytes, lwp_element_packed(profile, stream));
    const struct lwp_symbolized *place =
        stream->module == LWP_NONE ? NULL : lwp_code_symbolize(profile->code, stream->module, stream->address);
    size_t count = place ? lwp_code_siblings(profile->code, stream->module, stream->address, siblings, SIBLINGS) : 0;
    for (size_t k = 0; k < count && k < SIBLINGS; k++) {
        const uint64_t at = lwp_stride_residue((int64_t)residue + siblings[k].delta, stride);
        if (siblings[k].loop == place->loop && siblings[k].bytes)
            cover_add(cover, stride, at, siblings[k].bytes, lwp_code_operand(profile->code, stream->module, siblings[k].address).packed);
    }
}

void lwp_element_covers_find(struct lwp_profile *profile, const struct lwp_element_streams *streams, uint64_t stride,
                             struct lwp_element_covers *covers)
{
    *covers = (struct lwp_element_covers){.stride = stride};
    covers->items = calloc(LOOPS_COVERED, sizeof *covers->items);
    for (size_t i = 0; i < streams->count && covers->items; i++) {
        const struct lwp_stream *stream = streams->items[i].stream;
        uint64_t residue;
        if (stream->stride.bytes % stride || stream->bytes == 0 || stream->accesses < 3 ||
            lwp_element_residue(stream, covers->stride, &residue) < keeps_to)
            continue;
        struct element_cover *cover = cover_of(covers, stream->region);
        if (!cover)
            continue;
        cover->accesses += stream->accesses;
        pthread_mutex_lock(&profile->lock);
        cover_stream(profile, stream, covers->stride, residue, cover);
        pthread_mutex_unlock(&profile->lock);
    }
}

/* In how many of the elements of `size` in a stride the loop touches the byte `first`. */
static uint64_t cover_touches(const struct element_cover *cover, uint64_t stride, uint64_t size, uint64_t first)
{
    uint64_t touched = 0;
    for (uint64_t at = first; at < stride; at += size)
        touched += cover->touched[at];
    return touched;
}

/* Each lane of an unrolled gather has its own register: with so few accesses per lane, some lanes are not sampled at all. */
static bool cover_lacks_lanes(const struct element_cover *cover, uint64_t stride, uint64_t size)
{
    uint64_t parts = stride / size, touched = 0, wanted = 0;
    if (cover->lanes * 4 < parts * 3 || cover->accesses >= cover->lanes * LANE_SURE_ACCESSES)
        return false;
    for (uint64_t first = 0; first < size; first++) {
        uint64_t own = cover_touches(cover, stride, size, first);
        touched += own;
        wanted += own ? parts : 0;
    }
    return touched * 4 >= wanted * 3;
}

/* What the loop touches of one element of `size` it touches of all. */
static bool cover_repeats(const struct element_cover *cover, uint64_t stride, uint64_t size)
{
    for (size_t i = 0; i < cover->count; i++) {
        uint64_t next = (cover->uses[i].residue + size) % stride;
        bool found = false;
        for (size_t j = 0; j < cover->count && !found; j++)
            found = cover->uses[j].residue == next && cover->uses[j].bytes == cover->uses[i].bytes;
        for (uint64_t at = next; cover->wide && !found && cover->touched[at % stride]; at++)
            found = at + 1 == next + cover->uses[i].bytes;
        if (!found)
            return false;
    }
    for (uint64_t first = 0; cover->wide && first < size; first++)
        if (cover_touches(cover, stride, size, first) == stride / size)
            return true;
    return !cover->wide;
}

/* Whether the loop may be one over elements of `size`, several at a time. */
static bool cover_may_be_of(const struct element_cover *cover, uint64_t stride, uint64_t size)
{
    for (size_t i = 0; i < cover->count; i++)
        if (cover->uses[i].bytes > size)
            return false;
    return cover_repeats(cover, stride, size) || cover_lacks_lanes(cover, stride, size);
}

bool lwp_element_covers_repeat(const struct lwp_element_covers *covers, uint64_t size)
{
    if (size == 0 || covers->stride % size || covers->stride / size > LWP_ELEMENT_PARTS)
        return false;
    for (size_t i = 0; i < covers->count; i++)
        if (covers->items[i].accesses >= SURE_ACCESSES && !cover_may_be_of(&covers->items[i], covers->stride, size))
            return false;
    return true;
}

bool lwp_element_covers_plainly_repeat(const struct lwp_element_covers *covers, uint64_t size)
{
    for (size_t i = 0; i < covers->count; i++) {
        const struct element_cover *cover = &covers->items[i];
        uint64_t touched = 0;
        bool differ = false;
        for (uint64_t at = 0; at < covers->stride; at++)
            touched += cover->touched[at];
        for (size_t k = 1; k < cover->count; k++)
            differ |= cover->uses[k].bytes != cover->uses[0].bytes;
        if (cover->accesses >= SURE_ACCESSES && !cover->wide && (differ || (covers->stride / size >= 4 && touched * 2 <= covers->stride)))
            return true;
    }
    return false;
}

void lwp_element_covers_free(struct lwp_element_covers *covers)
{
    for (size_t i = 0; i < covers->count; i++)
        free(covers->items[i].touched);
    free(covers->items);
    *covers = (struct lwp_element_covers){0};
}
