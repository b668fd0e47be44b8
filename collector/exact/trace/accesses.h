/* What the statements of a superblock read and write in memory. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_ACCESSES_H
#define LWP_COLLECTOR_EXACT_TRACE_ACCESSES_H

#include "collector/exact/trace/float_class.h"
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

/* Of a store: bytes of each floating point number, 4 or 8; 0: it stores none, or it is not known. `block`: flat, as Valgrind
 * hands it out. */
UInt lwp_store_element(const IRSB *block, const struct lwp_ir_access *access);
/* Of a store of integers: its bytes, or those of each lane of the vector operation that made the value; 0: not known. */
UInt lwp_store_lane(const IRSB *block, const struct lwp_ir_access *access);
/* The same as the first of any value, an atom, that an instruction of that class makes. */
UInt lwp_value_element(const IRSB *block, const IRExpr *value, struct lwp_float_class class);

/* The program does not access memory at all there: a bit test of a register, whose operand VEX puts on the stack for it. */
bool lwp_ir_access_is_made_up(Addr ip);

/* Whether the compare-and-swap just before has stored, an I1. */
IRExpr *lwp_ir_swapped(IRSB *out, const IRCAS *cas);

#endif
