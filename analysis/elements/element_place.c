/* Where in its element an access lies, and what a stream's places say of it. */
#include "analysis/elements/element_place.h"

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
    bool inside = offset >= object->element_start && (!object->element_end || offset < object->element_end);
    *place = inside ? (offset - object->element_start) % object->element_bytes : 0;
    return inside;
}

uint64_t lwp_element_count(const struct lwp_object *object)
{
    if (!object->element_bytes || object->bytes < object->element_start)
        return 0;
    if (object->element_end) /* tables that grew have as large a part of control bytes */
        return (uint64_t)((double)object->bytes / (double)object->largest * (double)(object->element_end - object->element_start)) /
               object->element_bytes;
    return (object->bytes - object->element_start) / object->element_bytes;
}

bool lwp_element_beyond(const struct lwp_stream *stream, uint64_t end)
{
    uint64_t offsets[LWP_RESERVOIR];
    size_t count = end ? lwp_streams_offsets(stream, offsets, LWP_RESERVOIR) : 0, beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond += offsets[i] >= end;
    return beyond * 2 > count;
}

double lwp_element_stream_place(const struct lwp_profile *profile, const struct lwp_stream *stream, uint64_t *place)
{
    const struct lwp_object *object = &profile->objects[stream->object];
    uint64_t residue;
    double keeps = lwp_element_residue(stream, object->element_bytes, &residue);
    *place = (residue + object->element_bytes - object->element_start % object->element_bytes) % object->element_bytes;
    return lwp_element_beyond(stream, object->element_end) ? 0 : keeps;
}

bool lwp_element_packed(const struct lwp_profile *profile, const struct lwp_stream *stream)
{
    if (!stream->vector || stream->bytes > sizeof(uint64_t) || stream->module == LWP_NONE)
        return stream->vector && stream->bytes > sizeof(uint64_t);
    return lwp_code_operand(profile->code, stream->module, stream->address).packed;
}
