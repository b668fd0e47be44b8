/* VEX has more than a thousand operators, those of one kind mostly in a row (libvex_ir.h). What is not named here
 * computes its result from all that it is given, and is not counted. */
#include "collector/exact/detect/values/value_operators.h"

static enum lwp_ir_shape operator_shape(IROp operation, unsigned *lane)
{
    switch (operation) {
    case Iop_V256to64_1:
    case Iop_V128HIto64:
    case Iop_128HIto64:
        *lane = 1;
        return LWP_IR_LANE;
    case Iop_V256to64_2:
    case Iop_V256toV128_1:
        *lane = 2;
        return LWP_IR_LANE;
    case Iop_V256to64_3:
        *lane = 3;
        return LWP_IR_LANE;
    case Iop_V256to64_0:
    case Iop_V256toV128_0:
    case Iop_V128to64:
    case Iop_128to64:
    case Iop_ReinterpF64asI64:
    case Iop_ReinterpI64asF64:
    case Iop_ReinterpF32asI32:
    case Iop_ReinterpI32asF32:
    case Iop_ReinterpV128asI128:
    case Iop_ReinterpI128asV128:
        return LWP_IR_LANE;
    case Iop_64HLto128:
    case Iop_64HLtoV128:
    case Iop_64x4toV256:
    case Iop_V128HLtoV256:
        return LWP_IR_JOIN;
    case Iop_64to32:
    case Iop_V128to32:
        return LWP_IR_TO_32;
    case Iop_64to16:
    case Iop_32to16:
        return LWP_IR_TO_16;
    case Iop_64to8:
    case Iop_32to8:
    case Iop_16to8:
        return LWP_IR_TO_8;
    case Iop_64HIto32:
        return LWP_IR_TO_HIGH;
    case Iop_8Uto16 ... Iop_32Uto64:
        return LWP_IR_WIDEN;
    case Iop_32HLto64:
        return LWP_IR_PAIR;
    case Iop_64UtoV128:
    case Iop_ZeroHI64ofV128:
        return LWP_IR_ZEROS_64;
    case Iop_32UtoV128:
    case Iop_ZeroHI96ofV128:
        return LWP_IR_ZEROS_32;
    case Iop_SetV128lo64:
        return LWP_IR_SET_64;
    case Iop_SetV128lo32:
        return LWP_IR_SET_32;
    case Iop_InterleaveLO64x2:
        return LWP_IR_LOWS;
    case Iop_InterleaveHI64x2:
        return LWP_IR_HIGHS;
    case Iop_Add32F0x4 ... Iop_CmpUN32F0x4:
    case Iop_RecipEst32F0x4 ... Iop_RSqrtEst32F0x4:
        return LWP_IR_LOW_32;
    case Iop_Add64F0x2 ... Iop_CmpUN64F0x2:
    case Iop_Sqrt64F0x2:
        return LWP_IR_LOW_64;
    case Iop_Add32Fx4 ... Iop_Min32Fx4:
    case Iop_CmpEQ32Fx4 ... Iop_CmpGE32Fx4:
    case Iop_Abs32Fx4 ... Iop_Sqrt32Fx4:
    case Iop_RecipEst32Fx4:
    case Iop_RSqrtEst32Fx4:
    case Iop_I32StoF32x4:
    case Iop_F32toI32Sx4:
    case Iop_Add64Fx2 ... Iop_CmpUN64Fx2:
    case Iop_Abs64Fx2 ... Iop_Sqrt64Fx2:
    case Iop_NotV128 ... Iop_XorV128:
    case Iop_CmpNEZ8x16 ... Iop_CmpNEZ64x2:
    case Iop_Add8x16 ... Iop_Add64x2:
    case Iop_QAdd8Ux16 ... Iop_QAdd64Sx2:
    case Iop_Sub8x16 ... Iop_Sub64x2:
    case Iop_QSub8Ux16 ... Iop_QSub64Sx2:
    case Iop_Mul8x16 ... Iop_MullEven32Sx4:
    case Iop_Abs8x16 ... Iop_Abs64x2:
    case Iop_Avg8Ux16 ... Iop_CmpGT64Ux2:
    case Iop_ShlN8x16 ... Iop_SarN64x2:
    case Iop_AndV256 ... Iop_NotV256:
    case Iop_CmpNEZ8x32 ... Iop_Avg16Ux16:
    case Iop_Add64Fx4 ... Iop_F32toI32Sx8:
    case Iop_Sqrt32Fx8 ... Iop_Min64Fx4:
        return LWP_IR_LANEWISE;
    default:
        return LWP_IR_MIXED;
    }
}

static bool operator_computes(IROp operation)
{
    switch (operation) {
    case Iop_Add8 ... Iop_Sar64:
    case Iop_Not8 ... Iop_Not64:
    case Iop_MullS8 ... Iop_MullU64:
    case Iop_Clz64 ... Iop_PopCount32:
    case Iop_Max32U:
    case Iop_DivU32 ... Iop_DivModU32to32:
    case Iop_AddF64 ... Iop_SqrtF32:
    case Iop_F64toI16S ... Iop_F64toF32:
    case Iop_AtanF64 ... Iop_RoundF32toInt:
    case Iop_MAddF32 ... Iop_RoundF64toF64_ZERO:
    case Iop_MaxNumF64 ... Iop_MinNumF32:
    case Iop_Add32Fx4 ... Iop_Min32Fx4:
    case Iop_Abs32Fx4 ... Iop_RSqrtEst32Fx4:
    case Iop_I32StoF32x4:
    case Iop_F32toI32Sx4:
    case Iop_Add32F0x4 ... Iop_Min32F0x4:
    case Iop_RecipEst32F0x4 ... Iop_RSqrtEst32F0x4:
    case Iop_Add64Fx2 ... Iop_Min64Fx2:
    case Iop_Abs64Fx2 ... Iop_Sqrt64Fx2:
    case Iop_Add64F0x2 ... Iop_Min64F0x2:
    case Iop_Sqrt64F0x2:
    case Iop_NotV128 ... Iop_XorV128:
    case Iop_Add8x16 ... Iop_QRDMulHi32Sx4:
    case Iop_PwAdd8x16 ... Iop_PwAdd32Fx2:
    case Iop_Abs8x16 ... Iop_Min64Ux2:
    case Iop_ShlN8x16 ... Iop_SarN64x2:
    case Iop_Shl8x16 ... Iop_Rol64x2:
    case Iop_AndV256 ... Iop_NotV256:
    case Iop_Add8x32 ... Iop_Sub64x4:
    case Iop_ShlN16x16 ... Iop_Avg16Ux16:
    case Iop_Add64Fx4 ... Iop_F32toI32Sx8:
    case Iop_Sqrt32Fx8 ... Iop_Min64Fx4:
        return true;
    default:
        return false;
    }
}

static bool operator_commutes(IROp operation)
{
    switch (operation) {
    case Iop_Add8 ... Iop_Add64:
    case Iop_Mul8 ... Iop_Xor64:
    case Iop_MullS8 ... Iop_MullU64:
    case Iop_AddF64:
    case Iop_MulF64:
    case Iop_AddF32:
    case Iop_MulF32:
    case Iop_Add32Fx4:
    case Iop_Mul32Fx4:
    case Iop_Add32F0x4:
    case Iop_Mul32F0x4:
    case Iop_Add64Fx2:
    case Iop_Mul64Fx2:
    case Iop_Add64F0x2:
    case Iop_Mul64F0x2:
    case Iop_Add64Fx4:
    case Iop_Mul64Fx4:
    case Iop_Add32Fx8:
    case Iop_Mul32Fx8:
    case Iop_AndV128 ... Iop_XorV128:
    case Iop_Add8x16 ... Iop_Add64x2:
    case Iop_Mul8x16 ... Iop_MulHi32Sx4:
    case Iop_Avg8Ux16 ... Iop_CmpEQ64x2:
    case Iop_AndV256 ... Iop_XorV256:
    case Iop_Add8x32 ... Iop_Add64x4:
    case Iop_Max8Sx32 ... Iop_MulHi16Sx16:
        return true;
    default:
        return false;
    }
}

struct lwp_ir_operator lwp_ir_operator(IROp operation)
{
    struct lwp_ir_operator description = {.computes = operator_computes(operation),
                                          .adds = operation >= Iop_Add8 && operation <= Iop_Sub64,
                                          .commutes = operator_commutes(operation)};
    description.shape = operator_shape(operation, &description.lane);
    return description;
}
