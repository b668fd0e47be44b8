/* What code does with the element that a search has found: accesses behind a loop through the pointer that the loop's access had used when
 * the loop was left.
 *
 * From the access on, all ways are followed that leave what holds its address alone: the base, base and index, or a register that the
 * place was computed into (lea), each plus a constant. A way ends at the access itself, and where nothing holds the place any more.
 * Where the function returns it, ways go on in those who call it. Any way counts: whether it is gone
 * often the code does not say. What is accessed through a pointer that is kept in memory is not seen, only that it is kept. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"

#include <stdlib.h>
#include <string.h>

enum { RDX = 2, STEPS_MOST = 4000, WAYS_MOST = 256, RETURNS_MOST = 3, CALLERS_MOST = 16 };

enum found_kind { FOUND_NOTHING, FOUND_PLACE, FOUND_BASE, FOUND_INDEX };

/* A register is the place of the access (or the base, the index of its address), plus. */
struct found_value {
    uint64_t kind; /* enum found_kind; as wide as `plus`, so that states are compared byte by byte */
    int64_t plus;
};

struct found_state {
    struct found_value of[CODE_REGISTERS];
};

struct found_way {
    uint64_t at;
    uint32_t returns; /* functions left */
    struct found_state state;
};

struct found_walk {
    struct lwp_code *code;
    struct code_module *module;
    uint32_t module_index, loop;
    uint64_t access;
    struct lwp_memory_operand operand;
    const struct lwp_callers *callers;
    struct found_way ways[WAYS_MOST]; /* begun, in order */
    size_t way_count, next;
    uint32_t steps;
    struct lwp_sibling *found;
    size_t count, room;
    bool kept;
};

static bool found_holds(const struct found_state *state)
{
    bool any = false, base = false, index = false;
    for (int r = 0; r < CODE_REGISTERS; r++) {
        any |= state->of[r].kind == FOUND_PLACE;
        base |= state->of[r].kind == FOUND_BASE;
        index |= state->of[r].kind == FOUND_INDEX;
    }
    return any || (base && index);
}

static void found_go(struct found_walk *walk, uint64_t at, uint32_t returns, const struct found_state *state)
{
    if (at == walk->access || !found_holds(state))
        return;
    for (size_t i = 0; i < walk->way_count; i++)
        if (walk->ways[i].at == at && memcmp(&walk->ways[i].state, state, sizeof *state) == 0)
            return;
    if (walk->way_count < WAYS_MOST)
        walk->ways[walk->way_count++] = (struct found_way){at, returns, *state};
}

/* How far from the access's place `base + index * scale + plus` leads; false: not known. */
static bool found_distance(const struct found_walk *walk, const struct found_state *state, int8_t base, int8_t index, int64_t scale,
                           int64_t plus, int64_t *distance)
{
    const struct found_value none = {0};
    const struct found_value b = base >= 0 && base < CODE_REGISTERS ? state->of[base] : none;
    const struct found_value i = index >= 0 && index < CODE_REGISTERS ? state->of[index] : none;
    if (b.kind == FOUND_PLACE && index < 0) {
        *distance = b.plus + plus;
        return true;
    }
    *distance = b.plus + i.plus * scale + plus - walk->operand.displacement;
    return b.kind == FOUND_BASE && i.kind == FOUND_INDEX && scale == walk->operand.scale;
}

static void found_access(struct found_walk *walk, const struct found_state *state, uint64_t at, const struct code_instruction *instruction,
                         uint32_t loop)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    int64_t distance;
    if (!memory->exists || (!memory->load && !memory->store) || code_loop_holds(walk->code, walk->loop, loop))
        return;
    walk->kept |= instruction->stores && state->of[instruction->source].kind == FOUND_PLACE;
    if (!found_distance(walk, state, memory->base, memory->index, memory->scale, memory->displacement, &distance))
        return;
    for (size_t i = 0; i < walk->count; i++)
        if (walk->found[i].address == at && walk->found[i].delta == distance)
            return;
    if (walk->count < walk->room)
        walk->found[walk->count++] = (struct lwp_sibling){
            .address = at, .delta = distance, .bytes = memory->bytes, .load = memory->load, .store = memory->store, .loop = loop};
}

static void found_step(const struct found_walk *walk, struct found_state *state, const struct code_instruction *instruction)
{
    const struct code_linear *linear = &instruction->linear;
    const struct found_state before = *state;
    struct found_value made = {0};
    const int8_t copied = code_copied_register(linear);
    bool address = linear->exists && !linear->narrow && !linear->loads && !linear->selects, chosen = linear->exists && linear->selects;
    if (chosen && linear->index >= 0) {
        made = before.of[linear->index].kind ? before.of[linear->index] : before.of[linear->to];
    } else if (address && copied >= 0 && before.of[copied].kind) {
        made = before.of[copied];
        made.plus += linear->plus;
    } else if (address && found_distance(walk, &before, linear->base, linear->index, linear->scale, linear->plus, &made.plus)) {
        made.kind = FOUND_PLACE;
    }
    for (int r = 0; r < CODE_REGISTERS; r++)
        if (instruction->written >> r & 1)
            state->of[r] = (struct found_value){0};
    if (made.kind)
        state->of[linear->to] = made;
}

/* Behind the calls of the function that returns: its result, of one register or two, is what is left. */
static void found_return(struct found_walk *walk, uint64_t returning, uint32_t returns, const struct found_state *state)
{
    uint64_t callers[CALLERS_MOST];
    struct found_state result = {0};
    for (int r = CODE_RAX; r <= RDX; r += RDX)
        if (state->of[r].kind == FOUND_PLACE)
            result.of[r] = state->of[r];
    if (!walk->callers || returns == RETURNS_MOST || !found_holds(&result))
        return;
    size_t count = walk->callers->find(walk->callers->of, walk->module_index, returning, callers, CALLERS_MOST);
    for (size_t i = 0; i < count; i++) {
        const struct flow_function *caller = code_flow_at(walk->module, callers[i]);
        for (uint32_t b = 0; caller && b < caller->block_count; b++)
            for (uint64_t at = caller->blocks[b].start; at < caller->blocks[b].end;) {
                const struct code_instruction call = code_decode_at(walk->module, at, false);
                at += call.length ? call.length : 1;
                if (call.flow == CODE_FLOW_CALL && call.target == returning)
                    found_go(walk, at, returns + 1, &result);
            }
    }
}

/* To the end of the block, from where ways go on. */
static void found_way(struct found_walk *walk, const struct found_way *way)
{
    const struct flow_function *function = code_flow_at(walk->module, way->at);
    const uint32_t b = function ? code_flow_block(function, way->at) : LWP_NONE;
    struct found_state state = way->state;
    uint8_t flow = CODE_FLOW_NEXT;
    if (b == LWP_NONE)
        return;
    const struct flow_block *block = &function->blocks[b];
    for (uint64_t at = way->at; at < block->end;) {
        const struct code_instruction instruction = code_decode_at(walk->module, at, true);
        if (!instruction.length || at == walk->access || ++walk->steps > STEPS_MOST)
            return;
        found_access(walk, &state, at, &instruction, block->loop);
        if (instruction.flow == CODE_FLOW_END)
            found_return(walk, function->range.low, way->returns, &state);
        found_step(walk, &state, &instruction);
        flow = instruction.flow;
        at += instruction.length;
    }
    for (uint32_t e = function->edge_first[b]; e < function->edge_first[b + 1] && flow != CODE_FLOW_END; e++)
        found_go(walk, function->blocks[function->edges[e]].start, way->returns, &state);
}

/* Whether the loop changes what the address is made of: it goes from one place to the next. */
static bool found_follows(const struct found_walk *walk, const struct flow_function *function)
{
    uint64_t changed = 0;
    for (uint32_t b = 0; b < function->block_count; b++)
        for (uint64_t at = function->blocks[b].start;
             code_loop_holds(walk->code, walk->loop, function->blocks[b].loop) && at < function->blocks[b].end;) {
            const struct code_instruction instruction = code_decode_at(walk->module, at, true);
            changed |= code_values_written(&instruction);
            at += instruction.length ? instruction.length : 1;
        }
    return (code_values_address(&walk->operand) & changed) != 0;
}

/* What holds the place before the access: the base, what it was copied from, and what it was copied to, in the block. */
static struct found_state found_begin(const struct found_walk *walk, const struct flow_block *block)
{
    const struct lwp_memory_operand *memory = &walk->operand;
    struct found_state state = {0};
    state.of[memory->base] = memory->index >= 0 ? (struct found_value){.kind = FOUND_BASE}
                                                : (struct found_value){.kind = FOUND_PLACE, .plus = -(int64_t)memory->displacement};
    if (memory->index >= 0 && memory->index != memory->base)
        state.of[memory->index] = (struct found_value){.kind = FOUND_INDEX};
    const struct found_state alone = state;
    for (uint64_t at = block->start; memory->index < 0 && at < walk->access;) {
        const struct code_instruction instruction = code_decode_at(walk->module, at, true);
        const struct code_linear *linear = &instruction.linear;
        const bool plain = linear->exists && !linear->narrow && !linear->loads && !linear->selects;
        const int8_t from = plain && linear->to == memory->base ? code_copied_register(linear) : -1;
        found_step(walk, &state, &instruction);
        if (instruction.written >> memory->base & 1) {
            state = alone;
            if (from >= 0 && from != memory->base)
                state.of[from] = (struct found_value){.kind = FOUND_PLACE, .plus = alone.of[memory->base].plus - linear->plus};
        }
        at += instruction.length ? instruction.length : 1;
    }
    return state;
}

size_t lwp_loop_found(struct lwp_code *code, uint32_t module, uint64_t address, const struct lwp_callers *callers,
                      struct lwp_sibling *found, size_t room, bool *kept)
{
    struct code_module *in = code_module_at(code, module);
    const struct flow_function *function = in ? code_flow_at(in, address) : NULL;
    const uint32_t block = function ? code_flow_block(function, address) : LWP_NONE;
    if (block == LWP_NONE || function->blocks[block].loop == LWP_NONE)
        return 0;
    const struct code_instruction own = code_decode_at(in, address, true);
    const struct lwp_memory_operand *memory = &own.memory;
    if (!memory->exists || memory->base < 0 || memory->base >= CODE_REGISTERS || memory->index >= CODE_REGISTERS)
        return 0;
    struct found_walk *walk = lwp_zeroed(1, sizeof *walk);
    *walk = (struct found_walk){.code = code,
                                .module = in,
                                .module_index = module,
                                .loop = function->blocks[block].loop,
                                .access = address,
                                .operand = *memory,
                                .callers = callers,
                                .found = found,
                                .room = room};
    struct found_state state = found_begin(walk, &function->blocks[block]);
    found_step(walk, &state, &own);
    if (found_follows(walk, function)) {
        if (address + own.length < function->blocks[block].end)
            found_go(walk, address + own.length, 0, &state);
        else
            for (uint32_t e = function->edge_first[block]; e < function->edge_first[block + 1]; e++)
                found_go(walk, function->blocks[function->edges[e]].start, 0, &state);
        while (walk->next < walk->way_count) {
            const struct found_way way = walk->ways[walk->next++];
            found_way(walk, &way);
        }
    }
    const size_t count = walk->count;
    *kept |= walk->kept;
    free(walk);
    return count;
}
