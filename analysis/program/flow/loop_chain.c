/* Chains of loads from one iteration to the next, in the order of the instructions: a register that holds an address for a moment and then
 * another one is no chain.
 *
 * What each register, and each place on the stack that registers are kept in, gets of the values that there were at the iteration's start,
 * is followed through all blocks, those of inner loops again until nothing changes: as they were, or as the address of a load. What a call
 * returns is taken for something that was loaded from where its arguments lead. A chain is a value that gets something of itself so, in one
 * iteration or several. */
#include "analysis/program/flow/loop_chain.h"

#include "analysis/program/flow/decode.h"

#include <stdlib.h>

enum { SLOTS = 16, VALUES = CODE_REGISTERS + SLOTS, PASSES_MOST = 8, DECODED_MOST = 4000 };

static const uint32_t arguments = 1u << CODE_RDI | 1u << CODE_RSI | 1u << CODE_RDX | 1u << CODE_RCX | 1u << CODE_R8 | 1u << CODE_R9;

/* Of the values at the iteration's start, a bit each. */
struct chain_value {
    uint32_t from, loaded;
};

struct chain_state {
    struct chain_value of[VALUES];
    bool reached;
};

struct chain_walk {
    const struct code_module *module;
    const struct flow_function *function;
    uint32_t *order, *position;
    uint32_t count, decoded;
    struct chain_state *in, end; /* where each block begins; where the loop goes round */
    int64_t slots[SLOTS];        /* from the stack pointer */
    uint32_t slot_count;
    bool changed, unknown;
};

static bool chain_join(struct chain_state *to, const struct chain_state *from)
{
    bool changed = !to->reached;
    for (int v = 0; v < VALUES; v++) {
        const struct chain_value before = to->of[v];
        to->of[v].from |= from->of[v].from;
        to->of[v].loaded |= from->of[v].loaded;
        changed |= before.from != to->of[v].from || before.loaded != to->of[v].loaded;
    }
    to->reached = true;
    return changed;
}

static void chain_get(struct chain_value *value, const struct chain_state *state, uint32_t registers, bool loads)
{
    for (uint32_t left = registers; left; left &= left - 1) {
        const struct chain_value of = state->of[__builtin_ctz(left)];
        value->from |= loads ? 0 : of.from;
        value->loaded |= of.loaded | (loads ? of.from : 0);
    }
}

static uint32_t chain_address(const struct lwp_memory_operand *memory)
{
    return (memory->base >= 0 && memory->base < CODE_REGISTERS ? 1u << memory->base : 0) |
           (memory->index >= 0 && memory->index < CODE_REGISTERS ? 1u << memory->index : 0);
}

/* The place on the stack; -1: it is elsewhere. */
static int chain_slot(struct chain_walk *walk, const struct lwp_memory_operand *memory)
{
    uint32_t s = 0;
    if (!memory->exists || memory->base != CODE_RSP || memory->index >= 0)
        return -1;
    while (s < walk->slot_count && walk->slots[s] != memory->displacement)
        s++;
    if (s == SLOTS) {
        walk->unknown = true;
        return -1;
    }
    if (s == walk->slot_count)
        walk->slots[walk->slot_count++] = memory->displacement;
    return CODE_REGISTERS + (int)s;
}

static void chain_instruction(struct chain_walk *walk, const struct code_instruction *instruction, struct chain_state *state)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    const struct code_linear *linear = &instruction->linear;
    const int slot = chain_slot(walk, memory);
    struct chain_value value = {0, 0};
    if (instruction->flow == CODE_FLOW_CALL) {
        chain_get(&value, state, arguments | (memory->exists ? chain_address(memory) : 0), true);
        for (uint32_t left = instruction->written & ~(1u << CODE_RSP); left; left &= left - 1)
            state->of[__builtin_ctz(left)] = (struct chain_value){0, 0};
        state->of[CODE_RAX] = value;
        return;
    }
    if (memory->exists && memory->load && slot >= 0)
        value = state->of[slot];
    else if (memory->exists && memory->load)
        chain_get(&value, state, chain_address(memory), true);
    if (linear->exists)
        chain_get(&value, state,
                  (linear->base >= 0 ? 1u << linear->base : 0) | (linear->index >= 0 ? 1u << linear->index : 0) |
                      (linear->selects ? 1u << linear->to : 0),
                  false);
    else if (!instruction->loads)
        chain_get(&value, state, instruction->read, false);
    if (memory->exists && memory->store && slot >= 0)
        state->of[slot] = value;
    for (uint32_t left = instruction->written & ~(1u << CODE_RSP); left; left &= left - 1)
        state->of[__builtin_ctz(left)] = value;
}

static void chain_block(struct chain_walk *walk, uint32_t b)
{
    const struct flow_function *function = walk->function;
    const struct flow_block *block = &function->blocks[b];
    struct chain_state state = walk->in[walk->position[b]];
    for (uint64_t at = block->start; at < block->end && !walk->unknown;) {
        const struct code_instruction instruction = code_decode_at(walk->module, at, true);
        walk->unknown = !instruction.length || ++walk->decoded > PASSES_MOST * DECODED_MOST;
        at += instruction.length;
        chain_instruction(walk, &instruction, &state);
    }
    for (uint32_t e = function->edge_first[b]; e < function->edge_first[b + 1]; e++) {
        const uint32_t to = walk->position[function->edges[e]];
        if (to == 0)
            chain_join(&walk->end, &state);
        else if (to != LWP_NONE)
            walk->changed |= chain_join(&walk->in[to], &state);
    }
}

/* Whether some value gets something of itself through a load, an iteration later or several. */
static bool chain_goes_round(const struct chain_state *end)
{
    uint32_t reached[VALUES], before;
    for (int v = 0; v < VALUES; v++) {
        reached[v] = 1u << v;
        do {
            before = reached[v];
            for (uint32_t left = reached[v]; left; left &= left - 1)
                reached[v] |= end->of[__builtin_ctz(left)].from | end->of[__builtin_ctz(left)].loaded;
        } while (reached[v] != before);
    }
    for (int v = 0; v < VALUES; v++)
        for (uint32_t left = end->of[v].loaded; left; left &= left - 1)
            if (reached[__builtin_ctz(left)] & 1u << v)
                return true;
    return false;
}

bool code_loop_may_chain(const struct code_module *module, const struct flow_function *function, uint32_t loop)
{
    const struct lwp_code *code = module->code;
    const uint32_t header = code_flow_block(function, lwp_code_loop(code, loop)->header), blocks = function->block_count;
    struct chain_walk walk = {.module = module, .function = function, .changed = true};
    if (header == LWP_NONE)
        return true;
    walk.order = lwp_zeroed(2 * (size_t)blocks, sizeof *walk.order);
    walk.position = walk.order + blocks;
    walk.count = code_loop_order(code, function, loop, header, walk.order, walk.position);
    walk.in = lwp_zeroed(walk.count + 1, sizeof *walk.in);
    for (int v = 0; v < VALUES; v++)
        walk.in[0].of[v].from = 1u << v;
    walk.in[0].reached = true;
    for (int pass = 0; pass < PASSES_MOST && walk.changed; pass++) {
        walk.changed = false;
        for (uint32_t i = 0; i < walk.count && !walk.unknown; i++)
            if (walk.in[i].reached)
                chain_block(&walk, walk.order[i]);
    }
    const bool may = walk.unknown || walk.changed || chain_goes_round(&walk.end);
    free(walk.in);
    free(walk.order);
    return may;
}
