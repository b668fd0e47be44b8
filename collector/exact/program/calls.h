/* The shadow call stack of a thread: where each return address lies and which node of the call tree was called there.
 * Unwound by the stack pointer, so longjmp, exceptions and tail calls come out right. A thread may have several (call_stacks.h):
 * it goes from one to the other where the stack pointer is set to something that is not made from it (stack_moves.h). */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_CALLS_H
#define LWP_COLLECTOR_EXACT_PROGRAM_CALLS_H

#include "collector/exact/program/call_stacks.h"
#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>
#include <stdint.h>

extern struct lwp_call_stacks *lwp_calls_now; /* of the running thread */

/* The node of the running thread, lwp_context_now, is not kept up with each call: who wants it calls lwp_calls_know(). */
extern bool lwp_calls_lazy;
void lwp_calls_know(void);

/* A call, as translated: where it returns to, and which node it led to last, from which. */
struct lwp_call_site {
    Addr return_address;
    uint32_t from, to; /* to 0: none yet */
};
/* Kept for good. */
struct lwp_call_site *lwp_calls_site(Addr return_address);

/* Helpers called from translated code. `sp`: after the push of a call, after the pop of a return. */
VG_REGPARM(2) void lwp_calls_call(struct lwp_call_site *site, Addr sp);
VG_REGPARM(2) void lwp_calls_call_lazily(Addr return_address, Addr sp);
VG_REGPARM(2) void lwp_calls_return(Addr sp, ULong result);
/* The same where nothing is traced, and nobody wants to know the node. */
VG_REGPARM(2) void lwp_calls_call_plain(Addr return_address, Addr sp);
VG_REGPARM(2) void lwp_calls_return_plain(Addr sp, ULong result);
/* The stack pointer was set anew (stack_moves.h). */
VG_REGPARM(2) void lwp_calls_moved(Addr from, Addr to);

/* A signal's handler is about to run, on a stack for signals, or on the thread's own where the instruction at `ip` was to run next, or
 * has returned. */
void lwp_calls_handler(struct lwp_call_stacks *calls, Addr from);
void lwp_calls_interrupted(struct lwp_call_stacks *calls, Addr ip, Addr sp);
void lwp_calls_handled(struct lwp_call_stacks *calls, Addr to);

/* The end of the innermost frame is reported, if its return address is at `sp`. */
bool lwp_calls_hook(Addr sp);

/* Where it is reported: `slot`: where its return address was; `in_order`: it returned, with `result`. */
typedef void lwp_calls_returned(Addr slot, bool in_order, ULong result);
void lwp_calls_start(lwp_calls_returned *returned);

/* The frame whose locals hold `address`: its CFA, and a node inside of it for code at `ip` (0 CFA: none known). */
uint64_t lwp_calls_frame_of(Addr address, Addr ip, uint32_t *node);

#endif
