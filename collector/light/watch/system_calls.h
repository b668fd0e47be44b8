/* System calls that use the program's memory without a breakpoint seeing it. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_SYSTEM_CALLS_H
#define LWP_COLLECTOR_LIGHT_WATCH_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Once, after lwp_debug_init. */
void lwp_system_calls_start(void);

/* Code whose system calls are not seen: the C library's own, where the kernel's accesses are not. */
bool lwp_system_calls_hide(uint64_t ip);

/* How many calls the calling thread has made that use memory nobody reports: any of it (counted_calls.c). */
extern __thread uint32_t lwp_counted_calls __attribute__((visibility("hidden")));

#endif
