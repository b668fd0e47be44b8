/* How fast does the traced program run without Valgrind? Copies of it run natively from here and there to the next system call; the
 * instructions up to there are counted when the program itself comes to it. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_SPEED_H
#define LWP_COLLECTOR_EXACT_TRACE_SPEED_H

#include "collector/exact/valgrind/tool.h"

/* A thread is about to run. */
void lwp_speed_look(ThreadId id);
/* A system call is about to be done. */
void lwp_speed_call(ThreadId id, UInt number, const UWord *arguments);

#endif
