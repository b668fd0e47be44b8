#include "collector/exact/calls.h"

#include "collector/exact/contexts.h"
#include "collector/exact/heap.h"
#include "collector/exact/region.h"
#include "collector/exact/trace.h"

enum { FRAMES_FIRST = 64, FRAMES_MOST = 1 << 20, FAR = 1 << 20 };

struct lwp_calls *lwp_calls_now;
bool lwp_calls_lazy;

static uint64_t calls_clock;

void lwp_calls_init(struct lwp_calls *calls)
{
    *calls = (struct lwp_calls){.now = &calls->stacks[0]};
}

void lwp_calls_free(struct lwp_calls *calls)
{
    for (int i = 0; i < LWP_CALL_STACKS; i++)
        VG_(free)(calls->stacks[i].frames);
    lwp_calls_init(calls);
}

static bool calls_is_near(const struct lwp_call_stack *stack, Addr sp)
{
    uint64_t top = stack->frames[stack->count - 1].slot;
    return top - sp < FAR || sp - top < FAR;
}

/* Jumping up over a megabyte of frames that are done with is rare, but no switch: some frame of the stack is near. */
static bool calls_reaches(const struct lwp_call_stack *stack, Addr sp)
{
    for (uint32_t i = stack->count; i--;)
        if (stack->frames[i].slot - sp < FAR)
            return true;
    return false;
}

static __attribute__((noinline)) void calls_switch(Addr sp)
{
    struct lwp_calls *calls = lwp_calls_now;
    struct lwp_call_stack *found = NULL, *oldest = NULL;
    if (calls_reaches(calls->now, sp))
        return;
    calls->now->used = ++calls_clock;
    for (int i = 0; i < LWP_CALL_STACKS; i++) {
        struct lwp_call_stack *stack = &calls->stacks[i];
        if (stack == calls->now)
            continue;
        if (stack->count && !found && calls_is_near(stack, sp))
            found = stack;
        if (!oldest || stack->used < oldest->used)
            oldest = stack;
    }
    if (!found && !calls->now->count)
        return;
    if (!found) {
        found = oldest;
        found->count = found->known = 0;
    }
    calls->now = found;
}

static inline struct lwp_call_stack *calls_stack(Addr sp)
{
    struct lwp_call_stack *stack = lwp_calls_now->now;
    if (!stack->count || !calls_is_near(stack, sp)) { /* an empty one is what a signal's handler has returned from */
        calls_switch(sp);
        stack = lwp_calls_now->now;
    }
    return stack;
}

static inline void calls_know(struct lwp_call_stack *stack)
{
    uint32_t node = stack->known ? stack->frames[stack->known - 1].node : 0;
    for (; stack->known < stack->count; stack->known++) {
        struct lwp_call_frame *frame = &stack->frames[stack->known];
        frame->node = node = lwp_context_child(node, frame->return_address);
    }
    lwp_context_now = node;
}

void lwp_calls_know(void)
{
    if (lwp_calls_lazy)
        calls_know(lwp_calls_now->now);
}

static inline void calls_pop(struct lwp_call_stack *stack, Addr sp, ULong result)
{
    while (stack->count && stack->frames[stack->count - 1].slot < sp) {
        struct lwp_call_frame *frame = &stack->frames[--stack->count];
        if (frame->hooked) {
            lwp_heap_returned(frame->slot, frame->slot + 8 == sp, result);
            lwp_region_returned(frame->slot);
        }
    }
    if (stack->known > stack->count)
        stack->known = stack->count;
    if (!lwp_calls_lazy)
        calls_know(stack);
}

VG_REGPARM(2) void lwp_calls_call(Addr return_address, Addr sp)
{
    lwp_trace_drain();
    struct lwp_call_stack *stack = calls_stack(sp);
    if (stack->count && stack->frames[stack->count - 1].slot <= sp)
        calls_pop(stack, sp + 1, 0);
    if (stack->count == stack->room) {
        if (stack->room >= FRAMES_MOST)
            return;
        stack->room = stack->room ? 2 * stack->room : FRAMES_FIRST;
        stack->frames = VG_(realloc)("lwp.frames", stack->frames, stack->room * sizeof *stack->frames);
    }
    stack->frames[stack->count++] = (struct lwp_call_frame){.slot = sp, .return_address = return_address};
    if (!lwp_calls_lazy)
        calls_know(stack);
}

VG_REGPARM(2) void lwp_calls_return(Addr sp, ULong result)
{
    lwp_trace_drain();
    calls_pop(calls_stack(sp), sp, result);
}

bool lwp_calls_hook(Addr sp)
{
    struct lwp_call_stack *stack = lwp_calls_now->now;
    if (!stack->count || stack->frames[stack->count - 1].slot != sp)
        return false;
    stack->frames[stack->count - 1].hooked = true;
    return true;
}

uint64_t lwp_calls_owner(Addr address, Addr ip, uint32_t *node)
{
    const struct lwp_call_stack *stack = lwp_calls_now->now;
    uint32_t low = 0, high = stack->count; /* the innermost frame whose return address is above `address` */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (stack->frames[middle].slot > address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || stack->frames[low - 1].slot - address > FAR)
        return 0;
    *node = low < stack->count ? stack->frames[low].node : lwp_context_child(stack->frames[low - 1].node, ip);
    return stack->frames[low - 1].slot + 8;
}
