/* The C library's `syscall`, behind ours. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_REAL_SYSCALL_H
#define LWP_COLLECTOR_LIGHT_OWN_REAL_SYSCALL_H

extern long (*lwp_next_syscall)(long number, ...) __attribute__((visibility("hidden")));

void lwp_next_syscall_start(void);

#endif
