/* Whether what was interrupted may hold a lock that setting something up needs, and that would therefore never be free, or was changing
 * what that asks for: the loader's list of modules, the allocator's. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_HELD_LOCKS_H
#define LWP_COLLECTOR_LIGHT_PROCESS_HELD_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Not for handlers. False: it cannot be known here. */
bool lwp_held_locks_start(void);

/* Whether it is code of the loader, or of the C library. */
bool lwp_held_locks_in(uint64_t ip);

/* For handlers. So is lwp's own code, and a fork that is under way. */
bool lwp_held_locks_are(const ucontext_t *context);

void lwp_held_locks_fork(bool under_way);

#endif
