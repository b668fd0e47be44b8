/* Whether a call came from this library and not from the program. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_OURS_H
#define LWP_COLLECTOR_LIGHT_OWN_OURS_H

#include <stdbool.h>
#include <stdint.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

/* `caller`: __builtin_return_address(0) */
static inline bool lwp_is_ours(const void *caller)
{
    return (uintptr_t)caller >= (uintptr_t)__ehdr_start && (uintptr_t)caller < (uintptr_t)_end;
}

#endif
