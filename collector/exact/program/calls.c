#include "collector/exact/program/calls.h"

#include "collector/exact/program/contexts.h"
#include "collector/exact/program/trace_words.h"

enum { FRAMES_FIRST = 64, FRAMES_MOST = 1 << 20, FAR = 1 << 20 };

struct lwp_call_stacks *lwp_calls_now;
bool lwp_calls_lazy;
static lwp_calls_returned *calls_returned;
static const struct lwp_call_frame calls_root;

static inline void calls_know(struct lwp_call_stack *stack)
{
    uint32_t node = stack->known ? stack->frames[stack->known - 1].node : 0;
    for (; stack->known < stack->count; stack->known++) {
        struct lwp_call_frame *frame = &stack->frames[stack->known];
        frame->node = node = lwp_context_child(node, frame->return_address - 1);
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
        if (frame->hooked)
            calls_returned(frame->slot, frame->slot + 8 == sp, result);
    }
    if (stack->known > stack->count)
        stack->known = stack->count;
    if (!lwp_calls_lazy)
        calls_know(stack);
}

/* What is traced is attributed by the path it ran on; communication by itself is not. */
static inline void calls_drain(void)
{
    if (!lwp_trace_all || !lwp_calls_lazy)
        lwp_trace_drain();
}

struct lwp_call_site *lwp_calls_site(Addr return_address)
{
    struct lwp_call_site *site = VG_(malloc)("lwp.calls", sizeof *site);
    *site = (struct lwp_call_site){.return_address = return_address};
    return site;
}

/* False: the frame found no room. */
static inline bool calls_push_to(struct lwp_call_stack *stack, Addr return_address, Addr sp)
{
    if (stack->count && stack->frames[stack->count - 1].slot <= sp)
        calls_pop(stack, sp + 1, 0);
    if (stack->count == stack->room) {
        if (stack->room >= FRAMES_MOST)
            return false;
        stack->room = stack->room ? 2 * stack->room : FRAMES_FIRST;
        stack->frames = VG_(realloc)("lwp.frames", stack->frames, stack->room * sizeof *stack->frames);
    }
    stack->frames[stack->count++] = (struct lwp_call_frame){.slot = sp, .return_address = return_address};
    return true;
}

/* Its stack, NULL: the frame found no room. */
static inline struct lwp_call_stack *calls_push(Addr return_address, Addr sp)
{
    calls_drain();
    struct lwp_call_stack *stack = lwp_calls_now->now;
    return calls_push_to(stack, return_address, sp) ? stack : NULL;
}

VG_REGPARM(2) void lwp_calls_call(struct lwp_call_site *site, Addr sp)
{
    struct lwp_call_stack *stack = calls_push(site->return_address, sp);
    if (!stack)
        return;
    const struct lwp_call_frame *caller = stack->count > 1 ? &stack->frames[stack->count - 2] : &calls_root;
    if (stack->known == stack->count - 1 && site->to && site->from == caller->node) {
        lwp_context_now = stack->frames[stack->known++].node = site->to;
        return;
    }
    calls_know(stack);
    site->from = caller->node;
    site->to = lwp_context_now;
}

VG_REGPARM(2) __attribute__((noinline)) void lwp_calls_call_lazily(Addr return_address, Addr sp)
{
    calls_push(return_address, sp);
}

VG_REGPARM(2) __attribute__((noinline)) void lwp_calls_return(Addr sp, ULong result)
{
    calls_drain();
    calls_pop(lwp_calls_now->now, sp, result);
}

VG_REGPARM(2) void lwp_calls_call_plain(Addr return_address, Addr sp)
{
    struct lwp_call_stack *stack = lwp_calls_now->now;
    uint32_t count = stack->count;
    if (count == stack->room || (count && stack->frames[count - 1].slot <= sp)) {
        lwp_calls_call_lazily(return_address, sp);
        return;
    }
    stack->frames[count] = (struct lwp_call_frame){.slot = sp, .return_address = return_address};
    stack->count = count + 1;
}

VG_REGPARM(2) void lwp_calls_return_plain(Addr sp, ULong result)
{
    struct lwp_call_stack *stack = lwp_calls_now->now;
    uint32_t count = stack->count;
    const struct lwp_call_frame *top = &stack->frames[count - 1];
    if (count < 2 || top->slot + sizeof(Addr) != sp || top[-1].slot < sp || top->hooked) {
        lwp_calls_return(sp, result);
        return;
    }
    stack->count = count - 1;
    if (stack->known == count)
        stack->known = count - 1;
}

VG_REGPARM(2) void lwp_calls_moved(Addr from, Addr to)
{
    const struct lwp_call_stack *stack = lwp_calls_now->now;
    if (stack->count && to >= from && to <= stack->frames[stack->count - 1].slot)
        return; /* nearly always: a frame's end */
    lwp_trace_drain();
    lwp_call_stacks_moved(lwp_calls_now, from, to);
    calls_pop(lwp_calls_now->now, to, 0);
}

void lwp_calls_handler(struct lwp_call_stacks *calls, Addr from)
{
    lwp_trace_drain();
    lwp_call_stacks_leave(calls, from);
    if (calls == lwp_calls_now)
        calls_pop(calls->now, 0, 0);
}

/* As if the instruction had called it and it returned there, with its frame behind the red zone: nothing of its caller's is below. */
void lwp_calls_interrupted(struct lwp_call_stacks *calls, Addr ip, Addr sp)
{
    enum { RED_ZONE = 128 };
    lwp_trace_drain();
    if (calls_push_to(calls->now, ip + 1, sp - RED_ZONE - sizeof(Addr)) && calls == lwp_calls_now && !lwp_calls_lazy)
        calls_know(calls->now);
}

void lwp_calls_handled(struct lwp_call_stacks *calls, Addr to)
{
    lwp_trace_drain();
    lwp_call_stacks_moved(calls, to, to);
    if (calls == lwp_calls_now)
        calls_pop(calls->now, to, 0);
}

void lwp_calls_start(lwp_calls_returned *returned)
{
    calls_returned = returned;
}

bool lwp_calls_hook(Addr sp)
{
    struct lwp_call_stack *stack = lwp_calls_now->now;
    if (!stack->count || stack->frames[stack->count - 1].slot != sp)
        return false;
    stack->frames[stack->count - 1].hooked = true;
    return true;
}

uint64_t lwp_calls_frame_of(Addr address, Addr ip, uint32_t *node)
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
