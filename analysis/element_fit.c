/* Every stream must keep to one place of the element, inside a field of its type. */
#include "analysis/element_fit.h"

#include "analysis/element_place.h"
#include "analysis/objects.h"
#include "analysis/streams.h"

enum { STREAMS_JUDGED = 512 };

/* A float read from a word of 8 bytes: that is another type's place. */
static bool element_clashes(const struct lwp_field *field, const struct lwp_stream *stream)
{
    return stream->vector && stream->bytes == 4 && field->bytes == 8 && field->alignment == 8;
}

/* Whether what the stream touches at `residue` lies in a field of the type. */
static bool element_in_field(const struct lwp_type *type, uint64_t residue, const struct lwp_stream *stream)
{
    if (type->kind != LWP_TYPE_STRUCT || type->field_count == 0)
        return residue + stream->bytes <= type->bytes || residue == 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        if (residue >= type->fields[i].offset &&
            (residue + stream->bytes <= type->fields[i].offset + type->fields[i].bytes || type->fields[i].bytes == 0))
            return !element_clashes(&type->fields[i], stream);
    return false;
}

/* Several whole fields at once, as when a struct is copied. */
static bool element_spans_fields(const struct lwp_type *type, uint64_t residue, uint64_t bytes)
{
    bool starts = false, ends = false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        starts |= type->fields[i].offset == residue;
        ends |= type->fields[i].offset + type->fields[i].bytes == residue + bytes;
    }
    return starts && ends;
}

/* Whether nearly all that the stream touches lies inside of fields: an array in the struct may be walked. */
static bool element_in_fields(const struct lwp_stream *stream, uint64_t size, const struct lwp_type *type,
                              uint64_t start)
{
    uint64_t offsets[LWP_RESERVOIR];
    size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR), inside = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t place = (offsets[i] + size - start % size) % size;
        inside += stream->bytes > 8
                      ? place + stream->bytes <= size /* a vector over several fields */
                      : element_in_field(type, place, stream) || element_spans_fields(type, place, stream->bytes);
    }
    return (double)inside >= LWP_ELEMENT_KEEPS_TO * (double)count;
}

double lwp_element_fit(const struct lwp_profile *profile, uint32_t index, uint64_t size, const struct lwp_type *type,
                       bool exact, uint64_t start, uint64_t end)
{
    double good = 0, bad = 0;
    int judged = 0;
    for (uint32_t i = profile->object_streams[index]; i != LWP_NONE && judged < STREAMS_JUDGED;
         i = profile->streams[i].next_of_object) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (lwp_objects_library_code(profile, stream->module) || stream->offsets.count == 0 || lwp_element_beyond(stream, end))
            continue;
        uint64_t residue;
        bool whole = stream->bytes >= size; /* a vector over several elements: it must start at one */
        uint64_t modulus = whole && !stream->vector ? stream->bytes : size;
        double keeps = lwp_element_residue(stream, modulus, &residue);
        residue = (residue + modulus - start % modulus) % modulus;
        bool fits = keeps >= LWP_ELEMENT_KEEPS_TO;
        if (fits && type && (!stream->vector || stream->bytes <= 4) && stream->bytes)
            fits = element_in_field(type, residue, stream);
        if (!fits && exact && stream->bytes && type && type->kind == LWP_TYPE_STRUCT)
            fits = element_in_fields(stream, size, type, start);
        if (whole && stream->vector)
            fits = true;
        *(fits ? &good : &bad) += (double)stream->accesses;
        judged++;
    }
    return good + bad > 0 ? good / (good + bad) : -1;
}
