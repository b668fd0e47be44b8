/* Streams while samples are read: what one reading thread counts of each instruction on each object. */
#ifndef LWP_ANALYSIS_PROFILE_STREAM_TABLE_H
#define LWP_ANALYSIS_PROFILE_STREAM_TABLE_H

#include "analysis/profile/profile.h"
#include "base/order.h"
#include "format/record.h"

/* One cache line with all that nearly every access needs ... */
struct lwp_stream_count {
    uint32_t object, part, location; /* part, location: of the instruction (locations.h) */
    uint32_t common;                 /* function-level context all its accesses share */
    uint64_t first_ns, last_ns;
    uint32_t accesses, loads, stores; /* in addition to those in lwp_stream_cold */
    uint16_t bytes;
    bool vector;
    uint8_t fair; /* accesses that are; 255: or more */
    struct lwp_reservoir offsets;
    bool has_cold;  /* something is in its struct lwp_stream_cold */
    bool moves;     /* it was seen at two addresses */
    uint16_t place; /* of its first address, a hash */
} __attribute__((aligned(64)));

/* ... and the cold part, which few streams have: no page of it exists before it is written. */
struct lwp_stream_cold {
    uint16_t distances[LWP_DISTANCES];
    uint64_t accesses, loads, stores; /* what was spilled */
} __attribute__((aligned(64)));

/* Of the hash table. */
struct lwp_stream_slot {
    uint32_t tag, stream_1; /* tag: of its hash; the stream's number plus one, 0: empty */
};

/* Start from zero. */
struct lwp_stream_table {
    struct lwp_stream_count *counts;
    struct lwp_sum *stalls; /* weights */
    struct lwp_stream_cold *colds;
    size_t count, count_room, stall_room, cold_room;
    struct lwp_stream_slot *slots; /* by a hash of what a stream is of */
    size_t slot_count;             /* a power of two, or 0 */
    struct lwp_reservoir_pool offsets;
    uint64_t refused; /* accesses counted on their object only: too many streams */
};

void lwp_stream_table_free(struct lwp_stream_table *table);

/* The stream of an access. */
struct lwp_stream_key {
    uint32_t object, part, location;
};

static inline uint64_t lwp_stream_hash(const struct lwp_stream_key *key)
{
    uint64_t x = ((uint64_t)key->object << 32 | key->location) * 0x9e3779b97f4a7c15u ^ (uint64_t)key->part * 0xd6e8feb86659fd93u;
    return (x ^ x >> 32) * 0x94d049bb133111ebu;
}

/* The part of the hash that does not choose the slot. */
static inline uint32_t lwp_stream_tag(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static inline bool lwp_stream_is(const struct lwp_stream_count *count, const struct lwp_stream_key *key)
{
    return count->object == key->object && count->location == key->location && count->part == key->part;
}

/* The stream, made when there is none; one without instruction and part when there are too many. */
uint32_t lwp_stream_table_at(struct lwp_stream_table *table, const struct lwp_stream_key *key, uint64_t hash);

/* An access without its weight. */
struct lwp_stream_access {
    uint64_t offset;
    uint32_t rank; /* lwp_stream_rank */
    uint16_t bytes;
    uint8_t flags; /* as in struct lwps_access */
};

/* Whether an access was sampled without bias. One with a cost was chosen by the time it took. */
static inline bool lwp_stream_is_fair(const struct lwps_access *access)
{
    return (access->source == LWPS_SOURCE_DITHERED || access->source == LWPS_SOURCE_TRACE) && !(access->flags & LWPS_ACCESS_WEIGHTED);
}

/* Decides whether its offset is kept (reservoir.h): fair accesses come before all others. */
static inline uint32_t lwp_stream_rank(uint64_t random, bool fair)
{
    return (uint32_t)random >> 1 | (fair ? 0 : (uint32_t)1 << 31);
}

static inline bool lwp_stream_rank_is_fair(uint32_t rank)
{
    return rank >> 31 == 0;
}

/* Three steps before an access is counted, for callers that know many accesses ahead: the cache misses of all of them overlap. */
static inline struct lwp_stream_slot *lwp_stream_table_slot(const struct lwp_stream_table *table, uint64_t hash)
{
    return &table->slots[hash & (table->slot_count - 1)];
}

static inline void lwp_stream_table_soon(const struct lwp_stream_table *table, uint64_t hash)
{
    if (table->slot_count)
        __builtin_prefetch(lwp_stream_table_slot(table, hash));
}

/* Returns the stream it probably is, whose memory is still on its way, or LWP_NONE. */
static inline uint32_t lwp_stream_table_next(const struct lwp_stream_table *table, uint64_t hash, bool weighted)
{
    if (!table->slot_count)
        return LWP_NONE;
    const struct lwp_stream_slot *slot = lwp_stream_table_slot(table, hash);
    while (slot->stream_1 && slot->tag != lwp_stream_tag(hash))
        slot = slot + 1 < table->slots + table->slot_count ? slot + 1 : table->slots;
    if (!slot->stream_1)
        return LWP_NONE;
    __builtin_prefetch(&table->counts[slot->stream_1 - 1]);
    if (weighted)
        __builtin_prefetch(&table->stalls[slot->stream_1 - 1]);
    return slot->stream_1 - 1;
}

static inline void lwp_stream_table_expect(const struct lwp_stream_table *table, uint32_t stream, uint32_t rank)
{
    lwp_reservoir_prefetch(&table->offsets, &table->counts[stream].offsets, rank);
}

/* One of the streams. */
struct lwp_stream_part {
    struct lwp_stream_count *count;
    struct lwp_sum *stall;
    struct lwp_stream_cold *cold;
};

/* From so many accesses on the counts move to the cold part, which has wider ones. */
static const uint32_t LWP_STREAM_COUNTED = 1u << 31;
void lwp_stream_spill(const struct lwp_stream_part *part);

static inline uint64_t lwp_stream_accesses(const struct lwp_stream_part *part)
{
    return part->count->accesses + (part->count->has_cold ? part->cold->accesses : 0);
}

static inline void lwp_stream_table_count(struct lwp_stream_table *table, uint32_t stream, const struct lwp_stream_access *access)
{
    struct lwp_stream_count *count = &table->counts[stream];
    LWP_RAISE(count->bytes, access->bytes);
    count->vector |= (access->flags & LWPS_ACCESS_VECTOR) != 0;
    count->loads += (access->flags & LWPS_ACCESS_LOAD) != 0;
    count->stores += (access->flags & LWPS_ACCESS_STORE) != 0;
    if (++count->accesses == LWP_STREAM_COUNTED)
        lwp_stream_spill(&(struct lwp_stream_part){count, NULL, &table->colds[stream]});
    count->fair += lwp_stream_rank_is_fair(access->rank) && count->fair < UINT8_MAX;
    lwp_reservoir_add(&table->offsets, &count->offsets, access->rank, access->offset);
}

/* After the access was counted. */
static inline void lwp_stream_table_seen(struct lwp_stream_table *table, uint32_t stream, uint64_t address)
{
    struct lwp_stream_count *count = &table->counts[stream];
    const uint16_t place = (uint16_t)(address * 0x9e3779b97f4a7c15u >> 48);
    if (!count->has_cold && count->accesses == 1)
        count->place = place;
    count->moves |= count->place != place;
}

/* How far two accesses of a sample are apart tells how the loop walks, but not from what stays where it is: a length before the elements.
 */
static inline bool lwp_stream_table_both_walk(const struct lwp_stream_table *table, uint32_t stream, uint32_t other)
{
    return stream == other || (table->counts[stream].moves && table->counts[other].moves);
}

/* The distance of two accesses of one sample to one object. */
static inline void lwp_stream_table_apart(struct lwp_stream_table *table, uint32_t stream, uint64_t distance)
{
    struct lwp_stream_cold *cold = &table->colds[stream];
    table->counts[stream].has_cold = true;
    int bucket = distance ? 64 - __builtin_clzll(distance) : 0; /* distance < 2^bucket */
    if (bucket >= LWP_DISTANCES)
        bucket = LWP_DISTANCES - 1;
    if (cold->distances[bucket] < UINT16_MAX)
        cold->distances[bucket]++;
}

static inline struct lwp_stream_part lwp_stream_part(const struct lwp_stream_table *table, uint32_t stream)
{
    return (struct lwp_stream_part){&table->counts[stream], &table->stalls[stream], &table->colds[stream]};
}

/* Adds another one, except for the common context and the offsets. */
void lwp_stream_join(const struct lwp_stream_part *into, const struct lwp_stream_part *other);

/* Adds a stream to a table; `offsets`: what lwp_reservoir_gather says of it. */
void lwp_stream_table_merge(struct lwp_stream_table *table, const struct lwp_stream_part *other, const struct lwp_reservoir_items *offsets,
                            const struct lwp_profile *profile);

/* All that was counted, except for offsets and distances; does not renumber. */
void lwp_stream_finish(const struct lwp_stream_part *part, struct lwp_stream *stream);

/* Some of the offsets of one or several parts; `kept->items` has room for LWP_RESERVOIR. */
void lwp_stream_offsets(struct lwp_reservoir_items *items, struct lwp_offsets *kept);

#endif
