/* Short ways to write IR. All values are atoms. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_EMIT_H
#define LWP_COLLECTOR_EXACT_VALGRIND_EMIT_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

static inline IRExpr *emit_word(ULong value)
{
    return IRExpr_Const(IRConst_U64(value));
}

static inline IRExpr *emit_pointer(const void *pointer)
{
    return emit_word((ULong)pointer);
}

/* The expression's value in a new temporary. */
static inline IRExpr *emit_value(IRSB *out, IRExpr *expression)
{
    IRTemp temporary = newIRTemp(out->tyenv, typeOfIRExpr(out->tyenv, expression));
    addStmtToIRSB(out, IRStmt_WrTmp(temporary, expression));
    return IRExpr_RdTmp(temporary);
}

static inline IRExpr *emit_load(IRSB *out, const void *from)
{
    return emit_value(out, IRExpr_Load(Iend_LE, Ity_I64, emit_pointer(from)));
}

static inline void emit_store(IRSB *out, const void *to, IRExpr *value)
{
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, emit_pointer(to), value));
}

static inline IRExpr *emit_binary(IRSB *out, IROp operation, IRExpr *left, IRExpr *right)
{
    return emit_value(out, IRExpr_Binop(operation, left, right));
}

static inline IRExpr *emit_unary(IRSB *out, IROp operation, IRExpr *value)
{
    return emit_value(out, IRExpr_Unop(operation, value));
}

static inline IRExpr *emit_register(IRSB *out, Int offset)
{
    return emit_value(out, IRExpr_Get(offset, Ity_I64));
}

/* A call of `function`, which changes nothing of the program; `guard` NULL: always. */
static inline void emit_call_if(IRSB *out, IRExpr *guard, Int in_registers, const HChar *name, void *function, IRExpr **arguments)
{
    IRDirty *call = unsafeIRDirty_0_N(in_registers, name, VG_(fnptr_to_fnentry)(function), arguments);
    if (guard)
        call->guard = guard;
    addStmtToIRSB(out, IRStmt_Dirty(call));
}

#define EMIT_CALL(out, guard, in_registers, function, arguments) \
    emit_call_if(out, guard, in_registers, #function, (void *)(function), arguments)

#endif
