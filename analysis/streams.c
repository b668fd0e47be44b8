/* The table of streams. Each keeps two bounded uniform samples of its offsets: those of dithered accesses, which have
 * no bias, and those of stalled ones, which sit at the starts of cache lines more often than they should.
 * All that is counted comes out the same in whatever order the accesses came and tables were joined.
 * Limits: about STREAMS_MAX streams; accesses beyond are counted on the object only, and which ones these are does
 * depend on the order. */
#include "analysis/streams.h"

#include "analysis/spots.h"
#include "base/pages.h"

#include <stdlib.h>

enum { STREAMS_MAX = 1 << 21, FAIR_ENOUGH = 8 };

void lwp_streams_free(struct lwp_streams *streams)
{
    lwp_pages_free(streams->items, streams->room * sizeof *streams->items);
    lwp_reservoir_pool_free(&streams->offsets);
    lwp_table_free(&streams->index);
    *streams = (struct lwp_streams){0};
}

static uint64_t stream_key(uint32_t object, uint32_t region, uint32_t spot)
{
    return ((uint64_t)object << 32 | spot) ^ (uint64_t)region * 0xd6e8feb86659fd93u;
}

void lwp_streams_soon(const struct lwp_streams *streams, uint32_t object, uint32_t region, uint32_t spot)
{
    lwp_table_prefetch(&streams->index, stream_key(object, region, spot));
}

uint32_t lwp_streams_next(const struct lwp_streams *streams, uint32_t object, uint32_t region, uint32_t spot)
{
    uint32_t at = lwp_table_get(&streams->index, stream_key(object, region, spot));
    if (at == LWP_TABLE_NONE)
        return LWP_NONE;
    const char *line = (const char *)&streams->items[at];
    __builtin_prefetch(line);
    __builtin_prefetch(line + 64);
    __builtin_prefetch(line + 128);
    return at;
}

struct lwp_stream *lwp_streams_at(struct lwp_streams *streams, uint32_t object, uint32_t region, uint32_t spot)
{
    uint64_t key = stream_key(object, region, spot);
    for (;; key++) {
        uint32_t *at = lwp_table_at(&streams->index, key);
        if (*at == LWP_TABLE_NONE) {
            if (streams->count >= STREAMS_MAX && spot != LWP_NONE) {
                *at = (uint32_t)(lwp_streams_at(streams, object, LWP_NONE, LWP_NONE) - streams->items);
                streams->refused++;
                return &streams->items[lwp_table_get(&streams->index, key)];
            }
            *at = (uint32_t)streams->count;
            LWP_PAGES_GROW(&streams->items, streams->count, &streams->room);
            streams->items[streams->count] = (struct lwp_stream){.object = object,
                                                                 .region = region,
                                                                 .spot = spot,
                                                                 .common = LWP_NONE,
                                                                 .last_path = LWP_NONE,
                                                                 .first_ns = UINT64_MAX,
                                                                 .module = LWP_NONE,
                                                                 .next_of_object = LWP_NONE};
            return &streams->items[streams->count++];
        }
        struct lwp_stream *stream = &streams->items[*at];
        if (stream->object == object && stream->region == region && stream->spot == spot)
            return stream;
    }
}

static bool stream_is_fair(const struct lwp_streams_access *access)
{
    return access->source == LWPS_SOURCE_DITHERED || access->source == LWPS_SOURCE_TRACE;
}

void lwp_streams_expect(const struct lwp_stream *stream, const struct lwp_streams_access *access)
{
    lwp_reservoir_prefetch(stream_is_fair(access) ? &stream->fair : &stream->biased, access->rank);
}

void lwp_streams_count(struct lwp_streams *streams, struct lwp_stream *stream, const struct lwp_streams_access *access)
{
    if (access->bytes > stream->bytes)
        stream->bytes = access->bytes;
    stream->vector |= (access->flags & LWPS_ACCESS_VECTOR) != 0;
    stream->loads += (access->flags & LWPS_ACCESS_LOAD) != 0;
    stream->stores += (access->flags & LWPS_ACCESS_STORE) != 0;
    stream->accesses++;
    lwp_reservoir_add(&streams->offsets, stream_is_fair(access) ? &stream->fair : &stream->biased, access->rank,
                      access->offset);
}

void lwp_streams_apart(struct lwp_stream *stream, uint64_t distance)
{
    int bucket = distance ? 64 - __builtin_clzll(distance) : 0; /* distance < 2^bucket */
    if (bucket >= LWP_DISTANCES)
        bucket = LWP_DISTANCES - 1;
    if (stream->distances[bucket] < UINT16_MAX)
        stream->distances[bucket]++;
}

void lwp_streams_join(struct lwp_streams *streams, struct lwp_stream *into, const struct lwp_stream *from)
{
    if (from->bytes > into->bytes)
        into->bytes = from->bytes;
    into->vector |= from->vector;
    into->accesses += from->accesses;
    into->loads += from->loads;
    into->stores += from->stores;
    if (from->first_ns < into->first_ns)
        into->first_ns = from->first_ns;
    if (from->last_ns > into->last_ns)
        into->last_ns = from->last_ns;
    lwp_sum_merge(&into->sum, &from->sum);
    if (into->fair.count)
        lwp_reservoir_merge(&streams->offsets, &into->fair, &from->fair);
    else
        into->fair = from->fair;
    if (into->biased.count)
        lwp_reservoir_merge(&streams->offsets, &into->biased, &from->biased);
    else
        into->biased = from->biased;
    for (int i = 0; i < LWP_DISTANCES; i++) {
        unsigned sum = (unsigned)into->distances[i] + from->distances[i];
        into->distances[i] = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
    }
}

uint32_t lwp_streams_add(struct lwp_profile *profile, uint32_t object, uint32_t region, uint32_t module,
                         uint64_t address, const struct lwps_access *access, uint64_t offset, double weight)
{
    struct lwp_streams *table = profile->stream_table;
    struct lwp_stream *stream = lwp_streams_at(table, object, region, lwp_spots_at(profile, module, address)->id);
    stream->module = module;
    stream->address = address;
    uint64_t seen = stream->accesses;
    lwp_streams_count(table, stream,
                      &(struct lwp_streams_access){.offset = offset,
                                                   .rank = (uint32_t)lwp_hash_mix(lwp_hash_mix(object, address), seen),
                                                   .bytes = access->bytes,
                                                   .flags = access->flags,
                                                   .source = access->source});
    if (access->flags & LWPS_ACCESS_WEIGHTED)
        lwp_tally_add(&stream->weight, weight);
    profile->streams = table->items;
    profile->stream_count = table->count;
    return (uint32_t)(stream - table->items);
}

void lwp_streams_distance(struct lwp_profile *profile, uint32_t stream, uint64_t distance)
{
    lwp_streams_apart(&profile->streams[stream], distance);
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
    stream->fair.count = stream->biased.count = 0; /* where in its block each access fell is not known */
}

/* When a program allocates very fast the collector leaves small blocks out to stay within its budget. Their accesses
 * have an address and no owner, although the same instruction is seen on the recorded blocks of the same pool. */
double lwp_streams_adopt(struct lwp_profile *profile, uint32_t unowned)
{
    enum { ENOUGH = 20 };
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
        counts[*pair] += stream->accesses;
        owner->all += stream->accesses;
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
        if (at == LWP_MAP_NONE || owners[at].all < ENOUGH || owners[at].most * 20 < owners[at].all * 19 ||
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
    size_t count = 0;
    for (uint32_t i = 0; i < stream->fair.count && count < room; i++)
        offsets[count++] = stream->fair.offsets[i];
    if (count >= FAIR_ENOUGH)
        return count;
    for (uint32_t i = 0; i < stream->biased.count && count < room; i++)
        offsets[count++] = stream->biased.offsets[i];
    return count;
}
