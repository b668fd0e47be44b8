#define _GNU_SOURCE
#include "collector/light/code/frames.h"

#include "collector/light/code/modules.h"

#include <ucontext.h>

void lwp_frames_take(struct lwp_frames *frames, void *ucontext, bool unwind)
{
    const greg_t *machine = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    frames->ips[0] = unwind ? (uint64_t)machine[REG_RIP] : 0;
    frames->sp = (uint64_t)machine[REG_RSP];
    frames->count = unwind ? lwp_unwind_signal(ucontext, frames->ips + 1, frames->cfas, LWP_FRAMES_MAX) : 0;
    if (frames->count)
        lwp_modules_see(frames->ips[frames->count]); /* unwinding ends in an image not known yet: it will be next time */
}

uint32_t lwp_frames_context(struct lwp_thread *self, const struct lwp_frames *frames)
{
    return lwps_paths_intern(&self->contexts, frames->ips + 1, frames->count);
}

uint32_t lwp_frames_context_of(struct lwp_thread *self, const struct lwp_frames *frames, uint64_t low, uint64_t high)
{
    for (unsigned i = 0; i <= frames->count; i++) {
        uint64_t inside = frames->ips[i] - (i > 0); /* a return address may be the next function's start */
        if (inside >= low && inside < high)
            return lwps_paths_intern(&self->contexts, frames->ips + i + 1, frames->count - i);
    }
    return 0;
}
