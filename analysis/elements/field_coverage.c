/* Adds up what is known by name. In: objects with their types, streams. An access has a field when the place in its
 * element lies in one, judged by the offsets sampled. */
#include "analysis/elements/field_coverage.h"

#include "analysis/elements/element_place.h"
#include "analysis/profile/streams.h"

static bool typed_in_field(const struct lwp_type *type, uint64_t place)
{
    for (uint32_t i = 0; i < type->field_count; i++)
        if (place >= type->fields[i].offset &&
            (place - type->fields[i].offset < type->fields[i].bytes || type->fields[i].bytes == 0))
            return true;
    return false;
}

/* The share of the stream's offsets that lie in fields. */
static double typed_fields(const struct lwp_object *object, const struct lwp_stream *stream)
{
    uint64_t offsets[LWP_RESERVOIR], place;
    size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR), inside = 0;
    if (object->type->kind != LWP_TYPE_STRUCT)
        return 1;
    for (size_t i = 0; i < count; i++)
        inside += lwp_element_place(object, offsets[i], &place) && typed_in_field(object->type, place);
    return count ? (double)inside / (double)count : 0;
}

struct lwp_field_coverage lwp_field_coverage_weigh(const struct lwp_profile *profile)
{
    struct lwp_field_coverage all = {.weight = 0};
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        if (object->kind != LWP_OBJECT_HEAP && object->kind != LWP_OBJECT_STATIC)
            continue;
        all.weight += object->weight.weight;
        if (!object->type || !object->element_bytes)
            continue;
        all.type += object->weight.weight;
        for (uint32_t s = profile->object_streams[i]; s != LWP_NONE; s = profile->streams[s].next_of_object)
            all.field += profile->streams[s].weight.weight * typed_fields(object, &profile->streams[s]);
    }
    if (all.field > all.type) /* rounding */
        all.field = all.type;
    return all;
}
