/* From traced accesses to samples: the cache model gives each its cycles, and every so many cycles one is written. */
#ifndef LWP_EXACT_SAMPLING_H
#define LWP_EXACT_SAMPLING_H

#include "collector/exact/trace.h"
#include "format/record.h"

#include <stdbool.h>

/* `caches`: geometry (base/cache.h); false: not understood. */
bool lwp_sampling_start(const char *caches);
/* A superblock ran in the running thread: the addresses of its accesses, 0: it did not happen, filled up
 * with 0 to a multiple of LWP_TRACE_ALIGNED. */
void lwp_sampling_block(const struct lwp_trace_block *block, const ULong *addresses);
/* Whether lwp_sampling_expect() is worth its time. */
bool lwp_sampling_is_far(void);
/* The superblock whose words begin at `words` will follow soon; returns where the next one's begin. */
const ULong *lwp_sampling_expect(const ULong *words);
/* Whose memory an access of the running thread is, as far as only the tool knows: its home, where that is a stack's with
 * a node of the call tree in place of a context. */
void lwp_sampling_place(struct lwps_access *access);
/* The sample under way is written as it is, where what comes next does not follow it. */
void lwp_sampling_flush(void);

#endif
