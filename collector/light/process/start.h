/* Start and end of collecting, in one process image and in its threads. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_START_H
#define LWP_COLLECTOR_LIGHT_PROCESS_START_H

#include <stdbool.h>
#include <stdint.h>

/* Ends recording in this process and in what it will execute; the note says why. Not for handlers. */
void lwp_process_leave(const char *note);

/* All threads of the process, each with its file and its timer. */
void lwp_threads_start(void);  /* every thread that exists now */
bool lwp_threads_alone(void);  /* there is no other thread than the caller */
void lwp_threads_finish(void); /* stops all, closes their files */
void lwp_threads_after_fork(void); /* in the child: forgets the parent's, starts the one that is left */

struct lwp_thread_totals {
    uint64_t samples, samples_with_address, samples_lost, own_ns;
};
void lwp_threads_totals(struct lwp_thread_totals *totals);

#endif
