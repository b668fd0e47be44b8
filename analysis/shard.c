#include "analysis/shard.h"

#include "analysis/contexts.h"

#include <stdlib.h>
#include <string.h>

void lwp_shard_free(struct lwp_shard *shard)
{
    lwp_streams_free(&shard->streams);
    lwp_windows_free(&shard->windows);
    lwp_watched_free(&shard->watched);
    lwp_shared_free(&shard->shared);
    free(shard->parts);
    *shard = (struct lwp_shard){0};
}

void lwp_shard_parts(struct lwp_shard *shard, size_t count)
{
    size_t room = shard->part_count;
    while (room < count)
        shard->parts = lwp_grow(shard->parts, room, &room, sizeof *shard->parts);
    memset(shard->parts + shard->part_count, 0, (room - shard->part_count) * sizeof *shard->parts);
    shard->part_count = room;
}

void lwp_shard_merge(const struct lwp_profile *profile, struct lwp_shard *into, struct lwp_shard *from)
{
    for (size_t i = 0; i < from->streams.count; i++) {
        const struct lwp_stream *stream = &from->streams.items[i];
        struct lwp_stream *to = lwp_streams_at(&into->streams, stream->object, stream->region, stream->spot);
        to->module = stream->module;
        to->address = stream->address;
        to->common = lwp_contexts_shared(profile, to->common, stream->common);
        lwp_streams_join(&into->streams, to, stream);
    }
    lwp_reservoir_pool_take(&into->streams.offsets, &from->streams.offsets);
    into->streams.refused += from->streams.refused;
    if (from->part_count > into->part_count)
        lwp_shard_parts(into, from->part_count);
    for (size_t i = 0; i < from->part_count; i++)
        lwp_sum_merge(&into->parts[i], &from->parts[i]);
    lwp_windows_merge(&into->windows, &from->windows);
    lwp_watched_merge(&into->watched, &from->watched);
    lwp_shared_merge(&into->shared, &from->shared);
    lwp_sum_merge(&into->total, &from->total);
    lwp_sum_merge(&into->stalled, &from->stalled);
    into->unknown_weight += from->unknown_weight;
    into->samples += from->samples;
    into->samples_with_address += from->samples_with_address;
    lwp_shard_free(from);
}
