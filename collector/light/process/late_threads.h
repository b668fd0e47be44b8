/* Threads that are not set up when they begin. To set one up costs some 50 us with its end, more than many live for. While the run has
 * most of its advance each thread is; then only so many that it costs a part of the share, each with the same known chance. The others wait
 * in a table, at one or two microseconds each. Those that turn out to run long are set up when a thread that is sampled, or one that makes
 * threads, looks at the table; until then the chosen ones stand for them (Horvitz and Thompson: one over the chance). Of functions whose
 * threads all end soon (start_functions.h) most do not even wait, but are made without lwp: those that wait stand for them, too. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_LATE_THREADS_H
#define LWP_COLLECTOR_LIGHT_PROCESS_LATE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_start_function;

/* What was drawn for a new thread. */
struct lwp_late_draw {
    bool without;      /* it is made without lwp */
    double stands_for; /* threads for which it does if it is set up at once; 0: it is not chosen, and waits */
    double of_long;    /* of those that run long, if it does: one or more */
    struct lwp_start_function *function;
};

/* Not for handlers. `set_up`: sets the calling thread up, also in a handler where no lock is held, to stand for so many that run long. */
void lwp_late_threads_start(void (*set_up)(double of_long));
void lwp_late_threads_after_fork(void); /* in the child: there are none */

/* What setting a thread up has cost, or ending one; and what making and ending those took that were not set up. */
void lwp_late_threads_charge(uint64_t ns, bool set_up);
void lwp_late_threads_charge_waiting(uint64_t ns);

/* By the thread that makes another, which starts with `run`. `may_be_without`: nothing else speaks against that. */
struct lwp_late_draw lwp_late_threads_draw(const void *run, bool may_be_without);

/* How many threads were made without lwp so far. */
unsigned lwp_late_threads_without(void);

/* The calling thread waits from now on. False: it has to be set up. */
bool lwp_late_threads_wait(const struct lwp_late_draw *drawn);
bool lwp_late_threads_end(void); /* the calling thread ends. False: it did not wait */

/* In a handler: a signal of ours came. False: the calling thread does not wait. */
bool lwp_late_threads_tick(const void *ucontext);

/* Sets up those that have waited long. */
void lwp_late_threads_look(void);

unsigned lwp_late_threads_left_out(void); /* that ended without having been set up */

#endif
