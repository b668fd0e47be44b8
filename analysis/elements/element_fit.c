/* Every stream must keep to one place of the element, inside a field of its type. */

#include "analysis/elements/element_evidence.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"

#include <string.h>

enum { STREAMS_JUDGED = 512 };

/* A float read from a word of 8 bytes: that is another type's place. */
static bool element_clashes(const struct lwp_field *field, const struct lwp_stream *stream)
{
    return stream->vector && stream->bytes == 4 && field->bytes == 8 && field->alignment == 8;
}

/* The field that what the stream touches at `residue` lies in. */
static const struct lwp_field *element_field(const struct lwp_type *type, uint64_t residue, const struct lwp_stream *stream)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct lwp_field *field = &type->fields[i];
        if (residue >= field->offset && (residue + stream->bytes <= field->offset + field->bytes || field->bytes == 0))
            return element_clashes(field, stream) ? NULL : field;
    }
    return NULL;
}

static bool element_in_field(const struct lwp_type *type, uint64_t residue, const struct lwp_stream *stream)
{
    if (type->kind != LWP_TYPE_STRUCT || type->field_count == 0)
        return residue + stream->bytes <= type->bytes || residue == 0;
    return element_field(type, residue, stream) != NULL;
}

/* Whole fields, as when a struct is copied, with what alignment leaves unused behind them. */
static bool element_spans_fields(const struct lwp_type *type, uint64_t residue, uint64_t bytes)
{
    const uint64_t end = residue + bytes;
    bool starts = false, cuts = end > type->bytes;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct lwp_field *field = &type->fields[i];
        starts |= field->offset == residue;
        cuts |= field->offset < end && end < field->offset + field->bytes;
    }
    return starts && !cuts;
}

static bool element_same_kind(const struct lwp_field *a, const struct lwp_field *b)
{
    return a && b && (a == b || (a->bytes == b->bytes && a->type && b->type && strcmp(a->type, b->type) == 0));
}

/* Whether nearly all that the stream touches lies in one field, an array that is walked, or in several of one type: the
 * left or the right child. An instruction that goes over fields of all types is of another struct, unless a vector's. */
static bool element_walks_fields(const struct lwp_stream *stream, uint64_t size, const struct lwp_type *type, uint64_t start)
{
    uint64_t offsets[LWP_RESERVOIR];
    const struct lwp_field *fields[LWP_RESERVOIR];
    size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR), inside = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t place = (offsets[i] + size - start % size) % size;
        fields[i] = element_field(type, place, stream);
        inside += stream->bytes > 8 && place + stream->bytes <= size;
    }
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < count; j++)
            same += element_same_kind(fields[i], fields[j]);
        most = same > most ? same : most;
    }
    return (double)(inside > most ? inside : most) >= LWP_ELEMENT_KEEPS_TO * (double)count;
}

double lwp_element_fit(const struct lwp_profile *profile, uint32_t index, const struct lwp_element_try *try)
{
    const struct lwp_type *type = try->type;
    const uint64_t size = try->size, start = try->start;
    const bool exact = try->exact;
    const bool is_struct = exact && type && type->kind == LWP_TYPE_STRUCT;
    double good = 0, bad = 0;
    int judged = 0;
    for (uint32_t i = profile->object_streams[index]; i != LWP_NONE && judged < STREAMS_JUDGED; i = profile->streams[i].next_of_object) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (lwp_element_copies(profile, stream) || stream->offsets.count == 0 || lwp_element_beyond(stream, try->end) ||
            lwp_element_before(stream, start))
            continue;
        uint64_t residue;
        bool whole = stream->bytes >= size; /* a vector over several elements: it must start at one */
        uint64_t modulus = whole && !stream->vector ? stream->bytes : size;
        double keeps = lwp_element_residue(stream, modulus, &residue);
        residue = (residue + modulus - start % modulus) % modulus;
        bool fits = keeps >= LWP_ELEMENT_KEEPS_TO;
        if (fits && type && try->gaps && residue >= type->bytes)
            continue;
        if (fits && type && (!stream->vector || stream->bytes <= 4) && stream->bytes)
            fits = element_in_field(type, residue, stream) || (is_struct && element_spans_fields(type, residue, stream->bytes));
        if (!fits && is_struct && stream->bytes)
            fits = element_walks_fields(stream, size, type, start);
        if (whole && stream->vector)
            fits = true;
        *(fits ? &good : &bad) += (double)stream->accesses;
        judged++;
    }
    return good + bad > 0 ? good / (good + bad) : -1;
}
