/* All threads of the process, each with its file and its timer. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_THREADS_H
#define LWP_COLLECTOR_LIGHT_PROCESS_THREADS_H

#include "collector/light/own/thread.h"

void lwp_threads_start(void);  /* every thread that exists now */
bool lwp_threads_alone(void);  /* there is no other thread than the caller */
void lwp_threads_finish(void); /* stops all, closes their files */
void lwp_threads_after_fork(void); /* in the child: forgets the parent's, starts the one that is left */

struct lwp_thread_totals {
    uint64_t samples, samples_with_address, samples_lost, own_ns;
};
void lwp_threads_totals(struct lwp_thread_totals *totals);

#endif
