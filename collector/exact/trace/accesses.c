#include "collector/exact/trace/accesses.h"

#include "collector/exact/valgrind/emit.h"
#include "format/record.h"

static UChar access_kind(IRType type)
{
    switch (type) {
    case Ity_F16:
    case Ity_F32:
    case Ity_F64:
    case Ity_F128:
        return LWPS_ACCESS_FLOAT;
    case Ity_V128:
    case Ity_V256:
        return LWPS_ACCESS_VECTOR;
    default:
        return false;
    }
}

static struct lwp_ir_access access_of(Addr ip, IRExpr *address, IRType type, UChar flags)
{
    return (struct lwp_ir_access){.ip = ip, .address = address, .bytes = (UShort)sizeofIRType(type),
                                  .flags = (UChar)(flags | access_kind(type))};
}

static IRType access_loaded(IRLoadGOp conversion)
{
    switch (conversion) {
    case ILGop_IdentV128:
        return Ity_V128;
    case ILGop_Ident64:
        return Ity_I64;
    case ILGop_16Uto32:
    case ILGop_16Sto32:
        return Ity_I16;
    case ILGop_8Uto32:
    case ILGop_8Sto32:
        return Ity_I8;
    default:
        return Ity_I32;
    }
}

bool lwp_ir_access_of(const IRTypeEnv *types, const IRStmt *statement, Addr ip, struct lwp_ir_access *access)
{
    enum { LOAD = LWPS_ACCESS_LOAD, STORE = LWPS_ACCESS_STORE };
    switch (statement->tag) {
    case Ist_WrTmp: {
        const IRExpr *value = statement->Ist.WrTmp.data;
        if (value->tag != Iex_Load)
            return false;
        *access = access_of(ip, value->Iex.Load.addr, value->Iex.Load.ty, LOAD);
        return true;
    }
    case Ist_Store:
        *access = access_of(ip, statement->Ist.Store.addr, typeOfIRExpr(types, statement->Ist.Store.data), STORE);
        access->data = statement->Ist.Store.data;
        return true;
    case Ist_LoadG: {
        const IRLoadG *load = statement->Ist.LoadG.details;
        *access = access_of(ip, load->addr, access_loaded(load->cvt), LOAD);
        access->guard = load->guard;
        return true;
    }
    case Ist_StoreG: {
        const IRStoreG *store = statement->Ist.StoreG.details;
        *access = access_of(ip, store->addr, typeOfIRExpr(types, store->data), STORE);
        access->guard = store->guard;
        access->data = store->data;
        return true;
    }
    case Ist_CAS: { /* it stores, in effect: what is there already if it fails */
        const IRCAS *cas = statement->Ist.CAS.details;
        *access = access_of(ip, cas->addr, typeOfIRExpr(types, cas->dataLo), LOAD | STORE);
        if (cas->dataHi)
            access->bytes = (UShort)(2 * access->bytes);
        return true;
    }
    case Ist_Dirty: {
        const IRDirty *call = statement->Ist.Dirty.details;
        if (call->mFx == Ifx_None)
            return false;
        *access = (struct lwp_ir_access){.ip = ip, .address = call->mAddr, .bytes = (UShort)call->mSize};
        access->flags = (UChar)((call->mFx != Ifx_Write ? LOAD : 0) | (call->mFx != Ifx_Read ? STORE : 0));
        access->guard = call->guard->tag == Iex_RdTmp ? call->guard : NULL;
        return true;
    }
    default:
        return false;
    }
}

bool lwp_ir_access_is_made_up(Addr ip)
{
    const UChar *code = (const UChar *)ip;
    enum { ESCAPE = 0x0f, BT = 0xa3, BTS = 0xab, BTR = 0xb3, BTC = 0xbb, OF_REGISTER = 0xc0, SHORT = 0x66, REX = 4 };
    while (*code == SHORT || *code >> 4 == REX)
        code++;
    return code[0] == ESCAPE && (code[1] == BT || code[1] == BTS || code[1] == BTR || code[1] == BTC) && code[2] >= OF_REGISTER;
}

static IRExpr *half_swapped(IRSB *out, IRTemp half, IRExpr *expected)
{
    IRExpr *old = IRExpr_RdTmp(half);
    switch (typeOfIRExpr(out->tyenv, old)) {
    case Ity_I8:
        return emit_binary(out, Iop_CasCmpEQ8, old, expected);
    case Ity_I16:
        return emit_binary(out, Iop_CasCmpEQ16, old, expected);
    case Ity_I32:
        return emit_binary(out, Iop_CasCmpEQ32, old, expected);
    default:
        return emit_binary(out, Iop_CasCmpEQ64, old, expected);
    }
}

IRExpr *lwp_ir_swapped(IRSB *out, const IRCAS *cas)
{
    IRExpr *low = half_swapped(out, cas->oldLo, cas->expdLo);
    if (!cas->dataHi)
        return low;
    IRExpr *high = half_swapped(out, cas->oldHi, cas->expdHi);
    low = emit_value(out, IRExpr_Unop(Iop_1Uto64, low));
    high = emit_value(out, IRExpr_Unop(Iop_1Uto64, high));
    return emit_value(out, IRExpr_Unop(Iop_64to1, emit_binary(out, Iop_And64, low, high)));
}
