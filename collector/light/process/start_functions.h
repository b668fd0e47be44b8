/* What was seen of threads by the function they start with: whether they all end soon. Where they do, most of them are made without lwp,
 * as even to wait for being set up (late_threads.h) takes two system calls. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_START_FUNCTIONS_H
#define LWP_COLLECTOR_LIGHT_PROCESS_START_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_start_function;

/* Of `run`. NULL: there are too many. Lives as long as the process. */
struct lwp_start_function *lwp_start_function(const void *run);

/* A thread of it was seen to end soon, or to run long. NULL: nothing. */
void lwp_start_function_ended(struct lwp_start_function *function);
void lwp_start_function_runs_long(struct lwp_start_function *function);

/* Whether many were seen, and each ended soon since one ran long. */
bool lwp_start_function_ends_soon(const struct lwp_start_function *function);

void lwp_start_functions_forget(void); /* in the child of a fork */

#endif
