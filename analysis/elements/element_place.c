/* Where in its element an access lies, and what a stream's places say of it. */
#include "analysis/elements/element_place.h"

#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"

double lwp_element_residue(const struct lwp_stream *stream, uint64_t element_bytes, uint64_t *residue)
{
    enum { LOOKED_AT = 48 }; /* asked for each candidate of each stream: keep it cheap */
    uint64_t offsets[LOOKED_AT];
    size_t count = lwp_streams_offsets(stream, offsets, LOOKED_AT), best = 0;
    *residue = 0;
    for (size_t i = 0; i < count; i++)
        offsets[i] %= element_bytes;
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < count; j++)
            same += offsets[j] == offsets[i];
        if (same > best) {
            best = same;
            *residue = offsets[i];
        }
        if (best * 2 > count)
            break;
    }
    return count ? (double)best / (double)count : 0;
}

bool lwp_element_place(const struct lwp_object *object, uint64_t offset, uint64_t *place)
{
    *place = 0;
    if (offset < object->element_start || (object->element_end && offset >= object->element_end))
        return false;
    *place = (offset - object->element_start) % lwp_element_spacing(object);
    return *place < object->element_bytes;
}

bool lwp_element_beyond(const struct lwp_stream *stream, uint64_t end)
{
    uint64_t offsets[LWP_RESERVOIR];
    size_t count = end ? lwp_streams_offsets(stream, offsets, LWP_RESERVOIR) : 0, beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond += offsets[i] >= end;
    return beyond * 2 > count;
}

bool lwp_element_before(const struct lwp_stream *stream, uint64_t start)
{
    uint64_t offsets[LWP_RESERVOIR];
    size_t count = start ? lwp_streams_offsets(stream, offsets, LWP_RESERVOIR) : 0, before = 0;
    for (size_t i = 0; i < count; i++)
        before += offsets[i] < start;
    return before * 2 > count;
}

double lwp_element_stream_place(const struct lwp_profile *profile, const struct lwp_stream *stream, uint64_t *place)
{
    const struct lwp_object *object = &profile->objects[stream->object];
    uint64_t residue;
    uint64_t start = object->element_start, spacing = object->single ? start + object->element_bytes : lwp_element_spacing(object);
    double keeps = lwp_element_residue(stream, spacing, &residue);
    *place = (residue + spacing - start % spacing) % spacing;
    if (*place >= object->element_bytes)
        keeps = 0;
    return lwp_element_beyond(stream, object->element_end) ? 0 : keeps;
}

bool lwp_element_copies(const struct lwp_profile *profile, const struct lwp_stream *stream)
{
    return stream->string || lwp_objects_library_code(profile, stream->module);
}

bool lwp_element_packed(const struct lwp_profile *profile, const struct lwp_stream *stream)
{
    if (!stream->vector || stream->bytes > sizeof(uint64_t) || stream->module == LWP_NONE)
        return stream->vector && stream->bytes > sizeof(uint64_t);
    return lwp_code_operand(profile->code, stream->module, stream->address).packed;
}
