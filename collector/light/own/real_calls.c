#define _GNU_SOURCE
#include "collector/light/own/real_calls.h"

#include <dlfcn.h>
#include <errno.h>

extern struct lwp_next __start_lwp_next[] __attribute__((visibility("hidden")));
extern struct lwp_next __stop_lwp_next[] __attribute__((visibility("hidden")));

/* Of a C library that does not have it. */
static long next_missing(void)
{
    errno = ENOSYS;
    return -1;
}

void *lwp_next_find(struct lwp_next *next)
{
    void *found = dlsym(RTLD_NEXT, next->name);
    if (!found)
        found = (void *)next_missing;
    __atomic_store_n(&next->function, found, __ATOMIC_RELEASE);
    return found;
}

void lwp_next_start(void)
{
    for (struct lwp_next *next = __start_lwp_next; next < __stop_lwp_next; next++)
        lwp_next_find(next);
}
