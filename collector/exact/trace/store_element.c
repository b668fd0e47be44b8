/* In the intermediate code a store of movsd is one of an integer, as registers have no type. The instruction's own bytes
 * decide, except for movups and movaps, which compilers use for doubles, too: there the operation that made the value does. */
#include "collector/exact/trace/accesses.h"

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

static UInt lane_of_operation(IROp operation)
{
    switch (operation) {
    case Iop_Add64x2: case Iop_Sub64x2: case Iop_Add64x4: case Iop_Sub64x4: case Iop_InterleaveLO64x2:
    case Iop_InterleaveHI64x2:
        return 8;
    case Iop_Add32x4: case Iop_Sub32x4: case Iop_Mul32x4: case Iop_ShlN32x4: case Iop_ShrN32x4: case Iop_SarN32x4:
    case Iop_Add32x8: case Iop_Sub32x8: case Iop_Mul32x8: case Iop_ShlN32x8: case Iop_ShrN32x8: case Iop_SarN32x8:
        return 4;
    case Iop_Add16x8: case Iop_Sub16x8: case Iop_Mul16x8: case Iop_Add16x16: case Iop_Sub16x16: case Iop_Mul16x16:
        return 2;
    case Iop_Add8x16: case Iop_Sub8x16: case Iop_Add8x32: case Iop_Sub8x32:
        return 1;
    default:
        return 0;
    }
}

/* Of the operation that made a value in this superblock, which may have been copied since. */
static UInt element_of_value(const IRSB *block, const IRExpr *value, UInt (*of_operation)(IROp))
{
    for (Int i = block->stmts_used - 1; value && value->tag == Iex_RdTmp && i >= 0; i--) {
        const IRStmt *statement = block->stmts[i];
        if (statement->tag != Ist_WrTmp || statement->Ist.WrTmp.tmp != value->Iex.RdTmp.tmp)
            continue;
        const IRExpr *made = statement->Ist.WrTmp.data;
        if (made->tag == Iex_RdTmp) {
            value = made;
            continue;
        }
        return made->tag == Iex_Triop   ? of_operation(made->Iex.Triop.details->op)
               : made->tag == Iex_Binop ? of_operation(made->Iex.Binop.op)
               : made->tag == Iex_Unop  ? of_operation(made->Iex.Unop.op)
                                        : 0;
    }
    return 0;
}

UInt lwp_value_element(const IRSB *block, const IRExpr *value, struct lwp_float_class class)
{
    IRType type = value ? typeOfIRExpr(block->tyenv, value) : Ity_INVALID;
    if (type == Ity_F32 || type == Ity_F64)
        return type == Ity_F32 ? 4 : 8;
    return class.any ? element_of_value(block, value, element_of_operation) : class.element;
}

UInt lwp_store_element(const IRSB *block, const struct lwp_ir_access *access)
{
    struct lwp_float_class class = lwp_float_class((const UChar *)access->ip);
    if (!class.stores)
        class = (struct lwp_float_class){0};
    return lwp_value_element(block, access->data, class);
}

UInt lwp_store_lane(const IRSB *block, const struct lwp_ir_access *access)
{
    return access->bytes <= 8 ? access->bytes : element_of_value(block, access->data, lane_of_operation);
}
