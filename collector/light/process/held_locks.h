/* Whether what a signal interrupted may hold a lock that setting something up needs, and that would therefore never be free. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_HELD_LOCKS_H
#define LWP_COLLECTOR_LIGHT_PROCESS_HELD_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Not for handlers. False: it cannot be known here. */
bool lwp_held_locks_start(void);

/* Whether it is code of the loader, of the C library. */
bool lwp_held_locks_of_loader(uint64_t ip);
bool lwp_held_locks_of_libc(uint64_t ip);

/* The loader's or the allocator's; or a fork is under way. */
bool lwp_held_locks_are(const ucontext_t *context);

void lwp_held_locks_fork(bool under_way);

#endif
