/* Whether a value goes through all iterations of two nested loops in an order that matters: then they cannot be interchanged.
 *
 * Such a value is in a register that one iteration of the inner loop computes from what the one before left there, and that the loop
 * around does not begin anew. What only counts is none, and neither is a sum, product, minimum or maximum that nothing else in the
 * loop reads: its parts may come in any order (of floating-point numbers, but for rounding). Blocks are taken from the loop's header on,
 * as if all ran. Limits: what code that was not optimized keeps in memory is not followed. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 16, KEPT = 48, INSTRUCTIONS_MOST = 4000 };

struct kept {
    uint64_t from[KEPT];         /* registers at the iteration's start that this one depends on, a bit each */
    uint64_t written, elsewhere; /* by whatever; read where something else than itself is computed, or as an address */
    uint64_t mixed;              /* written by other than adding to it, or by more than one kind of that */
    uint64_t copied;             /* registers that are computed as themselves plus what may change */
    uint16_t kind[KEPT];         /* of what is added: a mnemonic's first letters; 0: nothing yet */
    uint64_t begun;              /* written around the loop without being read */
};

static uint64_t kept_address(const struct code_instruction *instruction)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    return memory->exists ? code_values_address(memory) : 0;
}

static void kept_add(struct kept *kept, const struct code_instruction *instruction)
{
    const uint64_t read = code_values_read(instruction), written = code_values_written(instruction);
    const struct code_linear *linear = &instruction->linear;
    const bool grows =
        linear->exists && !linear->selects && linear->base == linear->to && (linear->index < 0 || linear->index != linear->to);
    const uint16_t kind = code_gathers(instruction);
    uint64_t from = 0;
    for (uint64_t left = read; left; left &= left - 1)
        from |= kept->from[__builtin_ctzll(left)];
    kept->elsewhere |= kept_address(instruction);
    for (int i = 0; i < KEPT; i++) {
        const uint64_t bit = (uint64_t)1 << i;
        if (read & bit && (written & ~bit || instruction->memory.store))
            kept->elsewhere |= bit;
        if (!(written & bit))
            continue;
        kept->from[i] = from;
        if (!grows || !(linear->to == i))
            kept->copied |= bit;
        if (!(read & bit) || !kind || (kept->kind[i] && kept->kind[i] != kind))
            kept->mixed |= bit;
        kept->kind[i] = kind;
    }
    kept->written |= written;
}

/* Registers whose value goes from iteration to iteration in an order that matters. */
static uint64_t kept_ordered(const struct kept *kept)
{
    uint64_t ordered = 0;
    for (int i = 0; i < KEPT; i++) {
        const uint64_t bit = (uint64_t)1 << i;
        const bool carried = kept->written & bit && kept->from[i] & bit, counts = !(kept->copied & bit),
                   sum = !(kept->mixed & bit) && !(kept->elsewhere & bit);
        if (carried && !counts && !sum && !(kept->begun & bit))
            ordered |= bit;
    }
    return ordered;
}

/* False: not all of the block could be decoded. `begins`: it is of the loop around; else of the loop itself. */
static bool kept_read_block(const struct code_module *module, const struct flow_block *block, bool begins, uint32_t *decoded,
                            struct kept *kept)
{
    for (uint64_t at = block->start; at < block->end;) {
        struct code_instruction instruction = code_decode_at(module, at, true);
        if (!instruction.length || ++*decoded > INSTRUCTIONS_MOST)
            return false;
        at += instruction.length;
        if (!begins)
            kept_add(kept, &instruction);
        else if (!instruction.linear.selects)
            kept->begun |= code_values_written(&instruction) & ~code_values_read(&instruction) & ~kept_address(&instruction);
    }
    return true;
}

/* Instructions of the loop itself are added, from its header on: what its end only hands on to the next iteration may stand before that.
 * Those of the loop around it tell what is begun anew. */
static bool kept_read_loops(const struct code_module *module, const struct flow_function *function, uint32_t inner, uint32_t outer,
                            uint32_t header, struct kept *kept)
{
    uint32_t decoded = 0;
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct flow_block *block = &function->blocks[b];
        if (code_loop_holds(module->code, outer, block->loop) && !code_loop_holds(module->code, inner, block->loop) &&
            !kept_read_block(module, block, true, &decoded, kept))
            return false;
    }
    uint32_t *order = lwp_zeroed(2 * function->block_count, sizeof *order);
    const uint32_t count = code_loop_order(module->code, function, inner, header, order, order + function->block_count);
    bool whole = true;
    for (uint32_t i = 0; i < count && whole; i++)
        whole = kept_read_block(module, &function->blocks[order[i]], false, &decoded, kept);
    free(order);
    return whole;
}

/* Of the innermost loop that holds the address, and of the one so many around it. */
static bool kept_find(struct lwp_code *code, uint32_t module, uint64_t address, unsigned level, struct kept *kept)
{
    struct code_module *in = code_module_at(code, module);
    const struct flow_function *function = in ? code_flow_at(in, address) : NULL;
    const uint32_t block = function ? code_flow_block(function, address) : LWP_NONE;
    const uint32_t inner = block != LWP_NONE ? function->blocks[block].loop : LWP_NONE;
    uint32_t outer = inner;
    *kept = (struct kept){.written = 0};
    while (level-- && outer != LWP_NONE)
        outer = code->loops[outer]->parent;
    if (inner == LWP_NONE || outer == LWP_NONE || outer == inner)
        return false;
    for (int i = 0; i < KEPT; i++)
        kept->from[i] = (uint64_t)1 << i;
    return kept_read_loops(in, function, inner, outer, function->blocks[block].header, kept);
}

bool lwp_code_loop_ordered(struct lwp_code *code, uint32_t module, uint64_t address, unsigned level)
{
    struct kept kept;
    return kept_find(code, module, address, level, &kept) && kept_ordered(&kept);
}

bool lwp_code_loop_sums_on(struct lwp_code *code, uint32_t module, uint64_t address, unsigned level)
{
    struct kept kept;
    uint64_t sums = 0;
    if (!kept_find(code, module, address, level, &kept))
        return false;
    for (int i = REGISTERS; i < KEPT; i++)
        sums |= kept.written & kept.from[i] & (uint64_t)1 << i & ~kept.mixed;
    return sums && !(sums & kept.begun);
}
