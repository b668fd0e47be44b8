#include "analysis/elements/element_streams.h"

#include "analysis/profile/objects.h"
#include "analysis/profile/streams.h"

#include <stdlib.h>

int lwp_element_offset_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int element_by_low(const void *a, const void *b)
{
    const struct lwp_element_stream *x = a, *y = b;
    if (x->low != y->low)
        return (x->low > y->low) - (x->low < y->low);
    return (x->stream->address > y->stream->address) - (x->stream->address < y->stream->address);
}

void lwp_element_streams_collect(const struct lwp_profile *profile, uint32_t object,
                                 struct lwp_element_streams *streams)
{
    uint64_t offsets[LWP_RESERVOIR];
    for (uint32_t i = profile->object_streams[object]; i != LWP_NONE && streams->count < LWP_ELEMENT_STREAMS;
         i = profile->streams[i].next_of_object) {
        const struct lwp_stream *stream = &profile->streams[i];
        size_t count = lwp_streams_offsets(stream, offsets, LWP_RESERVOIR), trim = count / 25;
        if (count == 0 || lwp_objects_library_code(profile, stream->module))
            continue;
        qsort(offsets, count, sizeof *offsets, lwp_element_offset_compare);
        streams->items[streams->count++] =
            (struct lwp_element_stream){stream, offsets[trim], offsets[count - 1 - trim]};
        streams->accesses += (double)stream->accesses;
    }
    qsort(streams->items, streams->count, sizeof *streams->items, element_by_low);
}
