/* Which of a thread's stacks it is on: its own, coroutines', a stack for signals. A stack is known by where its frames lie,
 * and, once left, by where the stack pointer was then. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_CALL_STACKS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_CALL_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_call_frame {
    uint64_t slot; /* address of the return address; the frame's CFA is 8 above */
    uint64_t return_address;
    uint32_t node; /* of the first `known` frames */
    bool hooked;   /* its return is reported (calls.h) */
};

struct lwp_call_stack {
    struct lwp_call_frame *frames; /* outermost first */
    uint32_t count, known, room;
    uint64_t pointer; /* the stack pointer as it was left */
    uint64_t used;    /* when it was left */
};

struct lwp_call_stacks {
    struct lwp_call_stack **list, *now; /* NULL: not started */
    uint32_t count, room;
};

void lwp_call_stacks_init(struct lwp_call_stacks *stacks);
void lwp_call_stacks_free(struct lwp_call_stacks *stacks);

/* The stack pointer was set to something else than what it was plus or minus something. */
void lwp_call_stacks_moved(struct lwp_call_stacks *stacks, uint64_t from, uint64_t to);

/* What runs next is on a stack of its own. */
void lwp_call_stacks_leave(struct lwp_call_stacks *stacks, uint64_t from);

#endif
