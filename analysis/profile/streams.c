/* What is asked of streams once all samples are in. */
#include "analysis/profile/streams.h"

#include "analysis/profile/locations.h"
#include "analysis/profile/stream_table.h"
#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

enum { FAIR_ENOUGH = 8 };

uint32_t lwp_streams_add(struct lwp_profile *profile, uint32_t object, uint32_t region, uint32_t module,
                         uint64_t address, const struct lwps_access *access, uint64_t offset, double weight)
{
    struct lwp_stream_table *table = profile->stream_table;
    const struct lwp_stream_key key = {object, region, lwp_locations_at(profile, module, address)->id};
    uint32_t at = lwp_stream_table_at(table, &key, lwp_stream_hash(&key));
    const struct lwp_stream_part part = lwp_stream_part(table, at);
    lwp_stream_table_count(
        table, at,
        &(struct lwp_stream_access){
            .offset = offset,
            .rank = lwp_stream_rank(lwp_hash_mix(lwp_hash_mix(object, address), part.count->accesses),
                                    lwp_stream_is_fair(access->source, access->flags)),
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

void lwp_streams_distance(struct lwp_profile *profile, uint32_t stream, uint64_t distance)
{
    const struct lwp_stream_cold *cold = &profile->stream_table->colds[stream];
    lwp_stream_table_apart(profile->stream_table, stream, distance);
    memcpy(profile->streams[stream].distances, cold->distances, sizeof cold->distances);
}

struct stream_owner {
    uint64_t all, most;
    uint32_t object;
};

static bool stream_is_pooled(const struct lwp_profile *profile, uint32_t object)
{
    return profile->objects[object].kind == LWP_OBJECT_HEAP && profile->objects[object].pool_size;
}

static void stream_move(struct lwp_profile *profile, struct lwp_stream *stream, uint32_t to)
{
    struct lwp_object *from = &profile->objects[stream->object], *object = &profile->objects[to];
    from->weight.weight -= stream->weight.weight;
    from->weight.squares -= stream->weight.squares;
    from->weight.samples -= stream->weight.samples;
    from->accesses -= stream->accesses;
    from->loads -= stream->loads;
    from->stores -= stream->stores;
    lwp_tally_merge(&object->weight, &stream->weight);
    object->accesses += stream->accesses;
    object->loads += stream->loads;
    object->stores += stream->stores;
    stream->object = to;
    stream->offsets.count = stream->offsets.fair = 0; /* where in its block each access fell is not known */
}

/* When a program allocates very fast the collector leaves small blocks out to stay within its budget. Their accesses
 * have an address and no owner, although the same instruction is seen on the recorded blocks of the same pool. */
double lwp_streams_adopt(struct lwp_profile *profile, uint32_t unowned)
{
    enum { ENOUGH = 20 };
    size_t first = 0;
    while (first < profile->stream_count && profile->streams[first].object != unowned)
        first++;
    if (first == profile->stream_count)
        return 0;
    struct lwp_map *places = lwp_map_new(), *pairs = lwp_map_new();
    struct stream_owner *owners = NULL;
    uint64_t *counts = NULL;
    size_t owner_count = 0, owner_room = 0, pair_count = 0, pair_room = 0;
    double moved = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->object == unowned || profile->objects[stream->object].kind == LWP_OBJECT_UNKNOWN)
            continue;
        uint64_t place = lwp_hash_mix(stream->module, stream->address);
        uint32_t *at = lwp_map_at(places, place);
        if (*at == LWP_MAP_NONE) {
            *at = (uint32_t)owner_count;
            LWP_GROW(&owners, owner_count, &owner_room);
            owners[owner_count++] = (struct stream_owner){.object = LWP_NONE};
        }
        struct stream_owner *owner = &owners[*at];
        uint32_t *pair = lwp_map_at(pairs, lwp_hash_mix(place, stream->object));
        if (*pair == LWP_MAP_NONE) {
            *pair = (uint32_t)pair_count;
            LWP_GROW(&counts, pair_count, &pair_room);
            counts[pair_count++] = 0;
        }
        counts[*pair] += stream->accesses; // NOLINT(clang-analyzer-core.NullDereference): a number that was there has its item
        owner->all += stream->accesses;    // NOLINT(clang-analyzer-core.NullDereference)
        if (counts[*pair] > owner->most) {
            owner->most = counts[*pair];
            owner->object = stream->object;
        }
    }
    for (size_t i = 0; i < profile->stream_count; i++) {
        struct lwp_stream *stream = &profile->streams[i];
        if (stream->object != unowned)
            continue;
        uint32_t at = lwp_map_get(places, lwp_hash_mix(stream->module, stream->address));
        if (at == LWP_MAP_NONE || owners[at].all < ENOUGH || // NOLINT(clang-analyzer-core.NullDereference)
            owners[at].most * 20 < owners[at].all * 19 ||
            !stream_is_pooled(profile, owners[at].object))
            continue;
        moved += stream->weight.weight;
        stream_move(profile, stream, owners[at].object);
    }
    free(owners);
    free(counts);
    lwp_map_free(places);
    lwp_map_free(pairs);
    return moved;
}

void lwp_streams_link(struct lwp_profile *profile)
{
    profile->object_streams = calloc(profile->object_count + 1, sizeof *profile->object_streams);
    if (!profile->object_streams)
        abort();
    for (size_t i = 0; i < profile->object_count; i++)
        profile->object_streams[i] = LWP_NONE;
    for (size_t i = profile->stream_count; i--;) {
        profile->streams[i].next_of_object = profile->object_streams[profile->streams[i].object];
        profile->object_streams[profile->streams[i].object] = (uint32_t)i;
    }
}

size_t lwp_streams_offsets(const struct lwp_stream *stream, uint64_t *offsets, size_t room)
{
    const struct lwp_offsets *kept = &stream->offsets;
    size_t count = kept->fair >= FAIR_ENOUGH ? kept->fair : kept->count;
    if (count > room)
        count = room;
    if (count)
        memcpy(offsets, kept->items, count * sizeof *offsets);
    return count;
}
