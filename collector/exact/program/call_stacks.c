#include "collector/exact/program/call_stacks.h"

#include "collector/exact/valgrind/tool.h"

enum {
    STACKS_FIRST = 8,
    STACKS_MOST = 1 << 10,
    SAME = 64, /* bytes that the pointer is off at most where a stack is gone on with: what the switch itself has pushed */
};

static uint64_t stacks_clock;

void lwp_call_stacks_init(struct lwp_call_stacks *stacks)
{
    *stacks = (struct lwp_call_stacks){.count = 1, .room = STACKS_FIRST};
    stacks->list = VG_(calloc)("lwp.stacks", STACKS_FIRST, sizeof *stacks->list);
    stacks->list[0] = stacks->now = VG_(calloc)("lwp.stack", 1, sizeof *stacks->now);
}

void lwp_call_stacks_free(struct lwp_call_stacks *stacks)
{
    for (uint32_t i = 0; i < stacks->count; i++) {
        VG_(free)(stacks->list[i]->frames);
        VG_(free)(stacks->list[i]);
    }
    VG_(free)(stacks->list);
    *stacks = (struct lwp_call_stacks){0};
}

static void stacks_switch(struct lwp_call_stacks *stacks, struct lwp_call_stack *to, uint64_t from)
{
    stacks->now->used = ++stacks_clock;
    stacks->now->pointer = from;
    stacks->now = to;
}

/* One that is empty, or was left longest ago. */
static struct lwp_call_stack *stacks_new(struct lwp_call_stacks *stacks)
{
    struct lwp_call_stack *oldest = NULL;
    for (uint32_t i = 0; i < stacks->count; i++) {
        struct lwp_call_stack *stack = stacks->list[i];
        if (stack != stacks->now && !stack->count)
            return stack;
        if (stack != stacks->now && (!oldest || stack->used < oldest->used))
            oldest = stack;
    }
    if (stacks->count == STACKS_MOST) {
        oldest->count = oldest->known = 0;
        return oldest;
    }
    if (stacks->count == stacks->room) {
        stacks->room *= 2;
        stacks->list = VG_(realloc)("lwp.stacks", stacks->list, stacks->room * sizeof *stacks->list);
    }
    return stacks->list[stacks->count++] = VG_(calloc)("lwp.stack", 1, sizeof *stacks->now);
}

void lwp_call_stacks_leave(struct lwp_call_stacks *stacks, uint64_t from)
{
    stacks_switch(stacks, stacks_new(stacks), from);
}

/* Of those left with the pointer there the one left last, else one whose frames lie around it. */
static struct lwp_call_stack *stacks_left_at(const struct lwp_call_stacks *stacks, uint64_t pointer)
{
    struct lwp_call_stack *found = NULL, *around = NULL;
    for (uint32_t i = 0; i < stacks->count; i++) {
        struct lwp_call_stack *stack = stacks->list[i];
        if (stack == stacks->now || !stack->count || pointer > stack->frames[0].slot + 8)
            continue;
        if (pointer - stack->pointer <= SAME && (!found || found->used < stack->used))
            found = stack;
        if (pointer >= stack->pointer)
            around = stack;
    }
    return found ? found : around;
}

static bool stack_holds(const struct lwp_call_frame *frame)
{
    return VG_(am_is_valid_for_client)(frame->slot, sizeof(Addr), VKI_PROT_READ) && *(const Addr *)frame->slot == frame->return_address;
}

/* What is above the pointer is there still; else the memory is another stack's by now. */
static bool stack_is_there(const struct lwp_call_stack *stack, uint64_t pointer)
{
    uint32_t count = stack->count;
    while (count && stack->frames[count - 1].slot < pointer)
        count--;
    return count && stack_holds(&stack->frames[0]) && stack_holds(&stack->frames[count - 1]);
}

void lwp_call_stacks_moved(struct lwp_call_stacks *stacks, uint64_t from, uint64_t to)
{
    const struct lwp_call_stack *now = stacks->now;
    if (now->count && to >= from && to <= now->frames[0].slot + 8)
        return; /* an epilogue, longjmp, an exception */
    struct lwp_call_stack *found = stacks_left_at(stacks, to);
    if (found && !stack_is_there(found, to)) {
        found->count = found->known = 0;
        found = NULL;
    }
    if (found)
        stacks_switch(stacks, found, from);
    else if (now->count)
        lwp_call_stacks_leave(stacks, from);
}
