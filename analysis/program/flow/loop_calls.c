/* What a loop calls: whether it only compares what the loop comes by with something that stays the same, and functions by name. */
#include "analysis/program/flow/loop_calls.h"

#include "analysis/program/flow/cfg.h"
#include "analysis/program/flow/decode.h"
#include "analysis/program/flow/pure.h"

/* Calls f for each instruction of the loop and of those in it; false: f did so, or the code cannot be read. */
static bool loop_each(struct lwp_code *code, struct code_module *module, const struct flow_function *function, uint32_t loop,
                      bool (*f)(void *of, struct code_module *module, const struct code_instruction *instruction, bool inner), void *of)
{
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct flow_block *block = &function->blocks[b];
        if (!code_loop_holds(code, loop, block->loop))
            continue;
        for (uint64_t at = block->start; at < block->end;) {
            const struct code_instruction instruction = code_decode_at(module, at, true);
            if (!instruction.length || !f(of, module, &instruction, block->loop != loop))
                return false;
            at += instruction.length;
        }
    }
    return true;
}

/* What a loop calls, and with what. */
struct loop_calls {
    uint64_t changed; /* registers that the loop, or what it calls, changes */
    uint64_t kept;    /* ... that have a value that is the same each time, as far as the code shows */
    bool key;         /* such a value is handed on */
};

static bool calls_pure(void *of, struct code_module *module, const struct code_instruction *instruction, bool inner)
{
    (void)inner;
    struct loop_calls *calls = of;
    struct code_pure_registers registers = {0};
    if (instruction->flow != CODE_FLOW_CALL) {
        calls->changed |= code_values_written(instruction);
        return true;
    }
    bool pure = cfg_never_returns(module, instruction->target, instruction->call_slot) ||
                code_is_pure(module, instruction->target, instruction->call_slot, &registers);
    calls->changed |= registers.written;
    return pure;
}

/* The loop stores nothing: what is loaded from a place that is the same each time stays, too. */
static bool calls_key(void *of, struct code_module *module, const struct code_instruction *instruction, bool inner)
{
    struct loop_calls *calls = of;
    const struct lwp_memory_operand *memory = &instruction->memory;
    const uint64_t written = code_values_written(instruction), stays = ~calls->changed | 1u << CODE_RSP;
    const uint64_t read = code_values_read(instruction), from = read | (memory->exists && memory->load ? code_values_address(memory) : 0);
    const bool call = instruction->flow == CODE_FLOW_CALL;
    struct code_pure_registers registers = {0};
    if (call && code_is_pure(module, instruction->target, instruction->call_slot, &registers))
        calls->key |= (calls->kept | stays) & registers.read & (1u << CODE_RDI | 1u << CODE_RSI);
    /* A comparison that is inlined begins with it each time, or goes along it. */
    const bool begins =
        code_moves(instruction) && (memory->exists ? memory->load && memory->base == CODE_RSP : read & stays && instruction->basic);
    const bool along = inner && memory->exists && memory->load && memory->base >= 0 && memory->index >= 0 && stays >> memory->base & 1 &&
                       !(stays >> memory->index & 1);
    calls->key |= (begins && instruction->written) || along;
    const bool same = !call && !memory->gather && !(from & ~(calls->kept | stays));
    calls->kept = same ? calls->kept | written : calls->kept & ~written;
    return true;
}

bool code_loop_calls_compare(struct lwp_code *code, struct code_module *module, const struct flow_function *function, uint32_t loop)
{
    struct loop_calls calls = {0};
    return loop_each(code, module, function, loop, calls_pure, &calls) && loop_each(code, module, function, loop, calls_key, &calls) &&
           calls.key;
}

/* Whether no instruction yet calls a function whose symbol begins so. */
static bool calls_no(void *begins, struct code_module *module, const struct code_instruction *instruction, bool inner)
{
    (void)inner;
    struct code_range range;
    const char *name = NULL;
    if (instruction->flow != CODE_FLOW_CALL)
        return true;
    if (instruction->call_slot)
        name = code_import_at_slot(module, instruction->call_slot);
    else if (instruction->target && !code_function_at(module, instruction->target, &range, &name))
        name = NULL;
    if (!name && instruction->target)
        name = code_import_at_stub(module, instruction->target);
    return !name || !code_begins_with(name, begins);
}

bool lwp_code_around_calls(struct lwp_code *code, uint32_t module_index, uint64_t address, const char *begins)
{
    struct code_module *module = code_module_at(code, module_index);
    const struct flow_function *function = module ? code_flow_at(module, address) : NULL;
    const uint32_t within = module ? code_loop_at(module, address) : LWP_NONE;
    const struct lwp_loop *loop = within != LWP_NONE ? lwp_code_loop(code, within) : NULL;
    return function && loop && loop->parent != LWP_NONE && !loop_each(code, module, function, loop->parent, calls_no, (void *)begins);
}
