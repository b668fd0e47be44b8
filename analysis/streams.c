/* The table of streams. Each keeps two bounded uniform samples of its offsets: those of dithered accesses, which have
 * no bias, and those of stalled ones, which sit at the starts of cache lines more often than they should.
 * Limits: at most STREAMS_MAX streams; accesses beyond are counted on the object only. */
#include "analysis/streams.h"

#include <stdlib.h>

enum { STREAMS_MAX = 1 << 17, FAIR_ENOUGH = 8 };

static uint64_t stream_random(struct lwp_profile *profile)
{
    profile->random ^= profile->random << 13;
    profile->random ^= profile->random >> 7;
    profile->random ^= profile->random << 17;
    return profile->random;
}

static void stream_keep(struct lwp_profile *profile, struct lwp_reservoir *kept, uint64_t offset)
{
    kept->seen++;
    if (kept->count < LWP_RESERVOIR) {
        if (kept->count == kept->room) {
            uint32_t room = kept->room ? kept->room * 2 : 4;
            uint64_t *offsets = realloc(kept->offsets, room * sizeof *offsets);
            if (!offsets)
                return;
            kept->offsets = offsets;
            kept->room = room;
        }
        kept->offsets[kept->count++] = offset;
        return;
    }
    uint64_t place = stream_random(profile) % kept->seen;
    if (place < LWP_RESERVOIR)
        kept->offsets[place] = offset;
}

static uint32_t stream_find(struct lwp_profile *profile, uint32_t object, uint32_t region, uint32_t module,
                            uint64_t address)
{
    uint64_t key = lwp_hash_mix(lwp_hash_mix(object, region), lwp_hash_mix(module, address));
    for (;; key++) {
        uint32_t *at = lwp_map_at(profile->stream_index, key);
        if (*at == LWP_MAP_NONE) {
            if (profile->stream_count >= STREAMS_MAX) {
                profile->streams_refused++;
                return LWP_NONE;
            }
            *at = (uint32_t)profile->stream_count;
            LWP_GROW(&profile->streams, profile->stream_count, &profile->stream_room);
            profile->streams[profile->stream_count++] = (struct lwp_stream){
                .object = object, .region = region, .module = module, .address = address, .next_of_object = LWP_NONE};
            return (uint32_t)profile->stream_count - 1;
        }
        const struct lwp_stream *stream = &profile->streams[*at];
        if (stream->object == object && stream->region == region && stream->module == module &&
            stream->address == address)
            return *at;
    }
}

uint32_t lwp_streams_add(struct lwp_profile *profile, uint32_t object, uint32_t region, uint32_t module,
                         uint64_t address, const struct lwps_access *access, uint64_t offset, double weight)
{
    uint32_t index = stream_find(profile, object, region, module, address);
    if (index == LWP_NONE)
        return index;
    struct lwp_stream *stream = &profile->streams[index];
    if (access->bytes > stream->bytes)
        stream->bytes = access->bytes;
    stream->vector |= (access->flags & LWPS_ACCESS_VECTOR) != 0;
    stream->loads += (access->flags & LWPS_ACCESS_LOAD) != 0;
    stream->stores += (access->flags & LWPS_ACCESS_STORE) != 0;
    stream->accesses++;
    if (access->flags & LWPS_ACCESS_WEIGHTED)
        lwp_tally_add(&stream->weight, weight);
    bool fair = access->source == LWPS_SOURCE_DITHERED || access->source == LWPS_SOURCE_TRACE;
    stream_keep(profile, fair ? &stream->fair : &stream->biased, offset);
    return index;
}

void lwp_streams_distance(struct lwp_profile *profile, uint32_t stream, uint64_t distance)
{
    int bucket = distance ? 64 - __builtin_clzll(distance) : 0; /* distance < 2^bucket */
    if (bucket >= LWP_DISTANCES)
        bucket = LWP_DISTANCES - 1;
    uint16_t *count = &profile->streams[stream].distances[bucket];
    if (*count < UINT16_MAX)
        ++*count;
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
