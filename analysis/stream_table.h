/* Streams while samples come in: what one reading thread counts of each instruction on each object. */
#ifndef LWP_ANALYSIS_STREAM_TABLE_H
#define LWP_ANALYSIS_STREAM_TABLE_H

#include "analysis/profile.h"
#include "format/record.h"

/* One cache line with all that nearly every access needs ... */
struct lwp_stream_count {
    uint32_t object, part, spot; /* part, spot: of the instruction (spots.h) */
    uint32_t common;             /* function-level context all its accesses share */
    uint64_t first_ns, last_ns;
    uint32_t accesses, loads, stores; /* besides those in lwp_stream_rest */
    uint16_t bytes;
    bool vector;
    struct lwp_reservoir fair; /* offsets of dithered accesses: no bias to line starts */
} __attribute__((aligned(64)));

/* ... and others with what some need. */
struct lwp_stream_rest {
    struct lwp_sum sum;
    struct lwp_reservoir biased; /* of stalled ones */
    uint64_t biased_seen;
    uint16_t distances[LWP_DISTANCES] __attribute__((aligned(64)));
    uint64_t accesses, loads, stores;
} __attribute__((aligned(64)));

/* Start from zero. */
struct lwp_stream_table {
    struct lwp_stream_count *counts;
    struct lwp_stream_rest *rests;
    size_t count, count_room, rest_room;
    struct lwp_stream_slot *slots; /* by a hash of what a stream is of */
    size_t slot_count;             /* a power of two, or 0 */
    struct lwp_reservoir_pool offsets;
    uint64_t refused; /* accesses counted on their object only, for want of room */
};

void lwp_stream_table_free(struct lwp_stream_table *table);

/* What an access is of, and a hash of that. */
struct lwp_stream_key {
    uint32_t object, part, spot;
    uint64_t hash;
};

static inline void lwp_stream_key(struct lwp_stream_key *key, uint32_t object, uint32_t part, uint32_t spot)
{
    uint64_t x = ((uint64_t)object << 32 | spot) * 0x9e3779b97f4a7c15u ^ (uint64_t)part * 0xd6e8feb86659fd93u;
    key->object = object;
    key->part = part;
    key->spot = spot;
    key->hash = (x ^ x >> 32) * 0x94d049bb133111ebu;
}

/* The stream, made when there is none; one without instruction and part when there are too many. */
uint32_t lwp_stream_table_at(struct lwp_stream_table *table, const struct lwp_stream_key *key);

/* An access without its weight. `rank` decides whether its offset is kept (reservoir.h). */
struct lwp_stream_access {
    uint64_t offset;
    uint32_t rank;
    uint16_t bytes;
    uint8_t flags, source; /* as in struct lwps_access */
};

/* Three steps before an access is counted, for one who knows many accesses ahead: memory is slow, and waiting for all
 * of them at once takes little longer than for one. The second returns the stream it probably is, not to be looked at
 * yet, or LWP_NONE. */
void lwp_stream_table_soon(const struct lwp_stream_table *table, const struct lwp_stream_key *key);
uint32_t lwp_stream_table_next(const struct lwp_stream_table *table, const struct lwp_stream_key *key,
                               const struct lwp_stream_access *access);
void lwp_stream_table_expect(const struct lwp_stream_table *table, uint32_t stream,
                             const struct lwp_stream_access *access);
void lwp_stream_table_count(struct lwp_stream_table *table, uint32_t stream, const struct lwp_stream_access *access);

/* Whether an access of this source is one of many with equal chances. */
static inline bool lwp_stream_is_fair(uint8_t source)
{
    return source == LWPS_SOURCE_DITHERED || source == LWPS_SOURCE_TRACE;
}

/* Two accesses of one sample to one object lay this far apart. */
static inline void lwp_stream_apart(struct lwp_stream_rest *rest, uint64_t distance)
{
    int bucket = distance ? 64 - __builtin_clzll(distance) : 0; /* distance < 2^bucket */
    if (bucket >= LWP_DISTANCES)
        bucket = LWP_DISTANCES - 1;
    if (rest->distances[bucket] < UINT16_MAX)
        rest->distances[bucket]++;
}

/* Adds another stream, but for the common context. */
void lwp_stream_join(struct lwp_reservoir_pool *pool, struct lwp_stream_count *count, struct lwp_stream_rest *rest,
                     const struct lwp_stream_count *other_count, const struct lwp_stream_rest *other_rest);

/* All that was counted, with numbers as they are; stream->fair.offsets and stream->biased.offsets are the caller's
 * room for LWP_RESERVOIR offsets each, or where the reservoirs have theirs. */
void lwp_stream_finish(const struct lwp_stream_count *count, const struct lwp_stream_rest *rest,
                       struct lwp_stream *stream);

#endif
