/* Whether a store keeps the smaller or the larger of a new value and of what is at its place. Mostly that is what is there already, and yet
 * nothing is computed in vain.
 *
 * What is at the place is in the register that was loaded from there, or where the store goes to one place again and again, in the one that
 * it stores. Limits: within one basic block; a choice by a jump is none, as it then jumps over the store. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"
#include "analysis/program/flow/machine_code.h"

struct extreme {
    uint64_t there, chosen; /* registers with what is at the place; with a choice of that and another value */
};

static bool extreme_same_place(const struct lwp_memory_operand *a, const struct lwp_memory_operand *b)
{
    return a->exists && a->load && a->base == b->base && a->index == b->index && a->displacement == b->displacement &&
           (a->index < 0 || a->scale == b->scale);
}

static void extreme_add(struct extreme *extreme, const struct code_instruction *instruction, const struct lwp_memory_operand *place)
{
    enum { SMALLER = 3, LARGER = 4 };
    const uint64_t written = code_values_written(instruction), read = code_values_read(instruction) | (instruction->chooses ? written : 0);
    const bool loads = extreme_same_place(&instruction->memory, place), moves = code_moves(instruction) && !instruction->chooses;
    const uint16_t kind = code_gathers(instruction);
    const bool chooses = instruction->chooses || kind == SMALLER || kind == LARGER;
    const bool there = moves && (loads || read & extreme->there);
    const bool chosen = (chooses && (loads || read & (extreme->there | extreme->chosen))) || (moves && read & extreme->chosen);
    extreme->there = there ? extreme->there | written : extreme->there & ~written;
    extreme->chosen = chosen ? extreme->chosen | written : extreme->chosen & ~written;
    if (written & code_values_address(place)) /* another place from here on */
        *extreme = (struct extreme){0, 0};
}

bool lwp_code_keeps_extreme(struct lwp_code *code, uint32_t module, uint64_t address, bool stays)
{
    struct code_module *in = code_module_at(code, module);
    const struct flow_function *function = in ? code_flow_at(in, address) : NULL;
    const uint32_t block = function ? code_flow_block(function, address) : LWP_NONE;
    if (block == LWP_NONE)
        return false;
    const struct code_instruction store = code_decode_at(in, address, true);
    if (!store.length || !store.puts || store.put < 0)
        return false;
    const uint64_t put = (uint64_t)1 << (store.put >= CODE_VECTORS ? store.put - CODE_VECTORS + CODE_REGISTERS : store.put);
    struct extreme extreme = {.there = stays ? put : 0};
    for (uint64_t at = function->blocks[block].start; at < address;) {
        const struct code_instruction instruction = code_decode_at(in, at, true);
        if (!instruction.length)
            return false;
        extreme_add(&extreme, &instruction, &store.memory);
        at += instruction.length;
    }
    return extreme.chosen & put;
}
