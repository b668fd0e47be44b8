/* System calls that wait for a time, for files or for other processes. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_WAITING_CALLS_H
#define LWP_COLLECTOR_EXACT_VALGRIND_WAITING_CALLS_H

#include <stdbool.h>
#include <stdint.h>

bool lwp_call_waits(uint32_t number);

#endif
