/* Random bytes that the C library draws for itself: the same in each run. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_RANDOM_BYTES_H
#define LWP_COLLECTOR_EXACT_PROGRAM_RANDOM_BYTES_H

#include "collector/exact/valgrind/tool.h"

void lwp_random_bytes_start(void);

void lwp_random_bytes_after_call(ThreadId id, UInt number, const UWord *arguments, SysRes result);

#endif
