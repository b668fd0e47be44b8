#include "collector/light/process/held_locks.h"

#include "collector/light/own/own_memory.h"
#include "collector/light/own/real_calls.h"

#include <dlfcn.h>
#include <signal.h>

enum { SCANNED = 256 /* words */ };

static struct {
    bool forking;
    uint64_t loader_low, loader_high, libc_low, libc_high;
} held;

static bool held_image(const void *inside, uint64_t *low, uint64_t *high)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)inside, &found))
        return false;
    *low = (uint64_t)found.dlfo_map_start;
    *high = (uint64_t)found.dlfo_map_end;
    return true;
}

bool lwp_held_locks_start(void)
{
    return held_image((const void *)_dl_find_object, &held.loader_low, &held.loader_high) &&
           held_image((const void *)LWP_REAL(sigaction), &held.libc_low, &held.libc_high);
}

bool lwp_held_locks_of_loader(uint64_t ip)
{
    return ip - held.loader_low < held.loader_high - held.loader_low;
}

bool lwp_held_locks_of_libc(uint64_t ip)
{
    return ip - held.libc_low < held.libc_high - held.libc_low;
}

void lwp_held_locks_fork(bool under_way)
{
    held.forking = under_way;
}

bool lwp_held_locks_are(const ucontext_t *context)
{
    const greg_t *machine = context->uc_mcontext.gregs;
    uint64_t ip = (uint64_t)machine[REG_RIP];
    if (held.forking || lwp_held_locks_of_loader(ip) || lwp_is_ours((const void *)ip))
        return true;
    if (!lwp_held_locks_of_libc(ip))
        return false;
    uint64_t word[SCANNED];
    for (unsigned part = 0; part < SCANNED; part += 16) {
        if (!lwp_own_copy(word + part, (const uint64_t *)machine[REG_RSP] + part, 16 * sizeof *word))
            break; /* the end of the stack */
        for (unsigned i = part; i < part + 16; i++)
            if (lwp_held_locks_of_loader(word[i]) || lwp_is_ours((const void *)word[i]))
                return true;
    }
    return false;
}
