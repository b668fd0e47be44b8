/* Streams: one instruction on one object. */
#ifndef LWP_ANALYSIS_PROFILE_STREAMS_H
#define LWP_ANALYSIS_PROFILE_STREAMS_H

#include "analysis/profile/profile.h"
#include "format/record.h"

/* Counts one access in a profile that is made by hand; returns the stream. */
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
