#include "analysis/measure/emit.h"

#include <string.h>

ZydisEncoderOperand emit_register(ZydisRegister which)
{
    ZydisEncoderOperand operand = {.type = ZYDIS_OPERAND_TYPE_REGISTER};
    operand.reg.value = which;
    return operand;
}

ZydisEncoderOperand emit_number(int64_t value)
{
    ZydisEncoderOperand operand = {.type = ZYDIS_OPERAND_TYPE_IMMEDIATE};
    operand.imm.s = value;
    return operand;
}

ZydisEncoderOperand emit_at(struct emit_place place, int64_t displacement, unsigned bytes)
{
    ZydisEncoderOperand operand = {.type = ZYDIS_OPERAND_TYPE_MEMORY};
    operand.mem.base = place.base;
    operand.mem.index = place.index;
    operand.mem.scale = place.scale;
    operand.mem.displacement = displacement;
    operand.mem.size = (ZyanU16)bytes;
    return operand;
}

ZydisEncoderOperand emit_memory(ZydisRegister base, int64_t displacement, unsigned bytes)
{
    return emit_at((struct emit_place){.base = base}, displacement, bytes);
}

void emit_encode(struct emit_buffer *code, ZydisEncoderRequest *request)
{
    ZyanUSize length = EMIT_BYTES - code->used;
    request->machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    if (code->failed || ZYAN_FAILED(ZydisEncoderEncodeInstruction(request, code->bytes + code->used, &length))) {
        code->failed = true;
        return;
    }
    const ZydisMnemonic does = request->mnemonic;
    code->used += length;
    code->instructions++;
    code->flags += does == ZYDIS_MNEMONIC_XOR || does == ZYDIS_MNEMONIC_ADD || does == ZYDIS_MNEMONIC_SUB || does == ZYDIS_MNEMONIC_IMUL ||
                   does == ZYDIS_MNEMONIC_SHR || does == ZYDIS_MNEMONIC_SHL || does == ZYDIS_MNEMONIC_TEST;
    code->sums += does == ZYDIS_MNEMONIC_ADDSS || does == ZYDIS_MNEMONIC_ADDSD || does == ZYDIS_MNEMONIC_VADDSD;
    code->products += does == ZYDIS_MNEMONIC_VMULSS || does == ZYDIS_MNEMONIC_VMULSD;
}

void emit_add(struct emit_buffer *code, ZydisMnemonic mnemonic, unsigned operands, ZydisEncoderOperand first, ZydisEncoderOperand second)
{
    ZydisEncoderRequest request = {.mnemonic = mnemonic, .operand_count = (ZyanU8)operands};
    request.operands[0] = first;
    request.operands[1] = second;
    emit_encode(code, &request);
}

void emit_move(struct emit_buffer *code, ZydisRegister to, ZydisEncoderOperand from)
{
    emit_add(code, ZYDIS_MNEMONIC_MOV, 2, emit_register(to), from);
}

ZydisRegister emit_low(ZydisRegister of_8_bytes, unsigned bytes)
{
    unsigned number = of_8_bytes - ZYDIS_REGISTER_RAX;
    return bytes == 4 ? ZYDIS_REGISTER_EAX + number : bytes == 2 ? ZYDIS_REGISTER_AX + number : of_8_bytes;
}

void emit_multiply(struct emit_buffer *code, ZydisRegister to, ZydisRegister from, uint64_t by)
{
    ZydisEncoderRequest multiply = {.mnemonic = ZYDIS_MNEMONIC_IMUL, .operand_count = 3};
    multiply.operands[0] = emit_register(to);
    multiply.operands[1] = emit_register(from);
    multiply.operands[2] = emit_number((int64_t)by);
    emit_encode(code, &multiply);
}

ZydisEncoderRequest emit_jump(ZydisMnemonic when, int64_t by)
{
    ZydisEncoderRequest jump = {
        .mnemonic = when, .operand_count = 1, .branch_type = ZYDIS_BRANCH_TYPE_NEAR, .branch_width = ZYDIS_BRANCH_WIDTH_32};
    jump.operands[0] = emit_number(by);
    return jump;
}

void emit_land(struct emit_buffer *code, size_t from)
{
    const int32_t by = (int32_t)(code->used - from);
    if (!code->failed)
        memcpy(code->bytes + from - sizeof by, &by, sizeof by);
}
