/* All threads of the program: they begin, take turns, end. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_THREADS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_THREADS_H

/* `leave`: called before the running thread stops running or ends; `enter`: after another one runs. */
void lwp_threads_start(void (*leave)(void), void (*enter)(void));
/* All files are closed. */
void lwp_threads_finish(void);
/* In the child of a fork only the running thread goes on, with a file of its own. */
void lwp_threads_abandon(void);

#endif
