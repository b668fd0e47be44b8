/* The program's own hardware breakpoints, which come before ours. */
#ifndef LWP_LIGHT_OWN_BREAKPOINTS_H
#define LWP_LIGHT_OWN_BREAKPOINTS_H

void lwp_own_breakpoints_start(void);

/* The C library's `syscall`, behind ours. */
extern long (*lwp_own_syscall)(long number, ...) __attribute__((visibility("hidden")));

#endif
