#include "analysis/load/access_widths.h"

void lwp_access_widths_decode(struct lwp_profile *profile)
{
    for (size_t i = 0; i < profile->stream_count; i++) {
        struct lwp_stream *stream = &profile->streams[i];
        if (stream->module == LWP_NONE || (stream->bytes && stream->loads + stream->stores))
            continue;
        struct lwp_memory_operand operand = lwp_code_operand(profile->code, stream->module, stream->address);
        if (!operand.exists)
            continue;
        if (!stream->bytes) {
            stream->bytes = operand.bytes;
            stream->vector = operand.vector;
        }
        if (stream->loads + stream->stores == 0) {
            stream->loads = operand.load ? stream->accesses : 0;
            stream->stores = operand.store ? stream->accesses : 0;
            profile->objects[stream->object].loads += stream->loads;
            profile->objects[stream->object].stores += stream->stores;
        }
    }
}
