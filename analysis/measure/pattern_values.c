#include "analysis/measure/pattern_values.h"

#include <math.h>

enum { VECTOR_PRODUCT_CYCLES = 5 };

/* An instruction of two numbers whose result nobody needs, and which waits for nothing but `second`, as its result is no operand. */
static void values_idle(struct emit_buffer *code, ZydisMnemonic mnemonic, ZydisEncoderOperand second)
{
    ZydisEncoderRequest request = {.mnemonic = mnemonic, .operand_count = 3};
    request.operands[0] = emit_register(code_idle_result);
    request.operands[1] = emit_register(code_zero);
    request.operands[2] = second;
    emit_encode(code, &request);
}

static bool values_has_idle(void)
{
    return __builtin_cpu_supports("avx");
}

/* Of 4 or 8 bytes, added to the chain, or to the round's own sum where the chain is another one or has no more of them. A sum that takes as
 * long as the loop's is begun anew; what the loop has no more sums for is a factor, as far as it has products. */
static void values_sum_up(struct emit_buffer *code, ZydisEncoderOperand place, unsigned bytes, struct values_round *round)
{
    const bool carried = round->floating && round->cycles >= SUM_CYCLES && !round->joins, on = round->summed && round->left >= SUM_CYCLES;
    /* Where what is loaded becomes a factor, as of two arrays: a sum is as good, whose numbers do not become too small. */
    const bool room = round->joins ? code->sums + code->products + 2 <= round->sums + round->products : code->sums + 1 <= round->sums;
    const ZydisMnemonic load = bytes == 4 ? ZYDIS_MNEMONIC_MOVSS : ZYDIS_MNEMONIC_MOVSD,
                        add = bytes == 4 ? ZYDIS_MNEMONIC_ADDSS : ZYDIS_MNEMONIC_ADDSD,
                        multiply = bytes == 4 ? ZYDIS_MNEMONIC_VMULSS : ZYDIS_MNEMONIC_VMULSD;
    if (carried) {
        emit_add(code, add, 2, emit_register(code_sum), place);
        round->cycles -= SUM_CYCLES;
    } else if (!on || room) {
        emit_add(code, on ? add : load, 2, emit_register(code_round_sum), place);
        round->left = on ? round->left - SUM_CYCLES : round->depth;
        round->summed = bytes;
    } else if (values_has_idle() && code->products + 1 <= round->products) {
        values_idle(code, multiply, place);
    } else {
        emit_add(code, load, 2, emit_register(ZYDIS_REGISTER_XMM0), place);
    }
}

/* What the round's sum takes longer than its loads make it. */
void values_deepen(struct emit_buffer *code, struct values_round *round)
{
    const double most = round->sums + round->products;
    const ZydisMnemonic add = round->summed == 4 ? ZYDIS_MNEMONIC_ADDSS : ZYDIS_MNEMONIC_ADDSD;
    const double chain = round->joins ? 1 : 0;
    for (; round->summed && round->left >= (1 + chain) * SUM_CYCLES && code->sums + code->products + 1 + chain <= most;
         round->left -= SUM_CYCLES)
        emit_add(code, add, 2, emit_register(code_round_sum), emit_register(code_zero));
    if (round->joins && round->summed) {
        emit_add(code, add, 2, emit_register(code_sum), emit_register(code_round_sum));
        round->cycles -= SUM_CYCLES;
    }
}

/* One instruction: a number of 1, 2, 4 or 8 bytes goes through the chain's end, what is wider, or goes through one in the loop, through a
 * vector register. */
void values_access(struct emit_buffer *code, const struct lwp_pattern_access *access, struct emit_place at, uint64_t ahead,
                   struct values_round *round)
{
    unsigned bytes = access->bytes >= 16 ? 16 : access->bytes >= 8 ? 8 : access->bytes >= 4 ? 4 : access->bytes >= 2 ? 2 : 1;
    ZydisEncoderOperand place = emit_at(at, (int64_t)(access->offset + ahead), bytes), vector = emit_register(ZYDIS_REGISTER_XMM0);
    const ZydisRegister chain = bytes == 1 ? ZYDIS_REGISTER_R15B : emit_low(code_chain, bytes);
    if (bytes == 16) {
        emit_add(code, ZYDIS_MNEMONIC_MOVUPS, 2, access->store ? place : vector, access->store ? vector : place);
    } else if (access->store && access->vector && bytes >= 4) {
        emit_add(code, bytes == 4 ? ZYDIS_MNEMONIC_MOVSS : ZYDIS_MNEMONIC_MOVSD, 2, place,
                 emit_register(round->summed && !(round->joins && round->stays) ? code_round_sum : code_sum));
    } else if (access->store) {
        emit_add(code, ZYDIS_MNEMONIC_MOV, 2, place, emit_register(chain));
    } else if ((access->vector || round->floating) && bytes >= 4) {
        values_sum_up(code, place, bytes, round);
    } else if (access->adds && round->loaded && bytes >= 4) {
        emit_add(code, ZYDIS_MNEMONIC_ADD, 2, emit_register(emit_low(code_value, bytes)), place);
        round->added = true;
    } else if (!round->floating && round->cycles >= 1 && (access->adds || !round->adds)) {
        emit_add(code, ZYDIS_MNEMONIC_XOR, 2, emit_register(chain), place);
        round->cycles -= 1;
    } else if (bytes < 4) {
        emit_add(code, ZYDIS_MNEMONIC_MOVZX, 2, emit_register(emit_low(code_value, 4)), place);
    } else {
        emit_move(code, emit_low(code_value, bytes), place);
        round->loaded = true;
    }
}

/* The chain's sums with a factor. */
void values_wait_scaled(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    const struct emit_place ninefold = {.base = code_chain, .index = code_chain, .scale = 8};
    for (unsigned i = 0; i < pattern->scaled && i < CHAIN_MOST && !pattern->floating; i++)
        emit_add(code, ZYDIS_MNEMONIC_LEA, 2, emit_register(code_chain), emit_at(ninefold, 0, 8));
}

/* A sum of numbers of 4 bytes, taken for one of 8, is subnormal: processors take a hundred cycles for it. */
static ZydisMnemonic values_sum_of(const struct lwp_pattern *pattern)
{
    bool four = false, wider = false;
    for (size_t i = 0; i < pattern->access_count; i++) {
        const struct lwp_pattern_access *access = &pattern->accesses[i];
        four |= !access->store && access->bytes >= 4 && access->bytes < 8;
        wider |= !access->store && access->bytes >= 8;
    }
    return four && !wider ? ZYDIS_MNEMONIC_ADDSS : ZYDIS_MNEMONIC_ADDSD;
}

/* What the chain is longer than its accesses make it; `room`: for so many instructions. */
void values_wait(struct emit_buffer *code, const struct lwp_pattern *pattern, double cycles, double room)
{
    const bool floating = pattern->floating;
    for (; floating && cycles >= SUM_CYCLES; cycles -= SUM_CYCLES)
        emit_add(code, values_sum_of(pattern), 2, emit_register(code_sum), emit_register(ZYDIS_REGISTER_XMM0));
    for (; !floating && cycles >= PRODUCT_CYCLES && cycles > room; cycles -= PRODUCT_CYCLES, room--)
        emit_multiply(code, code_chain, code_chain, 1);
    for (; !floating && cycles >= 1; cycles--)
        emit_add(code, ZYDIS_MNEMONIC_XOR, 2, emit_register(code_chain), emit_register(code_rounds));
}

/* A chain that waits for no load, in whole numbers of a vector register: the others are taken. Of a cycle it is not noticed. */
void values_wait_apart(struct emit_buffer *code, double cycles, double room)
{
    const ZydisEncoderOperand chain = emit_register(code_apart), other = emit_register(ZYDIS_REGISTER_XMM0);
    cycles = cycles > 1 ? fmin(cycles, CHAIN_MOST) : 0;
    for (; cycles >= VECTOR_PRODUCT_CYCLES && cycles > room; cycles -= VECTOR_PRODUCT_CYCLES, room--)
        emit_add(code, ZYDIS_MNEMONIC_PMULUDQ, 2, chain, other);
    for (; cycles >= 1; cycles--)
        emit_add(code, ZYDIS_MNEMONIC_PADDQ, 2, chain, other);
}

void values_fill_plainly(struct emit_buffer *code)
{
    emit_add(code, ZYDIS_MNEMONIC_LEA, 2, emit_register(code_address), emit_memory(code_rounds, 1, 8));
}

/* Nobody needs its result, but it takes the room of one: of the registers that results are kept in until they are final, or of the flags,
 * or of a unit for floating-point numbers. `rounds`: that are written with this one. */
void values_fill(struct emit_buffer *code, const struct lwp_pattern *pattern, unsigned rounds)
{
    if (values_has_idle() && code->sums + 1 <= pattern->sums * rounds)
        values_idle(code, ZYDIS_MNEMONIC_VADDSD, emit_register(code_zero));
    else if (values_has_idle() && code->products + 1 <= pattern->products * rounds)
        values_idle(code, ZYDIS_MNEMONIC_VMULSD, emit_register(code_zero));
    else if (code->flags + 1 <= pattern->flags * rounds)
        emit_add(code, ZYDIS_MNEMONIC_TEST, 2, emit_register(code_rounds), emit_register(code_rounds));
    else
        values_fill_plainly(code);
}

/* How long that takes differs between processors: some have a number at hand that was stored just now, where the same register says its
 * place. */
void values_through_memory(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    const ZydisRegister other = pattern->at_address ? code_address : code_place;
    const ZydisEncoderOperand place = emit_memory(code_place, offsetof(struct lwp_pattern_place, kept), 8),
                              again = emit_memory(other, offsetof(struct lwp_pattern_place, kept), 8),
                              chain = emit_register(pattern->floating ? code_sum : code_chain);
    const ZydisMnemonic move = pattern->floating ? ZYDIS_MNEMONIC_MOVSD : ZYDIS_MNEMONIC_MOV;
    if (pattern->at_address)
        emit_move(code, code_address, emit_register(code_place));
    emit_add(code, move, 2, place, chain);
    emit_add(code, move, 2, chain, again);
}
