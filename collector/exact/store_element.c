/* In the intermediate code a store of movsd is one of an integer, as registers have no type. The instruction's own bytes
 * tell it, except for movups and movaps, which compilers use for doubles, too: there it is what the operation was that
 * made the value. */
#include "collector/exact/store_element.h"

static UInt element_of_operation(IROp operation)
{
    switch (operation) {
    case Iop_Add64Fx2: case Iop_Sub64Fx2: case Iop_Mul64Fx2: case Iop_Div64Fx2: case Iop_Sqrt64Fx2:
    case Iop_Max64Fx2: case Iop_Min64Fx2: case Iop_Add64Fx4: case Iop_Sub64Fx4: case Iop_Mul64Fx4:
    case Iop_Div64Fx4: case Iop_Sqrt64Fx4: case Iop_Max64Fx4: case Iop_Min64Fx4:
        return 8;
    case Iop_Add32Fx4: case Iop_Sub32Fx4: case Iop_Mul32Fx4: case Iop_Div32Fx4: case Iop_Sqrt32Fx4:
    case Iop_Max32Fx4: case Iop_Min32Fx4: case Iop_Add32Fx8: case Iop_Sub32Fx8: case Iop_Mul32Fx8:
    case Iop_Div32Fx8: case Iop_Sqrt32Fx8: case Iop_Max32Fx8: case Iop_Min32Fx8:
        return 4;
    default:
        return 0;
    }
}

/* Of the operation that made a value in this superblock. */
static UInt element_of_value(const IRSB *block, const IRExpr *value)
{
    for (Int i = 0; value && value->tag == Iex_RdTmp && i < block->stmts_used; i++) {
        const IRStmt *statement = block->stmts[i];
        if (statement->tag != Ist_WrTmp || statement->Ist.WrTmp.tmp != value->Iex.RdTmp.tmp)
            continue;
        const IRExpr *made = statement->Ist.WrTmp.data;
        return made->tag == Iex_Triop   ? element_of_operation(made->Iex.Triop.details->op)
               : made->tag == Iex_Binop ? element_of_operation(made->Iex.Binop.op)
               : made->tag == Iex_Unop  ? element_of_operation(made->Iex.Unop.op)
                                        : 0;
    }
    return 0;
}

UInt lwp_value_element(const IRSB *block, const IRExpr *value, struct lwp_float_class class)
{
    IRType type = value ? typeOfIRExpr(block->tyenv, value) : Ity_INVALID;
    if (type == Ity_F32 || type == Ity_F64)
        return type == Ity_F32 ? 4 : 8;
    return class.any ? element_of_value(block, value) : class.element;
}

UInt lwp_store_element(const IRSB *block, const struct lwp_ir_access *access)
{
    struct lwp_float_class class = lwp_float_class((const UChar *)access->ip);
    if (!class.stores)
        class = (struct lwp_float_class){0};
    return lwp_value_element(block, access->data, class);
}
