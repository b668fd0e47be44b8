/* A computation is an instruction that does arithmetic or logic on values which reach registers or memory; it counts once,
 * however many operators it takes. Instructions that only move values, compare them, form addresses or add a constant
 * (counters, strides of pointers, the stack pointer) are not counted: nobody would keep such results. */
#include "collector/exact/detect/values/value_uses.h"

#include "collector/exact/detect/values/value_operators.h"
#include "collector/exact/detect/values/value_slots.h"

static struct lwp_value_use *uses;
static Int use_room;

/* Calls `with` for each temporary in an expression but those of addresses. */
static void value_operands(const IRExpr *e, void (*with)(void *to, IRTemp temporary), void *to)
{
    switch (e->tag) {
    case Iex_RdTmp:
        with(to, e->Iex.RdTmp.tmp);
        return;
    case Iex_Unop:
        value_operands(e->Iex.Unop.arg, with, to);
        return;
    case Iex_Binop:
        value_operands(e->Iex.Binop.arg1, with, to);
        value_operands(e->Iex.Binop.arg2, with, to);
        return;
    case Iex_Triop:
        value_operands(e->Iex.Triop.details->arg1, with, to);
        value_operands(e->Iex.Triop.details->arg2, with, to);
        value_operands(e->Iex.Triop.details->arg3, with, to);
        return;
    case Iex_Qop:
        value_operands(e->Iex.Qop.details->arg1, with, to);
        value_operands(e->Iex.Qop.details->arg2, with, to);
        value_operands(e->Iex.Qop.details->arg3, with, to);
        value_operands(e->Iex.Qop.details->arg4, with, to);
        return;
    case Iex_ITE:
        value_operands(e->Iex.ITE.cond, with, to);
        value_operands(e->Iex.ITE.iftrue, with, to);
        value_operands(e->Iex.ITE.iffalse, with, to);
        return;
    case Iex_CCall:
        for (Int i = 0; e->Iex.CCall.args[i]; i++)
            value_operands(e->Iex.CCall.args[i], with, to);
        return;
    default:
        return;
    }
}

static bool adds_constant(const IRExpr *e)
{
    return e->tag == Iex_Binop && lwp_ir_operator(e->Iex.Binop.op).adds &&
           (e->Iex.Binop.arg1->tag == Iex_Const || e->Iex.Binop.arg2->tag == Iex_Const);
}

static bool expression_computes(const IRExpr *e)
{
    switch (e->tag) {
    case Iex_RdTmp: /* VEX has seen that it is the same */
        return uses[e->Iex.RdTmp.tmp].computes;
    case Iex_Unop:
        return lwp_ir_operator(e->Iex.Unop.op).computes;
    case Iex_Binop:
        return lwp_ir_operator(e->Iex.Binop.op).computes && !adds_constant(e);
    case Iex_Triop:
        return lwp_ir_operator(e->Iex.Triop.details->op).computes;
    case Iex_Qop:
        return lwp_ir_operator(e->Iex.Qop.details->op).computes;
    default:
        return false;
    }
}

/* The instruction that defines each temporary. */
static void uses_forward(const IRSB *in)
{
    UInt instruction = 0;
    for (Int i = 0; i < in->stmts_used; i++) {
        const IRStmt *statement = in->stmts[i];
        instruction += statement->tag == Ist_IMark;
        if (statement->tag != Ist_WrTmp)
            continue;
        struct lwp_value_use *use = &uses[statement->Ist.WrTmp.tmp];
        use->instruction = instruction;
        use->computes = expression_computes(statement->Ist.WrTmp.data);
    }
}

/* Where a temporary is used, while its operands are visited. */
struct use_site {
    Int statement;
    UInt instruction;
    bool outside;
};

static void use_add(void *to, IRTemp temporary)
{
    const struct use_site *from = to;
    struct lwp_value_use *use = &uses[temporary];
    use->value = true;
    use->outside = use->outside || from->outside || use->instruction != from->instruction;
    if (use->last < from->statement)
        use->last = from->statement;
}

static void uses_backward(const IRSB *in)
{
    UInt instruction = 0;
    for (Int i = 0; i < in->stmts_used; i++)
        instruction += in->stmts[i]->tag == Ist_IMark;
    for (Int i = in->stmts_used; i--;) {
        const IRStmt *statement = in->stmts[i];
        struct use_site from = {i, instruction, true};
        switch (statement->tag) {
        case Ist_IMark:
            instruction--;
            break;
        case Ist_Put: {
            Int bytes = sizeofIRType(typeOfIRExpr(in->tyenv, statement->Ist.Put.data));
            if (lwp_value_slots_of(statement->Ist.Put.offset, bytes).count)
                value_operands(statement->Ist.Put.data, use_add, &from);
            break;
        }
        case Ist_Store:
            value_operands(statement->Ist.Store.data, use_add, &from);
            break;
        case Ist_StoreG:
            value_operands(statement->Ist.StoreG.details->data, use_add, &from);
            break;
        case Ist_WrTmp: {
            const struct lwp_value_use *use = &uses[statement->Ist.WrTmp.tmp];
            from.outside = use->outside && !use->computes;
            if (use->value)
                value_operands(statement->Ist.WrTmp.data, use_add, &from);
            break;
        }
        default:
            break;
        }
    }
}

const struct lwp_value_use *lwp_value_uses(const IRSB *in)
{
    Int count = in->tyenv->types_used;
    if (use_room < count) {
        use_room = 2 * count;
        VG_(free)(uses);
        uses = VG_(malloc)("lwp.uses", (SizeT)use_room * sizeof *uses);
    }
    VG_(memset)(uses, 0, (SizeT)count * sizeof *uses);
    uses_forward(in);
    uses_backward(in);
    return uses;
}
