/* How long does malloc take for a block on this machine? */
#ifndef LWP_ANALYSIS_MEASURE_BLOCKS_H
#define LWP_ANALYSIS_MEASURE_BLOCKS_H

#include "analysis/statistics/share.h"

#include <stdint.h>

/* Nanoseconds of CPU time of malloc() for a block of so many bytes, one after the other out of pages that are there already: the median of
 * several series, and their quartiles; timed once for each size. All 0: not known (too large a block, or no glibc). */
struct lwp_share lwp_measure_block_ns(uint64_t bytes);

#endif
