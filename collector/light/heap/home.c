#include "collector/light/heap/home.h"

#include "collector/light/code/own_program.h"
#include "collector/light/heap/heap.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RED_ZONE = 128, PAGE = 4096 };

/* The frame and its callers. Which variables the innermost one has depends on where the access is: the thread may have left a scope. */
static uint32_t home_context(struct lwp_thread *self, const struct lwp_frames *frames, unsigned frame, uint64_t ip)
{
    uint64_t ips[LWP_FRAMES_MAX + 1];
    unsigned count = frames->count + 1 - frame;
    for (unsigned i = 0; i < count; i++)
        ips[i] = frames->ips[frame + i];
    if (frame == 0 && lwp_function_start(ip) == lwp_function_start(ips[0]))
        ips[0] = ip;
    return lwps_paths_intern(&self->contexts, ips, count);
}

/* Of a stack up to `high`. Without a frame: one to come, or one that is not on the path. */
static void home_on_stack(struct lwp_thread *self, const struct lwp_frames *frames, uint64_t high, struct lwps_access *access)
{
    access->home = LWPS_HOME_STACK;
    access->home_base = access->address;
    if (access->address + RED_ZONE < frames->sp && frames->sp < high)
        return;
    for (unsigned i = 0; i < frames->count; i++) {
        if (access->address >= frames->cfas[i] || frames->cfas[i] > high)
            continue;
        access->home_id = home_context(self, frames, i, access->ip);
        access->home_base = frames->cfas[i];
        return;
    }
}

/* The end of the stack that the thread is on, a coroutine's or a signal's, as far as its frames are found. */
static uint64_t home_stack_end(const struct lwp_thread *self, const struct lwp_frames *frames)
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

void lwp_home_find(struct lwp_thread *self, const struct lwp_frames *frames, uint64_t address, enum lwps_source source,
                   struct lwps_access *access)
{
    enum { TO_COME = 4096 };
    bool elsewhere = frames->sp < self->stack_low || frames->sp >= self->stack_high;
    access->address = address;
    access->flags |= LWPS_ACCESS_KNOWN;
    access->source = (uint8_t)source;
    if (address >= self->stack_low && address < self->stack_high)
        home_on_stack(self, frames, self->stack_high, access);
    else if (elsewhere && address + TO_COME >= frames->sp && address < home_stack_end(self, frames))
        home_on_stack(self, frames, home_stack_end(self, frames), access);
    else if (lwp_heap_find(address, &access->home_id, &access->home_base))
        access->home = LWPS_HOME_POOL;
}

/* By move_pages(2), which without a place to move to only says where a page is: of the page of zeros, and the huge one, -EFAULT. */
bool lwp_home_is_zeros(uint64_t address)
{
    const uint64_t page = address & ~(uint64_t)(PAGE - 1);
    int where = 0;
    return syscall(SYS_move_pages, 0, 1ul, &page, NULL, &where, 0) == 0 && where == -EFAULT;
}
