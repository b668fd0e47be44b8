/* From traced accesses to samples: the cache model gives each its cycles, and every so many cycles one is written. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_SAMPLING_H
#define LWP_COLLECTOR_EXACT_TRACE_SAMPLING_H

#include "base/cache.h"
#include "collector/exact/program/trace_words.h"
#include "format/record.h"

#include <stdbool.h>

enum { LWP_SAMPLING_HALVES = 2 }; /* of a cycle */

/* `caches`: geometry (base/cache.h); false: not understood. */
bool lwp_sampling_start(const char *caches);
/* If filtered (filter.h): the last superblock is one that translated code does not count. `open`: it is of the trace. */
void lwp_sampling_filtered(bool open);
/* What it counted is of the trace, or is not. */
void lwp_sampling_look(bool open);

/* Lines, however short, that so many bytes are of at most. */
static inline uint32_t lwp_sampling_lines_most(uint32_t bytes)
{
    return bytes / LWP_CACHE_LINE_LEAST + 2;
}

/* Half cycles of a superblock left after so many accesses, all of which hit. */
static inline uint64_t lwp_sampling_halves(const struct lwp_trace_block *block, uint64_t passed)
{
    return block->instructions + passed * LWP_CACHE_L1_CYCLES * LWP_SAMPLING_HALVES;
}

/* Whose memory an access of the running thread is, as far as only the tool knows: its home, where that is a stack's with
 * a node of the call tree in place of a context. */
void lwp_sampling_attribute(struct lwps_access *access);
/* The sample under way is written as it is, where what comes next does not follow it. */
void lwp_sampling_flush(void);

#endif
