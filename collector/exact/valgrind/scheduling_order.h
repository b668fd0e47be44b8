/* A fixed scheduling order of the program's threads. Valgrind runs one at a time, and which is next depends on when the kernel
 * lets each of them ask for its lock. Here the lock is passed on only when every thread either waits for it or sleeps in the
 * kernel, and then round robin by thread number. A time slice ends after as many superblocks as Valgrind grants, or with a
 * system call that may block.
 *
 * A program then does the same each time as far as its threads wait only for each other. External events (clocks, timeouts,
 * signals, other processes, files that others write) still come at a time of their own. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_SCHEDULING_ORDER_H
#define LWP_COLLECTOR_EXACT_VALGRIND_SCHEDULING_ORDER_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>

/* A thread is about to be created; the running one ends, or could not be created. */
void lwp_schedule_created(ThreadId thread);
void lwp_schedule_ends(ThreadId thread);

/* The running thread is about to make a system call. True: when it ends depends on the clock or on another process, and so
 * does the scheduling order from then on. */
bool lwp_schedule_call(UInt number, const UWord *arguments);

#endif
