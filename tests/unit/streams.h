/* Streams of a profile that a test makes by hand, one profile at a time. */
#include "analysis/profile/locations.h"
#include "analysis/profile/stream_table.h"
#include "analysis/profile/streams.h"
#include "base/pages.h"

#include <string.h>

static inline struct lwp_stream_table *streams_table(const struct lwp_profile *profile)
{
    static struct lwp_stream_table table;
    if (!profile->stream_count)
        lwp_stream_table_free(&table);
    return &table;
}

/* Counts one access; returns the stream. */
static inline uint32_t streams_add(struct lwp_profile *profile, uint32_t object, uint32_t region, uint32_t module,
                         uint64_t address, const struct lwps_access *access, uint64_t offset, double weight)
{
    struct lwp_stream_table *table = streams_table(profile);
    const struct lwp_stream_key key = {object, region, lwp_locations_at(profile, module, address)->id};
    uint32_t at = lwp_stream_table_at(table, &key, lwp_stream_hash(&key));
    const struct lwp_stream_part part = lwp_stream_part(table, at);
    lwp_stream_table_count(
        table, at,
        &(struct lwp_stream_access){
            .offset = offset,
            .rank = lwp_stream_rank(lwp_hash_mix(lwp_hash_mix(object, address), part.count->accesses),
                                    lwp_stream_is_fair(access)),
            .bytes = access->bytes,
            .flags = access->flags});
    if (at == profile->stream_count) {
        LWP_PAGES_GROW(&profile->streams, profile->stream_count, &profile->stream_room);
        profile->streams[profile->stream_count++] =
            (struct lwp_stream){.module = module,
                                .address = address,
                                .offsets.items = lwp_arena_alloc(profile->arena, LWP_RESERVOIR, sizeof(uint64_t)),
                                .distances = lwp_arena_alloc(profile->arena, LWP_DISTANCES, sizeof(uint16_t))};
    }
    struct lwp_stream *stream = &profile->streams[at];
    struct lwp_tally sum = stream->weight;
    if (access->flags & LWPS_ACCESS_WEIGHTED)
        lwp_tally_add(&sum, weight);
    lwp_stream_finish(&part, stream);
    stream->weight = sum;
    struct lwp_reservoir_items items = {.count = 0};
    lwp_reservoir_gather(&items, &table->offsets, &part.count->offsets);
    lwp_stream_offsets(&items, &stream->offsets);
    return at;
}

static inline void streams_distance(struct lwp_profile *profile, uint32_t stream, uint64_t distance)
{
    const struct lwp_stream_cold *cold = &streams_table(profile)->colds[stream];
    lwp_stream_table_apart(streams_table(profile), stream, distance);
    memcpy(profile->streams[stream].distances, cold->distances, sizeof cold->distances);
}

/* Samples that saw a chain go from one element of the object, of 2^29 bytes, to one so many bytes further. */
static inline void streams_lead(struct lwp_profile *profile, uint32_t object, uint64_t bytes)
{
    for (uint64_t i = 0; i < 20; i++) {
        const uint64_t address = i * 7919 % 1000000 * 512;
        struct lwp_traversal_access visits[2] = {{.object = object, .address = address}, {.object = object, .address = address + bytes}};
        lwp_moves_sample(&profile->moves, profile, visits, 2);
    }
}
