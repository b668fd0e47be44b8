/* A spill: a store of a register to the frame, where the loop writes that register only by loading it from there again, and nothing else
 * stores to the place. The value is that of the loop's entry each time, so the store says nothing of what the loop does.
 *
 * Limits: by the stack pointer, or a frame pointer, without an index; a value that goes on by a constant is none. */
#include "analysis/program/flow/loop_spills.h"

#include "analysis/program/flow/decode.h"
#include "analysis/program/flow/pure.h"

enum { SPILLS_MAX = 16 };

struct spill {
    int8_t base, reg;
    int32_t displacement;
    uint32_t stores; /* of the loop itself */
    bool other;      /* the place, or the register, gets something else, too */
};

struct spills {
    struct spill items[SPILLS_MAX];
    uint32_t count;
    bool frame_pointer;
};

static bool spill_place(const struct spills *spills, const struct lwp_memory_operand *memory)
{
    return memory->exists && memory->index < 0 && (memory->base == CODE_RSP || (memory->base == CODE_RBP && spills->frame_pointer));
}

static bool spill_is_at(const struct spill *spill, const struct lwp_memory_operand *memory)
{
    return memory->exists && memory->index < 0 && memory->base == spill->base && memory->displacement == spill->displacement;
}

static bool spill_puts(const struct code_instruction *instruction)
{
    return instruction->puts && instruction->put >= 0 && instruction->put < CODE_REGISTERS;
}

static void spills_add(struct spills *spills, const struct code_instruction *instruction, bool own)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    if (!spill_puts(instruction) || !spill_place(spills, memory))
        return;
    struct spill *at = spills->items, *end = at + spills->count;
    while (at < end && !(at->reg == instruction->put && spill_is_at(at, memory)))
        at++;
    if (at == end && spills->count == SPILLS_MAX)
        return;
    if (at == end)
        spills->items[spills->count++] =
            (struct spill){.base = memory->base, .reg = instruction->put, .displacement = memory->displacement};
    at->stores += own;
}

static void spills_check(struct spills *spills, const struct code_instruction *instruction, bool own)
{
    (void)own;
    const struct lwp_memory_operand *memory = &instruction->memory;
    const bool call = instruction->flow == CODE_FLOW_CALL;
    for (struct spill *spill = spills->items; spill < spills->items + spills->count; spill++) {
        const bool there = spill_is_at(spill, memory);
        const bool reloads =
            there && ((instruction->loads && instruction->destination == spill->reg) || instruction->narrow_destination == spill->reg);
        spill->other |= !call && !reloads && instruction->written & (1u << spill->reg | 1u << spill->base);
        spill->other |= !call && there && memory->store && !(spill_puts(instruction) && instruction->put == spill->reg);
    }
}

static bool spills_each(struct spills *spills, const struct code_module *module, const struct flow_function *function, uint32_t loop,
                        void (*f)(struct spills *spills, const struct code_instruction *instruction, bool own))
{
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct flow_block *block = &function->blocks[b];
        if (!code_loop_holds(module->code, loop, block->loop))
            continue;
        for (uint64_t at = block->start; at < block->end;) {
            const struct code_instruction instruction = code_decode_at(module, at, true);
            if (!instruction.length)
                return false;
            f(spills, &instruction, block->loop == loop);
            at += instruction.length;
        }
    }
    return true;
}

uint32_t code_loop_spills(const struct code_module *module, const struct flow_function *function, uint32_t loop)
{
    struct spills spills = {.frame_pointer = code_has_frame_pointer(module, function->range)};
    uint32_t stores = 0;
    if (!spills_each(&spills, module, function, loop, spills_add) || !spills_each(&spills, module, function, loop, spills_check))
        return 0;
    for (uint32_t i = 0; i < spills.count; i++)
        stores += spills.items[i].other ? 0 : spills.items[i].stores;
    return stores;
}
