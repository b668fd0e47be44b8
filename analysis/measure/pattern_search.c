/* Searches of many elements that come to few of them each: of a tree, and by halves. The next element is as good as drawn, once this one
 * has come. */
#include "analysis/measure/pattern_place.h"

/* What is done with the element at which a search has ended: of a tree that is `code_order`. */
static void code_found(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    uint64_t spacing = 0;
    for (size_t i = 0; i < pattern->access_count; i++) {
        const struct lwp_pattern_access *access = &pattern->accesses[i];
        struct emit_place place = {.base = code_order};
        struct values_round none = {0};
        if (!access->found)
            continue;
        if (pattern->bisects) {
            place = code_element(code, pattern, access->array, 0, &spacing);
        } else if (access->array) {
            emit_move(code, code_address, emit_memory(code_order, (int64_t)pattern->arrays[access->array].link, 8));
            place.base = code_address;
        }
        values_access(code, access, place, 0, &none);
    }
    values_fill_plainly(code);
}

/* A number that is as good as drawn once the one at the place has come: what is drawn again and again processors learn. */
static void code_either(struct emit_buffer *code, const struct lwp_pattern *pattern, ZydisEncoderOperand place)
{
    enum { BIT = 40 };
    const ZydisRegister drawn = code_drawn(pattern);
    const ZydisEncoderOperand low = emit_register(emit_low(code_value, 4));
    emit_multiply(code, drawn, drawn, CODE_MULTIPLIER);
    emit_move(code, code_value, emit_register(drawn));
    emit_add(code, ZYDIS_MNEMONIC_SHR, 2, emit_register(code_value), emit_number(BIT));
    emit_add(code, ZYDIS_MNEMONIC_XOR, 2, low, place);
    emit_add(code, ZYDIS_MNEMONIC_AND, 2, low, emit_number(1));
}

void code_descend(struct emit_buffer *code, const struct lwp_pattern *pattern)
{
    const int64_t link = (int64_t)pattern->arrays[0].link;
    const ZydisRegister at = code_arrays[0];
    emit_move(code, code_order, emit_register(at));
    code_either(code, pattern, emit_memory(at, (int64_t)pattern->accesses[0].offset, 4));
    if (pattern->guesses) {
        ZydisEncoderRequest right = emit_jump(ZYDIS_MNEMONIC_JNZ, 0), done = emit_jump(ZYDIS_MNEMONIC_JMP, 0);
        emit_encode(code, &right);
        const size_t from_right = code->used;
        emit_move(code, at, emit_memory(at, link, 8));
        emit_encode(code, &done);
        const size_t from_done = code->used;
        emit_land(code, from_right);
        emit_move(code, at, emit_memory(at, link + 8, 8));
        emit_land(code, from_done);
    } else {
        emit_move(code, at, emit_at((struct emit_place){.base = at, .index = code_value, .scale = 8}, link, 8));
    }
    ZydisEncoderRequest on = emit_jump(ZYDIS_MNEMONIC_JNZ, 0);
    emit_add(code, ZYDIS_MNEMONIC_CMP, 2, emit_register(at), emit_register(code_first));
    emit_encode(code, &on);
    const size_t from = code->used;
    code_found(code, pattern);
    emit_land(code, from);
}

void code_middle(struct emit_buffer *code)
{
    emit_add(code, ZYDIS_MNEMONIC_LEA, 2, emit_register(code_index),
             emit_at((struct emit_place){.base = code_first, .index = code_order, .scale = 1}, 0, 8));
}

void code_halve(struct emit_buffer *code, const struct lwp_pattern *pattern, uint64_t *spacing)
{
    const ZydisEncoderOperand first = emit_register(code_first), index = emit_register(code_index), half = emit_register(code_order);
    const struct emit_place place = code_element(code, pattern, pattern->accesses[0].array, 0, spacing);
    code_either(code, pattern, emit_at(place, (int64_t)pattern->accesses[0].offset, 4));
    if (pattern->guesses) {
        ZydisEncoderRequest lower = emit_jump(ZYDIS_MNEMONIC_JZ, 0);
        emit_encode(code, &lower);
        const size_t from = code->used;
        emit_move(code, code_first, index);
        emit_land(code, from);
    } else {
        emit_add(code, ZYDIS_MNEMONIC_CMOVNZ, 2, first, index);
    }
    ZydisEncoderRequest on = emit_jump(ZYDIS_MNEMONIC_JNZ, 0);
    emit_add(code, ZYDIS_MNEMONIC_SHR, 2, half, emit_number(1));
    emit_encode(code, &on);
    const size_t from = code->used;
    code_found(code, pattern);
    emit_move(code, code_order, emit_number((int64_t)lwp_pattern_half(pattern)));
    emit_add(code, ZYDIS_MNEMONIC_XOR, 2, first, first);
    emit_land(code, from);
}
