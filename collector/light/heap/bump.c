#include "collector/light/heap/bump.h"

#include "collector/light/own/hot.h"

#include <string.h>

LWP_LARGE _Alignas(16) char lwp_bump[LWP_BUMP_BYTES];
static size_t bump_used;

void *lwp_bump_alloc(size_t size)
{
    size_t at = __atomic_fetch_add(&bump_used, (size + 15) & ~(size_t)15, __ATOMIC_RELAXED);
    return size <= sizeof lwp_bump && at <= sizeof lwp_bump - size ? lwp_bump + at : NULL;
}

bool lwp_bump_serves(size_t size)
{
    return size <= LWP_BUMP_BYTES / 2 && bump_used <= LWP_BUMP_BYTES / 2;
}

void lwp_bump_copy(void *to, const void *block, size_t size)
{
    size_t room = (size_t)(lwp_bump + sizeof lwp_bump - (const char *)block);
    memmove(to, block, size < room ? size : room);
}
