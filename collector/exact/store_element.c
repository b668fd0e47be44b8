/* In the intermediate code a store of movsd is one of an integer, as registers have no type. The instruction's own bytes
 * tell it (Intel SDM 2B, MOVSD, MOVSS, MOVUPD, MOVAPD), except for movups and movaps, which compilers use for doubles,
 * too: there it is what the operation was that made the value. */
#include "collector/exact/store_element.h"

enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 }; /* as VEX has them */

/* Of the two-byte opcodes (0F xx); false: another instruction. */
static bool element_opcode(const UChar *at, UChar *opcode, UInt *prefix)
{
    *prefix = PREFIX_NONE;
    if (at[0] == 0xc5) {
        *prefix = at[1] & 3;
        *opcode = at[2];
        return true;
    }
    if (at[0] == 0xc4) {
        *prefix = at[2] & 3;
        *opcode = at[3];
        return (at[1] & 31) == 1;
    }
    for (UInt i = 0; i < 5; i++, at++) {
        if (*at == 0x66)
            *prefix = *prefix ? *prefix : PREFIX_66;
        else if (*at == 0xf3)
            *prefix = PREFIX_F3;
        else if (*at == 0xf2)
            *prefix = PREFIX_F2;
        else
            break;
    }
    at += (*at & 0xf0) == 0x40; /* REX */
    *opcode = at[1];
    return at[0] == 0x0f;
}

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

UInt lwp_store_element(const IRSB *block, const struct lwp_ir_access *access)
{
    UChar opcode;
    UInt prefix;
    IRType type = access->data ? typeOfIRExpr(block->tyenv, access->data) : Ity_INVALID;
    if (type == Ity_F32 || type == Ity_F64)
        return type == Ity_F32 ? 4 : 8;
    if (!element_opcode((const UChar *)access->ip, &opcode, &prefix))
        return 0;
    bool moves = opcode == 0x11 || opcode == 0x13 || opcode == 0x17 || opcode == 0x29 || opcode == 0x2b;
    if (!moves)
        return 0;
    switch (prefix) {
    case PREFIX_F2:
    case PREFIX_66:
        return 8;
    case PREFIX_F3:
        return 4;
    default:
        return element_of_value(block, access->data);
    }
}
