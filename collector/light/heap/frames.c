#define _GNU_SOURCE
#include "collector/light/heap/frames.h"

#include "collector/light/code/modules.h"
#include "collector/light/heap/heap.h"

#include <ucontext.h>

enum { RED_ZONE = 128 };

void lwp_frames_take(struct lwp_frames *frames, void *ucontext)
{
    const ucontext_t *context = ucontext;
    frames->ip = frames->ips[0] = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    frames->sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    frames->count = lwp_unwind_signal(ucontext, frames->ips + 1, frames->cfas, LWP_FRAMES_MAX);
    if (frames->count)
        lwp_modules_see(
            frames->ips[frames->count]); /* unwinding ends in an image not known yet: it will be next time */
}

void lwp_frames_none(struct lwp_frames *frames, void *ucontext)
{
    const ucontext_t *context = ucontext;
    frames->ip = frames->ips[0] = 0;
    frames->sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    frames->count = 0;
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

/* Of a stack up to `high`. Without a frame: one to come, or one that is not on the path. */
static void frames_stack_home(struct lwp_thread *self, const struct lwp_frames *frames, uint64_t high,
                              struct lwps_access *access)
{
    access->home = LWPS_HOME_STACK;
    access->home_base = access->address;
    if (access->address + RED_ZONE < frames->sp && frames->sp < high)
        return;
    for (unsigned i = 0; i < frames->count; i++) {
        if (access->address >= frames->cfas[i] || frames->cfas[i] > high)
            continue;
        access->home_id = lwps_paths_intern(&self->contexts, &frames->ips[i], frames->count + 1 - i);
        access->home_base = frames->cfas[i];
        return;
    }
}

/* The end of the stack that the thread is on, a coroutine's or a signal's, as far as its frames are found. */
static uint64_t frames_top(const struct lwp_thread *self, const struct lwp_frames *frames)
{
    enum { FRAME_MOST = 1 << 20 };
    uint64_t top = frames->sp;
    for (unsigned i = 0; i < frames->count && frames->cfas[i] >= top && frames->cfas[i] - top < FRAME_MOST; i++) {
        if (frames->cfas[i] > self->stack_low && frames->cfas[i] <= self->stack_high)
            break;
        top = frames->cfas[i];
    }
    return top;
}

void lwp_frames_place(struct lwp_thread *self, const struct lwp_frames *frames, uint64_t address,
                      enum lwps_source source, struct lwps_access *access)
{
    enum { TO_COME = 4096 };
    bool elsewhere = frames->sp < self->stack_low || frames->sp >= self->stack_high;
    access->address = address;
    access->flags |= LWPS_ACCESS_KNOWN;
    access->source = (uint8_t)source;
    if (address >= self->stack_low && address < self->stack_high)
        frames_stack_home(self, frames, self->stack_high, access);
    else if (elsewhere && address + TO_COME >= frames->sp && address < frames_top(self, frames))
        frames_stack_home(self, frames, frames_top(self, frames), access);
    else if (lwp_heap_find(address, &access->home_id, &access->home_base))
        access->home = LWPS_HOME_POOL;
}

uint8_t lwp_access_flags(bool load, bool store, bool vector, bool floating)
{
    return (uint8_t)((load ? LWPS_ACCESS_LOAD : 0) | (store ? LWPS_ACCESS_STORE : 0) |
                     (vector ? LWPS_ACCESS_VECTOR : 0) | (floating ? LWPS_ACCESS_FLOAT : 0));
}
