/* Counts a loop's instructions and looks for chains of loads (lists, trees).
 *
 * A chain (pointer chasing): the register that is the base or index of a load is computed, through moves, sums and
 * loads, from what that load brought, so each load waits for the one before. The order of instructions is ignored: an
 * edge goes from register to register if any instruction of the loop computes the one from the other, and a chain is a
 * cycle of such edges through a load, unless the order of instructions rules that out (loop_chain.c).
 * What does not depend on the access asked about is worked out once for each loop: a large one has thousands.
 * Limits: one kept on the stack is not followed; an address worked out anew from an index each time is not seen to step. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"
#include "analysis/program/flow/loop_calls.h"
#include "analysis/program/flow/loop_chain.h"
#include "analysis/program/flow/loop_flow.h"
#include "analysis/program/flow/loop_spills.h"
#include "analysis/program/flow/loop_waits.h"

#include <stdlib.h>
#include <string.h>

enum { INSTRUCTIONS_MAX = 4000 };

/* Edges from the block to others that are not in the loop. */
static uint32_t shape_exits(const struct lwp_code *code, const struct flow_function *function, uint32_t block, uint32_t loop)
{
    uint32_t exits = 0;
    for (uint32_t e = function->edge_first[block]; e < function->edge_first[block + 1]; e++)
        exits += !code_loop_holds(code, loop, function->blocks[function->edges[e]].loop);
    return exits;
}

static int64_t shape_step(const struct loop_flow *flow, const struct lwp_memory_operand *memory)
{
    uint32_t registers = loop_flow_bit(memory->base) | loop_flow_bit(memory->index);
    int64_t base = loop_flow_bit(memory->base) & flow->stepped ? flow->step[memory->base] : 0;
    int64_t index = loop_flow_bit(memory->index) & flow->stepped ? flow->step[memory->index] : 0;
    return registers & flow->stepped_again ? 0 : base + index * memory->scale;
}

static bool shape_repeats(const struct loop_flow *flow, const struct code_instruction *instruction)
{
    if (!instruction->puts || instruction->put < 0)
        return instruction->puts;
    if (instruction->put >= CODE_VECTORS)
        return !(flow->changed_vectors & 1u << (instruction->put - CODE_VECTORS));
    return !(flow->changed & loop_flow_bit(instruction->put));
}

struct loop_facts {
    uint64_t carried;          /* general registers, then vector ones */
    uint64_t loaded;           /* ... that get something from what the loop, or what it calls or holds, loads */
    uint32_t chased, pointers; /* of its chains: loop_flow_chased() */
    uint32_t stores; /* without those of calls, which store where they return to, of registers kept over them, and of where it is */
    struct loop_flow flow;
    struct lwp_loop_shape shape; /* without what is told of one access */
};

static void facts_add(struct loop_facts *facts, struct loop_waits *waits, const struct code_instruction *instruction, uint64_t next)
{
    struct lwp_loop_shape *shape = &facts->shape;
    bool accesses = instruction->memory.exists;
    /* Branches are fused with the comparison before them. */
    shape->work.instructions += !instruction->padding && instruction->flow != CODE_FLOW_BRANCH && instruction->flow != CODE_FLOW_JUMP;
    shape->work.flags += instruction->flags;
    shape->work.sums += code_is_sum(instruction);
    shape->work.products += code_is_product(instruction);
    shape->accesses += accesses && (instruction->memory.load || instruction->memory.store);
    shape->loads += accesses && instruction->memory.load;
    shape->stores += accesses && instruction->memory.store;
    loop_flow_add(&facts->flow, instruction);
    code_loop_waits_add(waits, instruction, next);
}

/* Whether a register that calls take arguments in is loaded, from where the loop steps. */
static bool shape_hands_on(const struct loop_flow *flow)
{
    static const int arguments[] = {CODE_RDI, CODE_RSI, CODE_RDX, CODE_RCX, CODE_R8, CODE_R9};
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments && flow->calls; i++)
        if (flow->loads_into[arguments[i]] == 1 && flow->loaded[arguments[i]] & flow->stepped)
            return true; /* the callee may be known to leave alone what is stepped */
    return false;
}

static bool facts_without(const struct lwp_loop_part *parts, size_t count, const struct flow_block *block)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].low <= block->start && block->end <= parts[i].high)
            return true;
    return false;
}

/* Stores of where the loop is, to one place: the iterator that a search hands back, where its caller wants that in memory. */
static uint32_t facts_notes(const struct loop_facts *facts, const struct code_module *module, const struct flow_function *function,
                            uint32_t loop)
{
    const struct loop_flow *flow = &facts->flow;
    const uint32_t moving = flow->changed | flow->stepped, where = (flow->stepped & ~flow->changed) | facts->chased;
    uint32_t notes = 0;
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct flow_block *block = &function->blocks[b];
        for (uint64_t at = block->start; block->loop == loop && at < block->end;) {
            const struct code_instruction instruction = code_decode_at(module, at, true);
            const uint32_t address = loop_flow_bit(instruction.memory.base) | loop_flow_bit(instruction.memory.index);
            if (!instruction.length)
                break;
            notes += instruction.stores && where >> instruction.source & 1 && !(address & moving);
            at += instruction.length;
        }
    }
    return notes;
}

/* False: its code cannot be read, or is too long. */
static bool facts_read(const struct code_module *module, const struct flow_function *function, uint32_t loop,
                       const struct lwp_loop_part *without, size_t without_count, struct loop_facts *facts)
{
    const struct lwp_code *code = module->code;
    struct loop_waits waits;
    uint32_t decoded = 0;
    code_loop_waits_begin(&waits);
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct flow_block *block = &function->blocks[b];
        if (!code_loop_holds(code, loop, block->loop) || facts_without(without, without_count, block))
            continue;
        facts->shape.exits += shape_exits(code, function, b, loop);
        for (uint64_t at = block->start; at < block->end;) {
            struct code_instruction instruction = code_decode_at(module, at, true);
            if (!instruction.length || ++decoded > INSTRUCTIONS_MAX)
                return false;
            at += instruction.length;
            if (block->loop == loop) {
                facts_add(facts, &waits, &instruction, at);
                continue;
            }
            loop_flow_add_values(&facts->flow, &instruction);
            facts->flow.elsewhere |= code_values_written(&instruction);
            facts->flow.changed |= instruction.written;
            facts->flow.changed_vectors |= instruction.written_vectors;
        }
    }
    facts->shape.branches = facts->flow.branches;
    facts->shape.selects = facts->flow.selected;
    facts->shape.computed_calls = facts->flow.computed_calls;
    facts->shape.hands_on = shape_hands_on(&facts->flow);
    const uint32_t calls = facts->flow.calls, kept = calls ? calls + code_loop_spills(module, function, loop) : 0;
    facts->stores = facts->shape.stores > kept ? facts->shape.stores - kept : 0;
    const uint64_t loaded = loop_flow_from_loads(&facts->flow);
    facts->loaded = loop_flow_spread(&facts->flow, loaded | facts->flow.elsewhere);
    code_loop_waits_chains(&waits, facts->loaded, facts->flow.changed | facts->flow.stepped, &facts->shape.work);
    facts->shape.work.tail = calls ? 0 : facts->shape.work.tail;
    const uint64_t written = (facts->flow.changed | facts->flow.stepped) | (uint64_t)facts->flow.changed_vectors << CODE_REGISTERS;
    facts->carried = code_loop_waits_carried(&waits) & written;
    facts->chased = loop_flow_chased(&facts->flow, &facts->pointers);
    facts->shape.apart = !code_loop_may_chain(module, function, loop);
    if (facts->shape.apart)
        facts->chased = facts->pointers = 0;
    const uint32_t notes = facts->stores ? facts_notes(facts, module, function, loop) : 0;
    facts->stores -= notes < facts->stores ? notes : facts->stores;
    facts->shape.chained = facts->chased;
    return facts->shape.work.instructions > 0;
}

/* The field through which the chain goes on; NULL: it has several, or none. */
static const struct lwp_memory_operand *facts_chain_field(const struct loop_facts *facts)
{
    const struct loop_flow *flow = &facts->flow;
    const struct lwp_memory_operand *field = NULL;
    for (uint32_t left = facts->chased; left; left &= left - 1) {
        const struct lwp_memory_operand *of = &flow->from_field[__builtin_ctz(left)];
        if (field && !loop_flow_same_field(field, of))
            return NULL;
        field = of;
    }
    return facts->chased & flow->from_others ? NULL : field;
}

/* *chosen: an index says through which field the chain goes on; *level: an index that stays the same: nodes have chains of several levels,
 * as in skip lists, and this is one of them. */
static void facts_chain_indices(const struct loop_facts *facts, bool *chosen, bool *level)
{
    const struct loop_flow *flow = &facts->flow;
    *chosen = *level = false;
    for (int to = 0; to < CODE_REGISTERS; to++) {
        uint32_t chain = loop_flow_reached(flow, to);
        if (!(facts->chased & 1u << to))
            continue;
        *chosen |= flow->indexed[to] & flow->computed;
        *level |= flow->indexed[to] & ~chain && flow->loaded[to] & ~flow->indexed[to] & chain;
    }
}

/* Registers that only count, one way or another. */
static uint32_t facts_counters(const struct loop_flow *flow)
{
    uint32_t computed = flow->computed, before;
    do {
        before = computed;
        for (int reg = 0; reg < CODE_REGISTERS; reg++)
            if (flow->copied[reg] & computed)
                computed |= 1u << reg;
    } while (computed != before);
    return ~computed & ((1u << CODE_REGISTERS) - 1);
}

/* What goes from one iteration to the next but where the loop is, and what it has found. */
static uint64_t facts_results(const struct loop_facts *facts, bool calls)
{
    const uint32_t found = facts->flow.selected & ~loop_flow_accumulated(&facts->flow);
    return facts->carried & ~(uint64_t)(facts_counters(&facts->flow) | found | (calls ? 1u << CODE_RSP : 0));
}

/* `address`: the registers of the access. `compares`: what the loop calls does nothing but compare; else it may do anything. */
static enum lwp_loop_search facts_search(const struct loop_facts *facts, uint32_t address, bool compares)
{
    const struct loop_flow *flow = &facts->flow;
    const uint32_t counters = facts_counters(flow);
    const uint64_t results = facts_results(facts, compares);
    bool steps = address & (flow->changed | flow->stepped) && !(address & ~counters);
    bool chooses = flow->selected || flow->branches > 1;
    if (facts->stores || (compares && facts->shape.exits <= 1))
        return LWP_LOOP_SEARCH_NONE;
    bool chosen, level;
    facts_chain_indices(facts, &chosen, &level);
    const bool branching = facts->chased && !facts_chain_field(facts); /* goes on to one of several others */
    if (!steps && flow->halvings && chooses && !branching)
        return LWP_LOOP_SEARCH_BISECTION;
    if (facts->shape.chained) {
        bool all = facts->shape.exits <= 1 && !results && !level && !flow->calls && chooses; /* to the list's end, the best one kept */
        if (branching || chosen || (flow->selected & (all ? facts->pointers : ~0u)))
            return chooses ? LWP_LOOP_SEARCH_TREE : LWP_LOOP_SEARCH_NONE;
        if (facts->shape.exits > 1)
            return !results && !level && loop_flow_has_key(flow) ? LWP_LOOP_SEARCH_LIST : LWP_LOOP_SEARCH_NONE;
        return all ? LWP_LOOP_SEARCH_SCAN_ALL : LWP_LOOP_SEARCH_NONE;
    }
    if (flow->stepped & ~flow->changed & flow->few) /* as the slots of a hash table's bucket: no better way to look there */
        return LWP_LOOP_SEARCH_NONE;
    if (steps && !results && loop_flow_has_key(flow))
        return facts->shape.exits > 1 || !chooses ? LWP_LOOP_SEARCH_SCAN : LWP_LOOP_SEARCH_SCAN_ALL;
    return LWP_LOOP_SEARCH_NONE;
}

/* NULL: see facts_read(). Valid until `code` is freed. */
static const struct loop_facts *facts_of(struct lwp_code *code, const struct code_module *module, const struct flow_function *function,
                                         uint32_t loop)
{
    bool fresh;
    void **kept = code_kept_at(&code->loop_facts, loop, &fresh);
    if (!fresh)
        return *kept;
    struct loop_facts *facts = lwp_arena_alloc(code->arena, 1, sizeof *facts);
    return *kept = facts_read(module, function, loop, NULL, 0, facts) ? facts : NULL;
}

/* Whether another loop takes the chain on through another field. */
static bool chain_differs(const struct loop_facts *facts, const struct loop_facts *other)
{
    const struct lwp_memory_operand *field = facts_chain_field(facts), *others = other ? facts_chain_field(other) : NULL;
    return other && other->pointers & facts->pointers && !(field && others && loop_flow_same_field(field, others));
}

/* Whether the loop around this one, or one inside it, takes the same chain further: compilers make two nested loops of one that goes
 * to the left or to the right child, each of which has one of the two loads. Of a list's both load the same field. */
static bool chain_goes_on(struct lwp_code *code, const struct code_module *module, const struct flow_function *function, uint32_t loop)
{
    const struct loop_facts *facts = facts_of(code, module, function, loop);
    const uint32_t outer = lwp_code_loop(code, loop)->parent;
    if (chain_differs(facts, outer != LWP_NONE ? facts_of(code, module, function, outer) : NULL))
        return true;
    for (uint32_t b = 0; b < function->block_count; b++) {
        const uint32_t other = function->blocks[b].loop;
        if (other != loop && code_loop_holds(code, loop, other) && chain_differs(facts, facts_of(code, module, function, other)))
            return true;
    }
    return false;
}

/* Whether loops inside this one look only, too: they store nothing, and hand nothing on but where they are. Where this one goes along no
 * chain, none of them does: else it is those that search, for one key after the other. */
static bool loop_looks_inside(struct lwp_code *code, const struct code_module *module, const struct flow_function *function, uint32_t loop)
{
    const bool chained = facts_of(code, module, function, loop)->shape.chained;
    for (uint32_t b = 0; b < function->block_count; b++) {
        const uint32_t inner = function->blocks[b].loop;
        if (inner == loop || !code_loop_holds(code, loop, inner))
            continue;
        const struct loop_facts *facts = facts_of(code, module, function, inner);
        if (!facts || facts->stores || facts_results(facts, true) || (facts->shape.chained && !chained))
            return false;
    }
    return true;
}

/* Whether the loop around this one lets it go on where it ended the time before, as where a text is split into words or an array is
 * partitioned: then it does not look for something among the same elements again. */
static bool loop_goes_on(struct lwp_code *code, const struct code_module *module, const struct flow_function *function, uint32_t loop)
{
    const uint32_t around = lwp_code_loop(code, loop)->parent;
    const struct loop_facts *inner = facts_of(code, module, function, loop);
    const struct loop_facts *outer = around == LWP_NONE ? NULL : facts_of(code, module, function, around);
    for (uint32_t left = loop_flow_copied(&inner->flow, inner->flow.places) & (uint32_t)inner->carried; left && outer; left &= left - 1)
        if (loop_flow_goes_on(&inner->flow, __builtin_ctz(left)) && loop_flow_goes_on(&outer->flow, __builtin_ctz(left)))
            return true;
    return false;
}

static bool loop_has_calls(struct lwp_code *code, const struct code_module *module, const struct flow_function *function, uint32_t loop)
{
    for (uint32_t b = 0; b < function->block_count; b++) {
        const uint32_t each = function->blocks[b].loop;
        const struct loop_facts *facts = code_loop_holds(code, loop, each) ? facts_of(code, module, function, each) : NULL;
        if (facts && facts->flow.calls)
            return true;
    }
    return false;
}

/* `address`: the registers of an access; 0: of what steps, of a call. */
static enum lwp_loop_search loop_search(struct lwp_code *code, struct code_module *module, const struct flow_function *function,
                                        uint32_t loop, uint32_t address)
{
    const struct loop_facts *facts = facts_of(code, module, function, loop);
    const bool calls = loop_has_calls(code, module, function, loop);
    enum lwp_loop_search search = facts_search(facts, address ? address : facts->flow.stepped & ~facts->flow.changed, calls);
    if (search == LWP_LOOP_SEARCH_NONE || !loop_looks_inside(code, module, function, loop) ||
        (calls && !code_loop_calls_compare(code, module, function, loop)) ||
        (search == LWP_LOOP_SEARCH_SCAN && loop_goes_on(code, module, function, loop)))
        return LWP_LOOP_SEARCH_NONE;
    bool chained = search == LWP_LOOP_SEARCH_LIST || (facts->shape.chained && search == LWP_LOOP_SEARCH_SCAN_ALL);
    if (!chained || !chain_goes_on(code, module, function, loop))
        return search;
    return search == LWP_LOOP_SEARCH_LIST ? LWP_LOOP_SEARCH_TREE : LWP_LOOP_SEARCH_NONE;
}

/* The innermost loop that holds the address; NULL: none, or it cannot be read. */
static const struct loop_facts *facts_at(struct lwp_code *code, uint32_t module, uint64_t address, struct code_module **in,
                                         const struct flow_function **function, uint32_t *block)
{
    *in = code_module_at(code, module);
    *function = *in ? code_flow_at(*in, address) : NULL;
    *block = *function ? code_flow_block(*function, address) : LWP_NONE;
    uint32_t loop = *block != LWP_NONE ? (*function)->blocks[*block].loop : LWP_NONE;
    return loop != LWP_NONE ? facts_of(code, *in, *function, loop) : NULL;
}

/* The instruction at an address in the block; all zero if none begins there. */
static struct code_instruction block_instruction(const struct code_module *module, const struct flow_block *block, uint64_t address)
{
    for (uint64_t at = block->start; at <= address;) {
        struct code_instruction instruction = code_decode_at(module, at, true);
        if (at == address || !instruction.length)
            return instruction;
        at += instruction.length;
    }
    return (struct code_instruction){0};
}

/* Where the register's value at the address comes from: registers at the start of its block, a bit each; none: it was loaded since.
 * False: it was made since. */
static bool block_moved(const struct code_module *module, const struct flow_block *block, uint64_t address, int reg, uint64_t *from)
{
    uint64_t origins[LOOP_REGISTERS], made = 0;
    for (int r = 0; r < LOOP_REGISTERS; r++)
        origins[r] = (uint64_t)1 << r;
    for (uint64_t at = block->start; at < address;) {
        struct code_instruction instruction = code_decode_at(module, at, true);
        const uint64_t read = code_values_read(&instruction), written = code_values_written(&instruction);
        uint64_t of = 0;
        if (!instruction.length)
            return false;
        at += instruction.length;
        for (uint64_t left = read; left; left &= left - 1)
            of |= origins[__builtin_ctzll(left)];
        bool makes = !code_moves(&instruction) || read & made;
        made = makes ? made | written : made & ~written;
        for (uint64_t left = written; left; left &= left - 1)
            origins[__builtin_ctzll(left)] = of;
    }
    *from = origins[reg];
    return !(made >> reg & 1);
}

/* Whether it stores if a condition holds: half of all such stores find by chance what is there, and to look first takes the comparison. */
static bool block_stores_condition(const struct code_module *module, const struct flow_block *block, uint64_t address,
                                   const struct code_instruction *instruction)
{
    bool condition = false;
    if (code_sets(instruction))
        return true;
    if (!instruction->puts || instruction->put < 0 || instruction->put >= CODE_REGISTERS)
        return false;
    for (uint64_t at = block->start; at < address;) {
        struct code_instruction before = code_decode_at(module, at, true);
        if (!before.length)
            return false;
        if (before.written & loop_flow_bit(instruction->put))
            condition = code_sets(&before) || (condition && code_moves(&before) && before.read & loop_flow_bit(instruction->put));
        at += before.length;
    }
    return condition;
}

/* What it stores was loaded, or is another such value: nothing in the loop makes it. */
static bool shape_copies_value(const struct loop_flow *flow, const struct code_module *module, const struct flow_block *block,
                               uint64_t address, const struct code_instruction *instruction)
{
    int put = instruction->put >= CODE_VECTORS ? instruction->put - CODE_VECTORS + CODE_REGISTERS : instruction->put;
    uint64_t from, before;
    if (!instruction->puts || put < 0 || !block_moved(module, block, address, put, &from))
        return false;
    do {
        before = from;
        for (uint64_t left = before; left; left &= left - 1)
            from |= flow->moved[__builtin_ctzll(left)];
    } while (from != before);
    return !(from & flow->made);
}

/* Registers that say where an access is; of one through a pointer that the loop has loaded, and does nothing else with, where that is
 * loaded from: what an array of pointers leads to is looked at as the array is. */
static uint32_t shape_looked_at(const struct loop_flow *flow, const struct lwp_memory_operand *memory)
{
    const uint32_t registers = loop_flow_bit(memory->base) | loop_flow_bit(memory->index);
    const bool plain = loop_flow_bit(memory->base) == registers && registers && !memory->gather;
    const bool loaded = plain && flow->loads_into[memory->base] == 1 && flow->loaded[memory->base] && !flow->copied[memory->base] &&
                        !(flow->made >> memory->base & 1);
    return loaded ? flow->loaded[memory->base] : registers;
}

bool lwp_loop_shape(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_loop_shape *shape)
{
    struct code_module *in;
    const struct flow_function *function;
    uint32_t block;
    const struct loop_facts *facts = facts_at(code, module, address, &in, &function, &block);
    *shape = (struct lwp_loop_shape){0};
    if (!facts)
        return false;
    const struct loop_flow *flow = &facts->flow;
    struct code_instruction asked = block_instruction(in, &function->blocks[block], address);
    uint32_t registers = loop_flow_bit(asked.memory.base) | loop_flow_bit(asked.memory.index);
    *shape = facts->shape;
    shape->steps = asked.memory.exists && (registers & flow->stepped) && !(registers & flow->changed);
    shape->step = shape->steps ? shape_step(flow, &asked.memory) : 0;
    bool gathers = asked.memory.index < 0 && asked.memory.scale; /* by a vector of indices */
    shape->stays = asked.memory.exists && !gathers && !(registers & (flow->stepped | flow->changed));
    shape->drawn = asked.memory.exists && !gathers && registers & flow->changed && !(registers & facts->loaded);
    const uint32_t looked_at = shape_looked_at(flow, &asked.memory);
    shape->led = asked.memory.exists && looked_at != registers && (looked_at & flow->stepped) && !(looked_at & flow->changed);
    shape->search =
        asked.memory.exists && registers ? loop_search(code, in, function, function->blocks[block].loop, looked_at) : LWP_LOOP_SEARCH_NONE;
    shape->repeats_value = shape_repeats(flow, &asked);
    shape->copies_value = shape_copies_value(flow, in, &function->blocks[block], address, &asked) ||
                          block_stores_condition(in, &function->blocks[block], address, &asked);
    return true;
}

void lwp_loop_work_without(struct lwp_code *code, uint32_t module, uint64_t address, const struct lwp_loop_part *parts, size_t count,
                           struct lwp_loop_work *work)
{
    struct code_module *in;
    const struct flow_function *function;
    uint32_t block;
    struct loop_facts *facts = lwp_zeroed(1, sizeof *facts);
    if (facts_at(code, module, address, &in, &function, &block) &&
        facts_read(in, function, function->blocks[block].loop, parts, count, facts))
        *work = facts->shape.work;
    free(facts);
}

enum lwp_loop_search lwp_loop_search_by_call(struct lwp_code *code, uint32_t module, uint64_t address)
{
    struct code_module *in;
    const struct flow_function *function;
    uint32_t block;
    const struct loop_facts *facts = facts_at(code, module, address, &in, &function, &block);
    return facts ? loop_search(code, in, function, function->blocks[block].loop, 0) : LWP_LOOP_SEARCH_NONE;
}
