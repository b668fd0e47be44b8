/* The shadow call stack of a thread: where each return address lies and which node of the call tree was called there.
 * Unwound by the stack pointer, so longjmp, exceptions and tail calls come out right. A stack pointer far from the top
 * frame is another stack (a coroutine's, a signal's): such frames are kept apart and found again by nearness. */
#ifndef LWP_EXACT_CALLS_H
#define LWP_EXACT_CALLS_H

#include "collector/exact/tool.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_CALL_STACKS = 8 };

struct lwp_call_frame {
    uint64_t slot; /* address of the return address; the frame's CFA is 8 above */
    uint64_t return_address;
    uint32_t node; /* of the first `known` frames */
    bool hooked;   /* lwp_heap_returned and lwp_region_returned are to be told when it returns */
};

struct lwp_call_stack {
    struct lwp_call_frame *frames; /* outermost first */
    uint32_t count, known, room;
    uint64_t used; /* for replacing the one longest not used */
};

struct lwp_calls {
    struct lwp_call_stack stacks[LWP_CALL_STACKS];
    struct lwp_call_stack *now;
};

extern struct lwp_calls *lwp_calls_now; /* of the running thread */

/* The node of the running thread, lwp_context_now, is not kept up with each call: who wants it calls lwp_calls_know(). */
extern bool lwp_calls_lazy;
void lwp_calls_know(void);

void lwp_calls_init(struct lwp_calls *calls);
void lwp_calls_free(struct lwp_calls *calls);

/* Helpers called from translated code. `sp`: after the push of a call, after the pop of a return. */
VG_REGPARM(2) void lwp_calls_call(Addr return_address, Addr sp);
VG_REGPARM(2) void lwp_calls_return(Addr sp, ULong result);

/* The innermost frame tells when it returns, if its return address is at `sp`. */
bool lwp_calls_hook(Addr sp);

/* The frame whose locals hold `address`: its CFA, and a node inside of it for code at `ip` (0 CFA: none known). */
uint64_t lwp_calls_owner(Addr address, Addr ip, uint32_t *node);

#endif
