/* Jumps of a loop that go the one or the other way by what the loop loads, each way to code of its own, as where two sorted lists are
 * merged, or past such code. Processors guess such jumps, and what follows a wrong guess waits: loads behind it seem to stall.
 *
 * What is compared comes from data if it was loaded through a register that changes in the loops around it, or computed from such a value.
 * The order of instructions is ignored, as in loop_shape.c. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"

#include <stdlib.h>

enum { BEFORE_MOST = 4, DECODED_MOST = 4000 };

struct choices_walk {
    const struct code_module *module;
    const struct flow_function *function;
    uint32_t loop, outermost;
    uint32_t *entered, *from; /* block -> edges of the outermost loop that lead to it, and one of the blocks they come from */
    uint64_t changed, data;   /* registers in the outermost loop: written; from what it loads (general, then vector ones) */
};

/* Whether the instruction's value is data. */
static bool choices_data(const struct choices_walk *walk, const struct code_instruction *instruction)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    return (memory->exists && memory->load && code_values_address(memory) & walk->changed) || code_values_read(instruction) & walk->data;
}

static bool choices_within(const struct choices_walk *walk, uint32_t b)
{
    return code_loop_holds(walk->module->code, walk->outermost, walk->function->blocks[b].loop);
}

/* Calls back with each instruction of the outermost loop; false: it cannot be read, or is too long. */
static bool choices_each(struct choices_walk *walk, void (*take)(struct choices_walk *, const struct code_instruction *))
{
    uint32_t decoded = 0;
    for (uint32_t b = 0; b < walk->function->block_count; b++) {
        const struct flow_block *block = &walk->function->blocks[b];
        if (!choices_within(walk, b))
            continue;
        for (uint64_t at = block->start; at < block->end;) {
            const struct code_instruction instruction = code_decode_at(walk->module, at, true);
            if (!instruction.length || ++decoded > DECODED_MOST)
                return false;
            at += instruction.length;
            take(walk, &instruction);
        }
    }
    return true;
}

static void choices_note_changed(struct choices_walk *walk, const struct code_instruction *instruction)
{
    walk->changed |= code_values_written(instruction);
}

static void choices_note_data(struct choices_walk *walk, const struct code_instruction *instruction)
{
    walk->data |= choices_data(walk, instruction) ? code_values_written(instruction) : 0;
}

/* Whether the jump at the block's end is taken or not by data: so says the last instruction before it that wrote flags, perhaps in a
 * block that leads nowhere else but here. */
static bool choices_depends(const struct choices_walk *walk, uint32_t b)
{
    for (int before = 0; before < BEFORE_MOST; before++, b = walk->from[b]) {
        const struct flow_block *block = &walk->function->blocks[b];
        int found = -1;
        for (uint64_t at = block->start; at < block->end;) {
            const struct code_instruction instruction = code_decode_at(walk->module, at, true);
            if (!instruction.length)
                return false;
            at += instruction.length;
            if (instruction.flags)
                found = choices_data(walk, &instruction);
        }
        if (found >= 0 || walk->entered[b] != 1)
            return found > 0;
    }
    return false;
}

/* Whether a block is reached by one way only, within the loops. */
static bool choices_own(const struct choices_walk *walk, uint32_t b)
{
    return walk->entered[b] == 1 && choices_within(walk, b);
}

/* Whether one way is past the other one's code, to where that goes on. */
static bool choices_passes(const struct choices_walk *walk, const uint32_t *ways, const bool *own)
{
    const struct flow_function *function = walk->function;
    const uint32_t code = ways[!own[0]], past = ways[own[0]];
    if (own[0] == own[1])
        return false;
    for (uint32_t e = function->edge_first[code]; e < function->edge_first[code + 1]; e++)
        if (function->edges[e] == past)
            return true;
    return false;
}

static size_t choices_find(const struct choices_walk *walk, struct lwp_loop_choice *choices, size_t room)
{
    const struct flow_function *function = walk->function;
    size_t count = 0;
    for (uint32_t b = 0; b < function->block_count && count < room; b++) {
        const uint32_t *ways = function->edges + function->edge_first[b];
        if (function->edge_first[b + 1] - function->edge_first[b] != 2 || !choices_within(walk, ways[0]) ||
            !choices_within(walk, ways[1]) ||
            (function->blocks[ways[0]].loop != walk->loop && function->blocks[ways[1]].loop != walk->loop))
            continue;
        const bool own[2] = {choices_own(walk, ways[0]), choices_own(walk, ways[1])};
        if (!(own[0] && own[1]) && !choices_passes(walk, ways, own))
            continue;
        if (!choices_depends(walk, b))
            continue;
        for (int way = 0; way < 2; way++) {
            choices[count].low[way] = own[way] ? function->blocks[ways[way]].start : 0;
            choices[count].high[way] = own[way] ? function->blocks[ways[way]].end : 0;
        }
        count++;
    }
    return count;
}

size_t lwp_loop_choices(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_loop_choice *choices, size_t room)
{
    struct code_module *in = code_module_at(code, module);
    const struct flow_function *function = in ? code_flow_at(in, address) : NULL;
    const uint32_t block = function ? code_flow_block(function, address) : LWP_NONE;
    struct choices_walk walk = {.module = in, .function = function, .loop = block != LWP_NONE ? function->blocks[block].loop : LWP_NONE};
    size_t count = 0;
    if (walk.loop == LWP_NONE)
        return 0;
    walk.outermost = walk.loop;
    for (uint32_t up; (up = lwp_code_loop(code, walk.outermost)->parent) != LWP_NONE;)
        walk.outermost = up;
    walk.entered = lwp_zeroed(function->block_count, sizeof *walk.entered);
    walk.from = lwp_zeroed(function->block_count, sizeof *walk.from);
    for (uint32_t b = 0; b < function->block_count; b++)
        for (uint32_t e = function->edge_first[b]; e < function->edge_first[b + 1] && choices_within(&walk, b); e++) {
            walk.entered[function->edges[e]]++;
            walk.from[function->edges[e]] = b;
        }
    /* Twice: from what one iteration computes another one goes on. */
    if (choices_each(&walk, choices_note_changed) && choices_each(&walk, choices_note_data) && choices_each(&walk, choices_note_data))
        count = choices_find(&walk, choices, room);
    free(walk.entered);
    free(walk.from);
    return count;
}
