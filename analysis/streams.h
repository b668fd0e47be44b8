/* Streams: one instruction on one object. */
#ifndef LWP_ANALYSIS_STREAMS_H
#define LWP_ANALYSIS_STREAMS_H

#include "analysis/profile.h"
#include "base/table.h"
#include "format/record.h"

/* A table of streams: the profile's, or that of one thread which reads samples. Start from zero. */
struct lwp_streams {
    struct lwp_stream *items;
    size_t count, room;
    struct lwp_table index;
    struct lwp_reservoir_pool offsets;
    uint64_t refused; /* accesses counted on their object only, for want of room */
};

void lwp_streams_free(struct lwp_streams *streams);

/* The stream of an instruction (spots.h) on an object, made when there is none; one without instruction and region
 * when there are too many. Valid until the next call. */
struct lwp_stream *lwp_streams_at(struct lwp_streams *streams, uint32_t object, uint32_t region, uint32_t spot);

/* The two steps before lwp_streams_at for one who knows many accesses ahead: memory is slow, and waiting for all of
 * them at once takes little longer than for one. The second returns the stream, which is not to be looked at yet, or
 * NULL. */
void lwp_streams_soon(const struct lwp_streams *streams, uint32_t object, uint32_t region, uint32_t spot);
uint32_t lwp_streams_next(const struct lwp_streams *streams, uint32_t object, uint32_t region, uint32_t spot);

/* An access without its weight. `rank` decides whether its offset is kept (reservoir.h). */
struct lwp_streams_access {
    uint64_t offset;
    uint32_t rank;
    uint16_t bytes;
    uint8_t flags, source; /* as in struct lwps_access */
};
void lwp_streams_expect(const struct lwp_stream *stream, const struct lwp_streams_access *access); /* the third step */
void lwp_streams_count(struct lwp_streams *streams, struct lwp_stream *stream, const struct lwp_streams_access *access);

/* Two accesses of one sample to one object lay this far apart. */
void lwp_streams_apart(struct lwp_stream *stream, uint64_t distance);

/* Adds what `from` counted to `into`, a stream of `streams`, but for the common context. What `from` holds is either
 * there already or will be taken there (lwp_reservoir_pool_take). */
void lwp_streams_join(struct lwp_streams *streams, struct lwp_stream *into, const struct lwp_stream *from);

/* The same for the profile's own table, weight included; returns the stream. */
uint32_t lwp_streams_add(struct lwp_profile *profile, uint32_t object, uint32_t region, uint32_t module,
                         uint64_t address, const struct lwps_access *access, uint64_t offset, double weight);
void lwp_streams_distance(struct lwp_profile *profile, uint32_t stream, uint64_t distance);

/* Gives accesses that hit unrecorded memory to the pool that nearly all other accesses of the same instruction hit.
 * Returns the weight moved. Before lwp_streams_link. */
double lwp_streams_adopt(struct lwp_profile *profile, uint32_t unowned);

/* Chains each object's streams (profile->object_streams, next_of_object), once all samples are in. */
void lwp_streams_link(struct lwp_profile *profile);

/* The offsets to judge by: the unbiased ones when there are enough, else all. Returns their number. */
size_t lwp_streams_offsets(const struct lwp_stream *stream, uint64_t *offsets, size_t room);

#endif
