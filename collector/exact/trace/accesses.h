/* What the statements of a superblock read and write in memory. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_ACCESSES_H
#define LWP_COLLECTOR_EXACT_TRACE_ACCESSES_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdbool.h>
#include <stdint.h>

/* One access as an emitter of instrumentation finds it, just before its statement. */
struct lwp_ir_access {
    Addr ip;         /* its instruction */
    IRExpr *address; /* an atom */
    IRExpr *guard;   /* an atom of type I1: it only happens when that is true; NULL: always */
    IRExpr *data;    /* what a store stores, an atom; NULL: a load, or not an expression (CAS, dirty call) */
    UShort bytes;
    UChar flags;     /* LWPS_ACCESS_LOAD, _STORE, _VECTOR, _FLOAT */
};

/* The access of one statement of a flat superblock, if it is one. `ip`: of the last IMark. */
bool lwp_ir_access_of(const IRTypeEnv *types, const IRStmt *statement, Addr ip, struct lwp_ir_access *access);

/* The program does not access memory at all there: a bit test of a register, whose operand VEX puts on the stack for it. */
bool lwp_ir_access_is_made_up(Addr ip);

/* Whether the compare-and-swap just before has stored, an I1. */
IRExpr *lwp_ir_swapped(IRSB *out, const IRCAS *cas);

#endif
