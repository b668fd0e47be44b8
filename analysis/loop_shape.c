/* Counts a loop's instructions and looks for chains of loads (lists, trees).
 *
 * A chain: a register that is the base or index of a load is computed, through moves, sums and loads, from what that
 * load brought. Registers are taken for the whole loop at once, without the order of instructions.
 * Limits: a register reused for unrelated values can look like a chain; one kept on the stack is not followed; an
 * address worked out anew from an index each time is not seen to step. */
#include "analysis/loop_shape.h"

#include "analysis/code_loops.h"
#include "analysis/decode.h"

enum { REGISTERS = 16, INSTRUCTIONS_MAX = 4000 };

struct shape_flow {
    uint32_t from[REGISTERS];   /* registers whose value goes into this one, a bit each */
    uint32_t loaded[REGISTERS]; /* ... as the address of a load */
    uint32_t stepped, changed;  /* registers that grow by a constant; that become something else */
    uint32_t stepped_again;     /* ... in more than one place */
    int64_t step[REGISTERS];    /* the constant */
    uint32_t changed_vectors;
};

static uint32_t shape_bit(int reg)
{
    return reg >= 0 && reg < REGISTERS ? 1u << reg : 0;
}

static void shape_add(struct shape_flow *flow, const struct code_instruction *instruction)
{
    int to = instruction->destination;
    const struct code_linear *linear = &instruction->linear;
    if (instruction->copies && to >= 0 && to == instruction->source && instruction->constant) {
        flow->stepped_again |= flow->stepped & shape_bit(to);
        flow->stepped |= shape_bit(to);
        if (shape_bit(to))
            flow->step[to] = instruction->constant;
        flow->changed |= instruction->written & ~shape_bit(to);
    } else {
        flow->changed |= instruction->written;
        if (instruction->flow == CODE_FLOW_CALL)
            flow->changed |= CODE_CALL_CLOBBERS;
    }
    flow->changed_vectors |= instruction->written_vectors;
    if (linear->exists && shape_bit(linear->to))
        flow->from[linear->to] |= shape_bit(linear->base) | shape_bit(linear->index);
    if (!shape_bit(to))
        return;
    if (instruction->copies)
        flow->from[to] |= shape_bit(instruction->source);
    if (instruction->sums)
        flow->from[to] |= shape_bit(instruction->source) | shape_bit(instruction->other);
    if (instruction->loads && instruction->memory.exists)
        flow->loaded[to] |= shape_bit(instruction->memory.base) | shape_bit(instruction->memory.index);
}

/* Whether some load's address comes from what was loaded through it. */
static bool shape_chained(const struct shape_flow *flow)
{
    for (int to = 0; to < REGISTERS; to++)
        for (int base = 0; base < REGISTERS; base++) {
            if (!(flow->loaded[to] & 1u << base))
                continue;
            uint32_t reached = 1u << to, before;
            do {
                before = reached;
                for (int reg = 0; reg < REGISTERS; reg++)
                    if ((flow->from[reg] | flow->loaded[reg]) & reached)
                        reached |= 1u << reg;
            } while (reached != before);
            if (reached & 1u << base)
                return true;
        }
    return false;
}

static bool shape_inside(const struct lwp_code *code, uint32_t loop, uint32_t outer)
{
    for (int depth = 0; loop != LWP_NONE && loop != outer && depth < 64; depth++)
        loop = lwp_code_loop(code, loop)->parent;
    return loop == outer;
}

/* Edges from the block to others that are not in the loop. */
static uint32_t shape_exits(const struct lwp_code *code, const struct flow_function *function, uint32_t block,
                            uint32_t loop)
{
    uint32_t exits = 0;
    for (uint32_t e = function->edge_first[block]; e < function->edge_first[block + 1]; e++)
        exits += !shape_inside(code, function->blocks[function->edges[e]].loop, loop);
    return exits;
}

static int64_t shape_step(const struct shape_flow *flow, const struct lwp_memory_operand *memory)
{
    uint32_t registers = shape_bit(memory->base) | shape_bit(memory->index);
    int64_t base = shape_bit(memory->base) & flow->stepped ? flow->step[memory->base] : 0;
    int64_t index = shape_bit(memory->index) & flow->stepped ? flow->step[memory->index] : 0;
    return registers & flow->stepped_again ? 0 : base + index * memory->scale;
}

static bool shape_repeats(const struct shape_flow *flow, const struct code_instruction *instruction)
{
    if (!instruction->puts || instruction->put < 0)
        return instruction->puts;
    if (instruction->put >= CODE_VECTORS)
        return !(flow->changed_vectors & 1u << (instruction->put - CODE_VECTORS));
    return !(flow->changed & shape_bit(instruction->put));
}

bool lwp_loop_shape(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_loop_shape *shape)
{
    struct code_module *in = code_module_at(code, module);
    const struct lwp_place *place = in ? lwp_code_place(code, module, address) : NULL;
    struct shape_flow flow = {0};
    struct code_instruction asked = {0};
    uint32_t decoded = 0;
    *shape = (struct lwp_loop_shape){0};
    if (!place || place->loop == LWP_NONE || place->function_high <= place->function_low)
        return false;
    const struct flow_function *function =
        code_flow_at(in, (struct code_range){place->function_low, place->function_high});
    for (uint32_t b = 0; function && b < function->block_count; b++) {
        const struct flow_block *block = &function->blocks[b];
        if (!shape_inside(code, block->loop, place->loop))
            continue;
        shape->exits += shape_exits(code, function, b, place->loop);
        for (uint64_t at = block->start; at < block->end;) {
            size_t available;
            const uint8_t *bytes = code_bytes(in, at, &available);
            struct code_instruction instruction = {0};
            if (bytes)
                instruction = code_decode(bytes, available, at, true);
            if (!instruction.length || ++decoded > INSTRUCTIONS_MAX)
                return false;
            if (at == address)
                asked = instruction;
            at += instruction.length;
            if (block->loop != place->loop) {
                flow.changed |= instruction.written;
                flow.changed_vectors |= instruction.written_vectors;
                continue;
            }
            /* Branches are fused with the comparison before them. */
            shape->instructions +=
                !instruction.padding && instruction.flow != CODE_FLOW_BRANCH && instruction.flow != CODE_FLOW_JUMP;
            shape->accesses += instruction.memory.exists && (instruction.memory.load || instruction.memory.store);
            shape->loads += instruction.memory.exists && instruction.memory.load;
            shape->stores += instruction.memory.exists && instruction.memory.store;
            shape_add(&flow, &instruction);
        }
    }
    uint32_t registers = shape_bit(asked.memory.base) | shape_bit(asked.memory.index);
    shape->chained = shape_chained(&flow);
    shape->steps = asked.memory.exists && (registers & flow.stepped) && !(registers & flow.changed);
    shape->step = shape->steps ? shape_step(&flow, &asked.memory) : 0;
    bool gathers = asked.memory.index < 0 && asked.memory.scale; /* by a vector of indices */
    shape->stays = asked.memory.exists && !gathers && !(registers & (flow.stepped | flow.changed));
    shape->repeats_value = shape_repeats(&flow, &asked);
    return shape->instructions > 0;
}
