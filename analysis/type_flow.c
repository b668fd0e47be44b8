/* What registers point to, by forward data flow over a function's blocks to a fixed point.
 *
 * A value is a number, or an address: so many bytes from the start of something of a type. Both are known up to
 * multiples of a modulus, which grows smaller where ways meet: a pointer that moves by 40 bytes a round stays "at the
 * same place of some element" of an array of 40-byte structures. Values come from variables that DWARF places in
 * registers (type_seeds.c), static variables, members loaded through known pointers, results of known functions; they
 * go on through moves, sums, conditional moves and the stack's spill slots, also where a variable's own range ends.
 * When DWARF names a pointer to a part of what is known already (an inlined method of a member), the whole is kept.
 * Limits: one function at a time; stores through pointers are taken not to change spill slots; a pointer cast to an
 * unrelated type is believed as the larger of both. Functions too large to settle give no answers. */
#include "analysis/type_flow.h"

#include "analysis/code_loops.h"
#include "analysis/decode.h"
#include "analysis/stride.h"
#include "analysis/type_cache.h"
#include "analysis/type_callers.h"
#include "analysis/type_die.h"
#include "analysis/type_flow_values.h"
#include "analysis/type_seeds.h"
#include "analysis/type_values.h"
#include "analysis/type_variables.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    REGISTERS = 16,
    FLOW_RSP = 4,
    FLOW_RBP = 5,
    FLOW_SLOTS = 24,
    FLOW_ARGUMENTS = 6,
    FLOW_CALLERS = 16,
    FLOW_FRAME_LOOKUPS = 20000,
    FLOW_CALL_DEPTH = 4,
    FLOW_BLOCKS = 20000,
    FLOW_BYTES = 1 << 20,
    FLOW_SWEEPS = 24,
    FLOW_SEED_WORK = 20 * 1000 * 1000
};

struct flow_state {
    struct flow_value of[REGISTERS];
    struct flow_slot {
        int64_t at; /* from the CFA */
        struct flow_value value;
    } slots[FLOW_SLOTS];
    uint32_t slot_count;
    bool reached;
};

struct flow_answer {
    uint64_t pc;
    struct flow_value value;
};

/* All that is kept of a function. */
struct code_flow_answers {
    struct flow_sources sources;
    struct flow_answer *items; /* by pc */
    size_t count, capacity;
    struct flow_passed { /* what a call hands over in the registers of arguments */
        uint64_t pc;
        struct flow_value values[FLOW_ARGUMENTS];
    } * passed; /* by pc */
    size_t passed_count, passed_capacity;
};

static const int8_t flow_arguments[FLOW_ARGUMENTS] = {7, 6, 2, 1, 8, 9}; /* rdi rsi rdx rcx r8 r9 */

struct flow_run {
    struct code_module *module;
    const struct flow_function *function;
    struct code_scopes *scopes;
    struct code_flow_answers *answers;
    struct code_seeds seeds;
    uint32_t *seed_source; /* of each seed */
    uint32_t *block_seeds, *block_seed_first;
    struct flow_state *in;
    struct lwp_map *frame_index; /* instruction -> what it accesses in the frame, looked up once */
    struct flow_frame {
        bool exists, pointer; /* in the frame; a pointer variable is there, `source` */
        int64_t at;           /* from the CFA */
        uint32_t source;
    } * frames;
    size_t frame_count, frame_capacity;
    bool recording;
};

/* ---- memory ---- */

static bool flow_static(struct flow_run *run, uint64_t address, struct flow_value *value)
{
    struct code_static found;
    struct code_pointee pointee;
    Dwarf_Die type;
    const struct code_section *section = address ? code_section_at(run->module, address) : NULL;
    if (!section || section->executable || !code_static_at(run->module, address, &found) ||
        !type_die_of(&found.die, &type) || !code_pointee_itself(run->module, type, &pointee))
        return false;
    const char *name = dwarf_diename(&found.die);
    pointee.name = name ? code_intern(run->module->code, name) : "";
    *value = flow_address(flow_source(&run->answers->sources, &pointee), (int64_t)(address - found.start));
    return true;
}

static struct flow_value flow_sum(struct flow_run *run, const struct flow_state *state, int8_t base, int8_t index,
                                  int64_t scale, int64_t plus)
{
    struct flow_value sum = {FLOW_NUMBER, 0, plus, 0};
    if (plus && base < 0)
        flow_static(run, (uint64_t)plus, &sum);
    if (base >= 0)
        sum = flow_add(&state->of[base], &sum);
    if (index >= 0) {
        struct flow_value scaled = flow_scaled(&state->of[index], scale);
        struct flow_value total = flow_add(&sum, &scaled);
        /* A sum of two pointers to the same: LLVM says of an index that it is the pointer it belongs to. */
        if (scale == 1 && sum.kind == FLOW_ADDRESS && scaled.kind == FLOW_ADDRESS &&
            flow_same_source(&run->answers->sources, sum.source, scaled.source)) {
            total = sum;
            total.modulus = lwp_stride_gcd(sum.modulus, run->answers->sources.items[sum.source].bytes);
        }
        sum = total;
    }
    return sum;
}

static struct flow_value flow_memory(struct flow_run *run, const struct flow_state *state, uint64_t pc,
                                     const struct code_instruction *instruction)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    if (memory->base == -2)
        return flow_sum(run, state, -1, -1, 1, (int64_t)(pc + instruction->length) + memory->displacement);
    return flow_sum(run, state, memory->base, memory->index, memory->scale, memory->displacement);
}

/* The frame slot of a memory operand, and the variable there that DWARF knows. */
static const struct flow_frame *flow_frame(struct flow_run *run, uint64_t pc, const struct lwp_memory_operand *memory)
{
    struct code_pointee pointee = {.name = ""};
    struct flow_frame made = {.exists = false};
    Dwarf_Die variable, type;
    int64_t cfa, start;
    uint64_t bytes;
    if ((memory->base != FLOW_RSP && memory->base != FLOW_RBP) || memory->index >= 0)
        return NULL;
    uint32_t *slot = lwp_map_at(run->frame_index, pc);
    if (*slot == LWP_MAP_NONE) {
        *slot = (uint32_t)run->frame_count;
        made.exists = code_frame_offset(run->module, pc, memory->base, &cfa);
        made.at = made.exists ? memory->displacement - cfa : 0;
        if (made.exists && memory->load && memory->bytes == 8 && run->frame_count < FLOW_FRAME_LOOKUPS &&
            code_frame_variable(run->module, pc, made.at, &variable, &start, &bytes) && type_die_of(&variable, &type)) {
            const char *name = dwarf_diename(&variable);
            pointee.name = name ? code_intern(run->module->code, name) : "";
            made.pointer = code_pointer_at(run->module, type, (uint64_t)(made.at - start), &pointee);
            made.source = made.pointer ? flow_source(&run->answers->sources, &pointee) : 0;
        }
        LWP_GROW(&run->frames, run->frame_count, &run->frame_capacity);
        run->frames[run->frame_count++] = made;
        slot = lwp_map_at(run->frame_index, pc);
    }
    return run->frames[*slot].exists ? &run->frames[*slot] : NULL;
}

static void flow_slot_drop(struct flow_state *state, int64_t at, int64_t bytes)
{
    for (uint32_t i = 0; i < state->slot_count;)
        if (state->slots[i].at < at + bytes && at < state->slots[i].at + 8)
            state->slots[i] = state->slots[--state->slot_count];
        else
            i++;
}

static bool flow_slot_find(const struct flow_state *state, int64_t at, struct flow_value *value)
{
    for (uint32_t i = 0; i < state->slot_count; i++)
        if (state->slots[i].at == at) {
            *value = state->slots[i].value;
            return true;
        }
    return false;
}

static void flow_store(struct flow_run *run, struct flow_state *state, uint64_t pc,
                       const struct code_instruction *instruction)
{
    const struct flow_frame *frame = flow_frame(run, pc, &instruction->memory);
    if (!frame)
        return;
    flow_slot_drop(state, frame->at, instruction->memory.bytes ? instruction->memory.bytes : 8);
    if (instruction->stores && state->slot_count < FLOW_SLOTS)
        state->slots[state->slot_count++] = (struct flow_slot){frame->at, state->of[instruction->source]};
}

static struct flow_value flow_load(struct flow_run *run, const struct flow_state *state, uint64_t pc,
                                   const struct code_instruction *instruction)
{
    struct code_pointee pointee = {.name = ""};
    struct flow_value value;
    const struct flow_frame *frame = flow_frame(run, pc, &instruction->memory);
    if (frame && frame->pointer)
        return flow_address(frame->source, 0);
    if (frame)
        return flow_slot_find(state, frame->at, &value) ? value : flow_unknown;
    value = flow_memory(run, state, pc, instruction);
    if (value.kind != FLOW_ADDRESS || !code_pointer_through(run->module, &run->answers->sources.items[value.source],
                                                            value.offset, value.modulus, &pointee))
        return flow_unknown;
    return flow_address(flow_source(&run->answers->sources, &pointee), 0);
}

/* ---- variables ---- */

static bool flow_in_scope(const struct flow_run *run, uint64_t pc, uint32_t scope)
{
    uint32_t at = code_scope_find(run->scopes, pc);
    while (at != LWP_NONE && at > scope)
        at = run->scopes->items[at].parent;
    return at == scope;
}

static void flow_apply_seed(struct flow_run *run, struct flow_value *value, const struct code_seed *seed,
                            uint32_t source)
{
    struct flow_value named = flow_address(source, seed->offset);
    if (value->kind == FLOW_ADDRESS) {
        const struct code_pointee *known = &run->answers->sources.items[value->source],
                                  *own = &run->answers->sources.items[source];
        int64_t size = (int64_t)own->bytes;
        if (flow_same_source(&run->answers->sources, value->source, source)) {
            bool agrees = size && value->modulus % own->bytes == 0 && (value->offset - seed->offset) % size == 0;
            if (!agrees)
                *value = named;
            return;
        }
        if (flow_holds(known, value, own, seed->offset) ||
            (known->bytes > own->bytes && !flow_holds(own, &named, known, value->offset)))
            return;
    }
    *value = named;
}

static void flow_seed(struct flow_run *run, struct flow_state *state, uint32_t block, uint64_t pc)
{
    for (uint32_t i = run->block_seed_first[block]; i < run->block_seed_first[block + 1]; i++) {
        const struct code_seed *seed = &run->seeds.items[run->block_seeds[i]];
        if (pc >= seed->low && pc < seed->high && (!seed->scoped || flow_in_scope(run, pc, seed->scope)))
            flow_apply_seed(run, &state->of[seed->reg], seed, run->seed_source[run->block_seeds[i]]);
    }
}

/* ---- instructions ---- */

static struct flow_value flow_result(struct flow_run *run, const struct code_instruction *call)
{
    struct code_pointee pointee = {.name = ""};
    struct code_scopes *callee = call->target ? code_scopes_at(run->module, call->target) : NULL;
    Dwarf_Die type;
    if (!callee || !callee->count || !type_die_of(&callee->items[0].die, &type) ||
        !code_pointer_at(run->module, type, 0, &pointee))
        return flow_unknown;
    if (!*pointee.name) {
        const char *name = code_scope_name(callee, 0);
        pointee.name = name ? name : "";
    }
    return flow_address(flow_source(&run->answers->sources, &pointee), 0);
}

static void flow_record(struct flow_run *run, uint64_t pc, const struct flow_value *value)
{
    struct code_flow_answers *answers = run->answers;
    if (value->kind != FLOW_ADDRESS)
        return;
    LWP_GROW(&answers->items, answers->count, &answers->capacity);
    answers->items[answers->count++] = (struct flow_answer){pc, *value};
}

static void flow_record_call(struct flow_run *run, const struct flow_state *state, uint64_t pc)
{
    struct code_flow_answers *answers = run->answers;
    struct flow_passed passed = {.pc = pc};
    bool any = false;
    for (int i = 0; i < FLOW_ARGUMENTS; i++) {
        passed.values[i] = state->of[flow_arguments[i]];
        any |= passed.values[i].kind == FLOW_ADDRESS;
    }
    if (!any)
        return;
    LWP_GROW(&answers->passed, answers->passed_count, &answers->passed_capacity);
    answers->passed[answers->passed_count++] = passed;
}

static void flow_step(struct flow_run *run, struct flow_state *state, uint64_t pc,
                      const struct code_instruction *instruction)
{
    const struct code_linear *linear = &instruction->linear;
    struct flow_value result = flow_unknown;
    int8_t to = -1;
    if (run->recording && instruction->memory.exists) {
        struct flow_value address = flow_memory(run, state, pc, instruction);
        flow_record(run, pc, &address);
    }
    if (run->recording && (instruction->flow == CODE_FLOW_CALL || instruction->flow == CODE_FLOW_JUMP))
        flow_record_call(run, state, pc);
    if (linear->loads) {
        to = linear->to;
        result = flow_load(run, state, pc, instruction);
        result = flow_add(&state->of[linear->base], &result);
    } else if (linear->exists) {
        to = linear->to;
        result = linear->selects ? flow_join(&run->answers->sources, &state->of[to], &state->of[linear->index])
                                 : flow_sum(run, state, linear->base, linear->index, linear->scale, linear->plus);
        if (linear->narrow && result.kind == FLOW_ADDRESS && (linear->base >= 0 || linear->index >= 0))
            result = flow_unknown;
    } else if (instruction->loads) {
        to = instruction->destination;
        result = flow_load(run, state, pc, instruction);
    }
    if (instruction->memory.store)
        flow_store(run, state, pc, instruction);
    for (int8_t reg = 0; reg < REGISTERS; reg++)
        if (instruction->written >> reg & 1)
            state->of[reg] = flow_unknown;
    if (to >= 0)
        state->of[to] = result;
    if (instruction->flow == CODE_FLOW_CALL)
        state->of[0] = flow_result(run, instruction);
}

static void flow_block_run(struct flow_run *run, uint32_t block, struct flow_state *state)
{
    const struct flow_block *own = &run->function->blocks[block];
    for (uint64_t pc = own->start; pc < own->end;) {
        size_t available;
        const uint8_t *bytes = code_bytes(run->module, pc, &available);
        struct code_instruction instruction = code_decode(bytes, available, pc, true);
        flow_seed(run, state, block, pc);
        flow_step(run, state, pc, &instruction);
        pc += instruction.length ? instruction.length : 1;
    }
}

static bool flow_merge(const struct flow_run *run, struct flow_state *into, const struct flow_state *from)
{
    bool changed = !into->reached;
    if (!into->reached) {
        *into = *from;
        into->reached = true;
        return true;
    }
    for (int reg = 0; reg < REGISTERS; reg++) {
        struct flow_value joined = flow_join(&run->answers->sources, &into->of[reg], &from->of[reg]);
        if (!flow_equal(&joined, &into->of[reg])) {
            into->of[reg] = joined;
            changed = true;
        }
    }
    for (uint32_t i = 0; i < into->slot_count;) {
        struct flow_value other = flow_unknown;
        flow_slot_find(from, into->slots[i].at, &other);
        struct flow_value joined = flow_join(&run->answers->sources, &into->slots[i].value, &other);
        if (!flow_equal(&joined, &into->slots[i].value)) {
            into->slots[i].value = joined;
            changed = true;
        }
        if (joined.kind == FLOW_NUMBER && joined.modulus == 1)
            into->slots[i] = into->slots[--into->slot_count];
        else
            i++;
    }
    return changed;
}

static const struct code_flow_answers *flow_answers_at(struct code_module *module, uint64_t pc);

static const struct flow_passed *flow_passed_at(const struct code_flow_answers *answers, uint64_t pc)
{
    for (size_t i = 0; i < answers->passed_count; i++)
        if (answers->passed[i].pc == pc)
            return &answers->passed[i];
    return NULL;
}

/* Compilers hand over parts of what the source says (a member instead of the struct's address), and DWARF has no name
 * for these arguments. What all the callers of a function that only this unit can call agree on, is in them. */
static void flow_enter_arguments(struct flow_run *run, struct flow_state *state)
{
    struct code_types *types = code_types_of(run->module);
    struct flow_value joined[FLOW_ARGUMENTS] = {{.kind = FLOW_NONE}};
    size_t count;
    if (!run->scopes || !run->scopes->count || type_die_flag(&run->scopes->items[0].die, DW_AT_external) ||
        types->flow_depth >= FLOW_CALL_DEPTH)
        return;
    const struct code_call *calls = code_calls_of(run->module, run->function->range.low, &count);
    for (size_t i = 0; i < count; i++) {
        const struct code_flow_answers *caller = NULL;
        if (calls[i].pc >= run->function->range.low && calls[i].pc < run->function->range.high)
            continue; /* itself */
        if (count <= FLOW_CALLERS) {
            uint64_t pc = calls[i].pc;
            types->flow_depth++;
            caller = flow_answers_at(run->module, pc);
            types->flow_depth--;
            calls = code_calls_of(run->module, run->function->range.low, &count);
        }
        const struct flow_passed *passed = caller ? flow_passed_at(caller, calls[i].pc) : NULL;
        if (!passed)
            return;
        for (int a = 0; a < FLOW_ARGUMENTS; a++) {
            struct flow_value value = passed->values[a];
            if (value.kind == FLOW_ADDRESS)
                value.source = flow_source(&run->answers->sources, &caller->sources.items[value.source]);
            joined[a] = flow_join(&run->answers->sources, &joined[a], &value);
        }
    }
    for (int a = 0; a < FLOW_ARGUMENTS; a++)
        if (joined[a].kind == FLOW_ADDRESS)
            state->of[flow_arguments[a]] = joined[a];
}

static bool flow_is_padding(const struct flow_run *run, const struct flow_block *block)
{
    for (uint64_t pc = block->start; pc < block->end;) {
        size_t available;
        const uint8_t *bytes = code_bytes(run->module, pc, &available);
        struct code_instruction instruction = code_decode(bytes, available, pc, false);
        if (!instruction.padding)
            return false;
        pc += instruction.length;
    }
    return true;
}

/* Blocks that nothing is known to lead to (landing pads, table jumps) begin with nothing known; not so the padding
 * between jumps, which would spoil what it falls through to. */
static void flow_enter(struct flow_run *run)
{
    const struct flow_function *function = run->function;
    bool *led_to = calloc(function->block_count, sizeof *led_to);
    if (!led_to)
        return;
    for (uint32_t b = 0; b < function->block_count; b++)
        for (uint32_t e = function->edge_first[b]; e < function->edge_first[b + 1]; e++)
            led_to[function->edges[e]] = true;
    for (uint32_t b = 0; b < function->block_count; b++)
        if (b == 0 || (!led_to[b] && !flow_is_padding(run, &function->blocks[b]))) {
            run->in[b].reached = true;
            for (int reg = 0; reg < REGISTERS; reg++)
                run->in[b].of[reg] = flow_unknown;
        }
    free(led_to);
    flow_enter_arguments(run, &run->in[0]);
}

static bool flow_settle(struct flow_run *run)
{
    const struct flow_function *function = run->function;
    bool *waiting = calloc(function->block_count, sizeof *waiting), changed = true;
    if (!waiting)
        return false;
    for (uint32_t b = 0; b < function->block_count; b++)
        waiting[b] = run->in[b].reached;
    for (int sweep = 0; sweep < FLOW_SWEEPS && changed; sweep++) {
        changed = false;
        for (uint32_t b = 0; b < function->block_count; b++) {
            if (!waiting[b])
                continue;
            struct flow_state state = run->in[b];
            waiting[b] = false;
            flow_block_run(run, b, &state);
            for (uint32_t e = function->edge_first[b]; e < function->edge_first[b + 1]; e++)
                if (flow_merge(run, &run->in[function->edges[e]], &state)) {
                    waiting[function->edges[e]] = true;
                    changed = true;
                }
        }
    }
    free(waiting);
    return !changed;
}

/* Which seeds matter in which block. */
static bool flow_place_seeds(struct flow_run *run)
{
    const struct flow_function *function = run->function;
    size_t count = 0, capacity = 0;
    run->block_seed_first = calloc(function->block_count + 1, sizeof *run->block_seed_first);
    run->seed_source = calloc(run->seeds.count + 1, sizeof *run->seed_source);
    if (!run->block_seed_first || !run->seed_source ||
        (run->seeds.count && function->block_count > FLOW_SEED_WORK / run->seeds.count))
        return false;
    for (size_t i = 0; i < run->seeds.count; i++)
        run->seed_source[i] = flow_source(&run->answers->sources, &run->seeds.items[i].pointee);
    for (uint32_t b = 0; b < function->block_count; b++) {
        for (size_t i = 0; i < run->seeds.count && run->seeds.items[i].low < function->blocks[b].end; i++)
            if (run->seeds.items[i].high > function->blocks[b].start) {
                LWP_GROW(&run->block_seeds, count, &capacity);
                run->block_seeds[count++] = (uint32_t)i;
            }
        run->block_seed_first[b + 1] = (uint32_t)count;
    }
    return true;
}

static struct code_flow_answers *flow_answers(struct code_module *module, struct code_range range)
{
    struct code_flow_answers *answers = calloc(1, sizeof *answers);
    struct flow_run run = {.module = module, .answers = answers, .function = code_flow_at(module, range)};
    if (!answers)
        abort();
    if (!run.function || run.function->block_count > FLOW_BLOCKS || range.high - range.low > FLOW_BYTES)
        return answers;
    run.scopes = code_scopes_at(module, range.low);
    if (run.scopes)
        code_seeds_of(run.scopes, &run.seeds);
    run.in = calloc(run.function->block_count, sizeof *run.in);
    run.frame_index = lwp_map_new();
    if (run.in && flow_place_seeds(&run)) {
        flow_enter(&run);
        if (flow_settle(&run)) {
            run.recording = true;
            for (uint32_t b = 0; b < run.function->block_count; b++)
                if (run.in[b].reached) {
                    struct flow_state state = run.in[b];
                    flow_block_run(&run, b, &state);
                }
        }
    }
    free(run.seeds.items);
    free(run.seed_source);
    free(run.block_seeds);
    free(run.block_seed_first);
    free(run.in);
    free(run.frames);
    lwp_map_free(run.frame_index);
    lwp_map_free(answers->sources.index);
    answers->sources.index = NULL;
    return answers;
}

void code_flow_answers_free(struct code_flow_answers *answers)
{
    if (!answers)
        return;
    free(answers->sources.items);
    free(answers->items);
    free(answers->passed);
    free(answers);
}

static const struct code_flow_answers *flow_answers_at(struct code_module *module, uint64_t pc)
{
    struct code_types *types = code_types_of(module);
    struct code_range range;
    const char *name;
    if (!code_function_at(module, pc, &range, &name))
        return NULL;
    uint32_t *slot = lwp_map_at(types->flow_by_function, range.low), index = *slot;
    if (index == LWP_MAP_NONE) {
        index = *slot = (uint32_t)types->flow_count;
        LWP_GROW(&types->flows, types->flow_count, &types->flow_capacity);
        types->flows[types->flow_count++] = NULL; /* should building it ask for itself */
        struct code_flow_answers *answers = flow_answers(module, range);
        types->flows[index] = answers;
    }
    return types->flows[index];
}

bool code_flow_target(struct code_module *module, uint64_t pc, struct code_target *target)
{
    const struct code_flow_answers *answers = flow_answers_at(module, pc);
    size_t low = 0, high = answers ? answers->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (answers->items[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (!answers || low == answers->count || answers->items[low].pc != pc)
        return false;
    const struct flow_value *value = &answers->items[low].value;
    *target = (struct code_target){answers->sources.items[value->source], value->offset, value->modulus};
    return true;
}
