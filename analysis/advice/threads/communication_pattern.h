/* What a communication matrix looks like: the names that parallel programming has for it. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_COMMUNICATION_PATTERN_H
#define LWP_ANALYSIS_ADVICE_THREADS_COMMUNICATION_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* `first`: true communication, row: writer. NULL: none of the known ones, or fewer than three threads communicate.
 * The order of the threads does not matter. */
const char *lwp_communication_pattern(const uint64_t *first, size_t threads);

#endif
