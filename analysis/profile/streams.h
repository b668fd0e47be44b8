/* Streams: one instruction on one object. */
#ifndef LWP_ANALYSIS_PROFILE_STREAMS_H
#define LWP_ANALYSIS_PROFILE_STREAMS_H

#include "analysis/profile/profile.h"

/* Gives a thread's accesses to the stack of another one, as workers' to what their caller shares among them, to the stacks. Before
 * lwp_streams_link. */
void lwp_streams_on_stacks(struct lwp_profile *profile, uint32_t unowned);

/* Gives accesses that hit unrecorded memory to the pool that nearly all other accesses of the same instruction hit.
 * Returns the weight moved. Before lwp_streams_link. */
double lwp_streams_adopt(struct lwp_profile *profile, uint32_t unowned);

/* Gives the stream with all that was counted of it to another object. It is in no chain then (lwp_streams_link). */
void lwp_stream_move(struct lwp_profile *profile, struct lwp_stream *stream, uint32_t to);

/* Chains each object's streams (profile->object_streams, next_of_object), once all samples are in. */
void lwp_streams_link(struct lwp_profile *profile);

/* Hardware samples and perf's files name an instruction and an address, but not the width of the access nor, at times, whether it
 * was a load or a store. Decodes the instruction where they are missing. */
void lwp_streams_decode(struct lwp_profile *profile);

/* All streams of an object. */
#define LWP_STREAMS_OF(profile, object, stream)                                                                                            \
    for (const struct lwp_stream *stream = lwp_streams_at(profile, (profile)->object_streams[object]); stream;                             \
         stream = lwp_streams_at(profile, stream->next_of_object))
static inline const struct lwp_stream *lwp_streams_at(const struct lwp_profile *profile, uint32_t index)
{
    return index == LWP_NONE ? NULL : &profile->streams[index];
}

/* The offsets to judge by: the unbiased ones when there are enough, else all. Returns their number. */
size_t lwp_streams_offsets(const struct lwp_stream *stream, uint64_t *offsets, size_t room);

#endif
