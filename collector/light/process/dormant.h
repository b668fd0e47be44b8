/* Processes that are short, and children that only execute another program, cost next to nothing: a process that another one of the run
 * has started, or that was forked, sets nothing up before it has run for DORMANT_NS of CPU time, has a second thread, or has
 * allocated much (heap/early.h), and not all that run longer are set up where there are many (own/run.c). */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_DORMANT_H
#define LWP_COLLECTOR_LIGHT_PROCESS_DORMANT_H

#include <stdbool.h>

/* Whether what runs here can be begun later, by a signal. Of a new process image. */
bool lwp_dormant_is_possible(void);

/* Until `wake` is called, on a stack of lwp's. False: it has to be now. */
bool lwp_dormant_begin(void (*wake)(void *));

/* What lwp did to begin is over. */
void lwp_dormant_begun(void);

/* Not for handlers: recording begins now, if it has not. */
void lwp_dormant_wake(void);

/* It never begins. `ends`: the process is about to end, which also ends what interrupts it. False: it has begun, or is not to. */
bool lwp_dormant_end(bool ends);

/* A fork begins and ends: no signal wakes in between. The child is dormant if its parent was, false: it was not. */
void lwp_dormant_before_fork(void);
void lwp_dormant_in_parent(void);
bool lwp_dormant_in_child(void);

/* A signal of ours came. False: it is not for this. */
bool lwp_dormant_tick(const void *ucontext);

#endif
