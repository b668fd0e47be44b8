/* From traced accesses to samples: the cache model gives each its cycles, and every so many cycles one is written. */
#ifndef LWP_EXACT_SAMPLING_H
#define LWP_EXACT_SAMPLING_H

#include "collector/exact/trace.h"
#include "format/record.h"

#include <stdbool.h>

/* `caches`: geometry (base/cache.h); false: not understood. */
bool lwp_sampling_start(const char *caches);
/* Superblocks that the running thread ran: their words of the trace (trace.h). */
void lwp_sampling_words(const ULong *begin, const ULong *end);
/* Whose memory an access of the running thread is, as far as only the tool knows: its home, where that is a stack's with
 * a node of the call tree in place of a context. */
void lwp_sampling_place(struct lwps_access *access);
/* The sample under way is written as it is, where what comes next does not follow it. */
void lwp_sampling_flush(void);

#endif
