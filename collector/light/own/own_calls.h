/* System calls that are cancellation points in the C library. A thread must not end within what lwp does for it, nor have its
 * cancellation acted upon earlier than it would have been: imports.c has lwp and its libraries call these. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_OWN_CALLS_H
#define LWP_COLLECTOR_LIGHT_OWN_OWN_CALLS_H

#include <stdbool.h>
#include <string.h>

/* Of all imports, in each process: mostly the first letters differ. */
static inline bool lwp_own_call_is(const char *name, const char *other)
{
    return *name == *other && strcmp(name, other) == 0;
}

/* The function to call in place of the C library's of this name, NULL: that one. */
void *lwp_own_call(const char *name);

#endif
