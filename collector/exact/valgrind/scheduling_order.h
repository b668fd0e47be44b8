/* Which of the program's threads runs: Valgrind runs one at a time, and who is next depends on when the kernel lets each of
 * them come for its lock. Here the lock is given away only when every thread either waits for it or sleeps in the kernel, so
 * that who wants it does not depend on how fast they came, and then in turn, by the order of their numbers. A thread's turn
 * ends after as many superblocks as Valgrind gives it, or with a system call that may block.
 *
 * What a program does is then the same each time as far as its threads wait for each other. What comes from outside at a
 * time of its own (clocks, timeouts, signals, other processes, files that others write) still comes when it comes. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_SCHEDULING_ORDER_H
#define LWP_COLLECTOR_EXACT_VALGRIND_SCHEDULING_ORDER_H

#include "collector/exact/valgrind/tool.h"

/* A thread is about to be made; the running one ends, or could not be made. */
void lwp_turns_made(ThreadId thread);
void lwp_turns_ends(ThreadId thread);

/* The running thread is about to make a system call. */
void lwp_turns_call(UInt number, const UWord *arguments);

#endif
