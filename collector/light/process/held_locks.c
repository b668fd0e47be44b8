#include "collector/light/process/held_locks.h"

#include "collector/light/own/real_calls.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>

struct held_image {
    uint64_t low, high;
};

static struct {
    bool forking;
    struct held_image loader, libc;
} held;

static bool held_find(uint64_t inside, struct held_image *image)
{
    struct dl_find_object found;
    if (!inside || _dl_find_object((void *)inside, &found))
        return false;
    image->low = (uint64_t)found.dlfo_map_start;
    image->high = (uint64_t)found.dlfo_map_end;
    return true;
}

static bool held_is_in(const struct held_image *image, uint64_t ip)
{
    return ip - image->low < image->high - image->low;
}

bool lwp_held_locks_start(void)
{
    return held_find(_r_debug.r_ldbase, &held.loader) && held_find((uint64_t)_dl_find_object, &held.libc);
}

bool lwp_held_locks_in(uint64_t ip)
{
    return held_is_in(&held.loader, ip) || held_is_in(&held.libc, ip);
}

void lwp_held_locks_fork(bool under_way)
{
    held.forking = under_way;
}

bool lwp_held_locks_are(const ucontext_t *context)
{
    uint64_t ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    return held.forking || lwp_held_locks_in(ip) || lwp_is_ours((const void *)ip);
}
