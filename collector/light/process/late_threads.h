/* Threads that are not set up when they begin. To set one up costs some 50 us with its end, more than many live for. While the run has
 * most of its advance each thread is; then only so many that it costs a part of the share, each with the same known chance. The others wait
 * in a table and cost next to nothing. Those that turn out to run long are set up when a thread that is sampled, or one that makes threads,
 * looks at the table; until then the chosen ones stand for them (Horvitz and Thompson: one over the chance). */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_LATE_THREADS_H
#define LWP_COLLECTOR_LIGHT_PROCESS_LATE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Not for handlers. `set_up`: sets the calling thread up, also in a handler where no lock is held. */
void lwp_late_threads_start(void (*set_up)(void));
void lwp_late_threads_after_fork(void); /* in the child: there are none */

/* What setting a thread up has cost, or ending one. */
void lwp_late_threads_charge(uint64_t ns, bool set_up);

/* One that was set up at once ends, having run for `ran_ns` of CPU time. */
void lwp_late_threads_ended(uint64_t ran_ns);

/* By the thread that makes another: how many threads that one stands for, if it is set up at once. 0: it is not chosen. */
double lwp_late_threads_draw(void);

/* The calling thread waits from now on. False: it has to be set up. */
bool lwp_late_threads_wait(void);
bool lwp_late_threads_end(void); /* the calling thread ends. False: it did not wait */

/* In a handler: a signal of ours came. False: the calling thread does not wait. */
bool lwp_late_threads_tick(const void *ucontext);

/* Sets up those that have waited long. */
void lwp_late_threads_look(void);

unsigned lwp_late_threads_left_out(void); /* that ended without having been set up */

#endif
