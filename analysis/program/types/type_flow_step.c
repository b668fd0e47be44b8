/* What each instruction does to what is known of registers and spill slots. */
#include "analysis/program/flow/decode.h"
#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_flow_run.h"
#include "analysis/program/types/type_scope.h"
#include "analysis/program/types/type_variables.h"
#include "analysis/statistics/stride.h"

#include <dwarf.h>
#include <stdlib.h>

enum { FLOW_RSP = 4, FLOW_RBP = 5, FLOW_FRAME_LOOKUPS = 20000 };

const int8_t flow_arguments[FLOW_ARGUMENTS] = {7, 6, 2, 1, 8, 9}; /* rdi rsi rdx rcx r8 r9 */

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

bool flow_slot_find(const struct flow_state *state, int64_t at, struct flow_value *value)
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

/* A header with an array behind it: a pointer past the end of what it is known to lead to has another type. */
static void flow_note_behind(struct flow_run *run, const struct flow_value *value, uint32_t inner, int64_t inner_offset)
{
    const struct code_pointee *outer = &run->answers->sources.items[value->source];
    int64_t at = value->offset - inner_offset;
    if (outer->bytes == 0 || run->answers->sources.items[inner].bytes == 0 || value->modulus ||
        at < (int64_t)outer->bytes)
        return;
    for (uint32_t i = 0; i < run->behind_count; i++)
        if (run->behind[i].outer == value->source && run->behind[i].at == at)
            return;
    if (run->behind_count < FLOW_BEHIND)
        run->behind[run->behind_count++] = (struct flow_behind){value->source, inner, at};
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
        if (run->recording)
            flow_note_behind(run, value, source, seed->offset);
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
    for (int reg = 0; reg < FLOW_REGISTERS; reg++)
        if (instruction->written >> reg & 1)
            state->of[reg] = flow_unknown;
    if (to >= 0)
        state->of[to] = result;
    if (instruction->flow == CODE_FLOW_CALL)
        state->of[0] = flow_result(run, instruction);
}

void flow_block_run(struct flow_run *run, uint32_t block, struct flow_state *state)
{
    const struct flow_block *own = &run->function->blocks[block];
    for (uint64_t pc = own->start; pc < own->end;) {
        struct code_instruction instruction = code_decode_at(run->module, pc, true);
        flow_seed(run, state, block, pc);
        flow_step(run, state, pc, &instruction);
        pc += instruction.length ? instruction.length : 1;
    }
}
