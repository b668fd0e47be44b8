/* What each instruction does to what is known of registers and spill slots. */
#include "analysis/program/flow/decode.h"
#include "analysis/program/pointers/pointer_flow.h"
#include "analysis/program/pointers/pointers.h"
#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_variables.h"
#include "analysis/statistics/stride.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { POINTER_FRAME_LOOKUPS = 20000 };
static const int64_t pointer_aligned = (int64_t)1 << 40; /* `at` of slots that are known from the stack pointer only */

const int8_t pointer_arguments[POINTER_ARGUMENTS] = {7, 6, 2, 1, 8, 9}; /* rdi rsi rdx rcx r8 r9 */

/* ---- memory ---- */

static bool pointer_static(struct pointer_run *run, uint64_t address, struct pointer_value *value)
{
    struct code_static found;
    struct code_pointee pointee;
    Dwarf_Die type;
    const struct code_section *section = address ? code_section_at(run->module, address) : NULL;
    if (!section || section->executable || !code_static_at(run->module, address, &found) ||
        !type_die_of(&found.die, &type) || !code_pointee_itself(type, &pointee))
        return false;
    pointee.name = code_die_label(run->module->code, &found.die);
    *value = pointer_address(pointer_source(&run->answers->sources, &pointee), (int64_t)(address - found.start));
    value->origin = found.start;
    return true;
}

static struct pointer_value pointer_sum(struct pointer_run *run, const struct pointer_state *state, int8_t base,
                                        int8_t index, int64_t scale, int64_t plus)
{
    struct pointer_value sum = {.kind = POINTER_NUMBER, .offset = plus};
    if (plus && base < 0)
        pointer_static(run, (uint64_t)plus, &sum);
    if (base >= 0)
        sum = pointer_add(&state->of[base], &sum);
    if (index >= 0) {
        struct pointer_value scaled = pointer_scaled(&state->of[index], scale);
        struct pointer_value total = pointer_add(&sum, &scaled);
        /* A sum of two pointers to the same: LLVM says of an index that it is the pointer it belongs to. */
        if (scale == 1 && sum.kind == POINTER_ADDRESS && scaled.kind == POINTER_ADDRESS &&
            pointer_same_source(&run->answers->sources, sum.source, scaled.source)) {
            total = sum;
            total.modulus = lwp_stride_gcd(sum.modulus, run->answers->sources.items[sum.source].bytes);
            pointer_name(&total, 0);
        }
        sum = total;
    }
    return sum;
}

static struct pointer_value pointer_memory(struct pointer_run *run, const struct pointer_state *state, uint64_t pc,
                                           const struct code_instruction *instruction)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    if (memory->base == CODE_RIP)
        return pointer_sum(run, state, -1, -1, 1, (int64_t)(pc + instruction->length) + memory->displacement);
    return pointer_sum(run, state, memory->base, memory->index, memory->scale, memory->displacement);
}

/* The frame slot of a memory operand, and the variable there that DWARF knows. Where the stack was aligned, as for vectors, nothing
 * says how far the stack pointer is from the CFA: its slots are the same as long as it does not change. */
static const struct pointer_frame *pointer_frame(struct pointer_run *run, uint64_t pc,
                                                 const struct lwp_memory_operand *memory)
{
    struct code_pointee pointee;
    struct pointer_frame made = {.exists = false};
    int64_t cfa;
    if ((memory->base != CODE_RSP && memory->base != CODE_RBP) || memory->index >= 0)
        return NULL;
    uint32_t *slot = lwp_map_at(run->frame_index, pc);
    if (*slot == LWP_MAP_NONE) {
        *slot = (uint32_t)run->frame_count;
        made.exists = code_frame_offset(run->module, pc, memory->base, &cfa);
        made.at = made.exists ? memory->displacement - cfa : 0;
        made.pointer = made.exists && memory->load && memory->bytes == 8 && run->frame_count < POINTER_FRAME_LOOKUPS &&
                       code_frame_pointer(run->module, pc, made.at, &pointee);
        made.source = made.pointer ? pointer_source(&run->answers->sources, &pointee) : 0;
        if (!made.exists && memory->base == CODE_RSP)
            made = (struct pointer_frame){.exists = true, .at = pointer_aligned + memory->displacement};
        LWP_GROW(&run->frames, run->frame_count, &run->frame_capacity);
        run->frames[run->frame_count++] = made;
        slot = lwp_map_at(run->frame_index, pc);
    }
    return run->frames[*slot].exists ? &run->frames[*slot] : NULL;
}

static void pointer_slot_drop(struct pointer_state *state, int64_t at, int64_t bytes)
{
    for (uint32_t i = 0; i < state->slot_count;)
        if (state->slots[i].at < at + bytes && at < state->slots[i].at + 8)
            state->slots[i] = state->slots[--state->slot_count];
        else
            i++;
}

void pointer_forget(struct pointer_state *state, uint64_t factor, const struct pointer_value *but)
{
    for (int reg = 0; reg < POINTER_REGISTERS; reg++)
        if (state->of[reg].factor == factor && &state->of[reg] != but)
            pointer_name(&state->of[reg], 0);
    for (uint32_t i = 0; i < state->slot_count; i++)
        if (state->slots[i].value.factor == factor)
            pointer_name(&state->slots[i].value, 0);
}

bool pointer_slot_find(const struct pointer_state *state, int64_t at, struct pointer_value *value)
{
    for (uint32_t i = 0; i < state->slot_count; i++)
        if (state->slots[i].at == at) {
            *value = state->slots[i].value;
            return true;
        }
    return false;
}

static void pointer_store(struct pointer_run *run, struct pointer_state *state, uint64_t pc,
                          const struct code_instruction *instruction)
{
    const struct pointer_frame *frame = pointer_frame(run, pc, &instruction->memory);
    if (!frame)
        return;
    pointer_slot_drop(state, frame->at, instruction->memory.bytes ? instruction->memory.bytes : 8);
    if (instruction->stores && state->slot_count < POINTER_SLOTS)
        state->slots[state->slot_count++] = (struct pointer_slot){frame->at, state->of[instruction->source]};
}

static bool pointer_seed_holds(const struct pointer_run *run, const struct code_seed *seed, uint64_t pc)
{
    return pc >= seed->low && pc < seed->high &&
           (!seed->scoped || code_scope_holds(run->scopes, (uint32_t)seed->scope, code_scope_find(run->scopes, pc)));
}

/* Parallel regions of OpenMP are functions that are given a record of the variables they share, of whose members DWARF knows nothing:
 * but where the function begins it says of the variables how far they are from the register that holds the record. */
static bool pointer_shared(const struct pointer_run *run, const struct pointer_value *value, struct pointer_value *stored)
{
    struct code_pointee *record = &run->answers->sources.items[value->source];
    if (!record->shares || value->modulus)
        return false;
    for (uint32_t i = run->block_seed_first[0]; i < run->block_seed_first[1]; i++) {
        const struct code_seed *seed = &run->seeds.items[run->block_seeds[i]];
        if (seed->stored && seed->low <= run->function->range.low && seed->offset == value->offset) {
            *stored = pointer_address(run->seed_source[run->block_seeds[i]], 0);
            return true;
        }
    }
    return false;
}

/* What is loaded from one place is one pointer. */
static struct pointer_value pointer_loaded(uint32_t source, uint64_t origin)
{
    struct pointer_value value = pointer_address(source, 0);
    value.origin = origin;
    return value;
}

static struct pointer_value pointer_load(struct pointer_run *run, const struct pointer_state *state, uint64_t pc,
                                         const struct code_instruction *instruction)
{
    struct code_pointee pointee = {.name = ""};
    struct pointer_value value;
    const struct pointer_frame *frame = pointer_frame(run, pc, &instruction->memory);
    if (frame && frame->pointer)
        return pointer_loaded(frame->source, pointer_factor(POINTER_OF_FRAME, (uint64_t)frame->at, 0));
    if (frame)
        return pointer_slot_find(state, frame->at, &value) ? value : pointer_unknown;
    value = pointer_memory(run, state, pc, instruction);
    if (value.kind == POINTER_ADDRESS && pointer_shared(run, &value, &value))
        return value;
    if (value.kind != POINTER_ADDRESS || !code_pointer_through(run->module, &run->answers->sources.items[value.source], value.offset,
                                                               value.modulus, false, &pointee))
        return pointer_unknown;
    return pointer_loaded(pointer_source(&run->answers->sources, &pointee),
                          value.origin ? lwp_hash_mix(value.origin, (uint64_t)value.offset) : 0);
}

/* ---- variables ---- */

/* LLVM says of an index that it is the pointer it belongs to. The code knows better where it makes the number: from a constant, or by
 * steps. */
static bool pointer_is_index(const struct pointer_value *value)
{
    return value->kind == POINTER_NUMBER && value->modulus != 1 && (value->modulus || value->offset);
}

/* A header with an array behind it: a pointer past the end of what it is known to lead to has another type. */
static void pointer_note_behind(struct pointer_run *run, const struct pointer_value *value, uint32_t inner,
                                int64_t inner_offset)
{
    const struct code_pointee *outer = &run->answers->sources.items[value->source];
    int64_t at = value->offset - inner_offset;
    if (outer->bytes == 0 || run->answers->sources.items[inner].bytes == 0 || value->modulus || !value->origin ||
        at < (int64_t)outer->bytes)
        return;
    for (uint32_t i = 0; i < run->behind_count; i++)
        if (run->behind[i].origin == value->origin && run->behind[i].outer == value->source && run->behind[i].at == at)
            return;
    if (run->behind_count < POINTER_BEHIND)
        run->behind[run->behind_count++] = (struct pointer_behind){value->source, inner, at, value->origin};
}

static void pointer_apply_seed(struct pointer_run *run, struct pointer_value *value, const struct code_seed *seed,
                               uint32_t source)
{
    struct pointer_value named = pointer_address(source, seed->offset);
    named.origin = value->origin ? value->origin : pointer_factor(POINTER_OF_CODE, seed->low, seed->reg);
    if (pointer_is_index(value))
        return;
    if (value->kind == POINTER_ADDRESS) {
        const struct code_pointee *known = &run->answers->sources.items[value->source],
                                  *own = &run->answers->sources.items[source];
        int64_t size = (int64_t)own->bytes;
        if (pointer_same_source(&run->answers->sources, value->source, source)) {
            bool agrees = size && value->modulus % own->bytes == 0 && (value->offset - seed->offset) % size == 0;
            bool result = *known->name && known->name[strlen(known->name) - 1] == ')'; /* of a call */
            /* the members of a library's variables, and of a slice, are nobody's names */
            bool first = !*known->name && !strchr(own->name, '.') && !code_scope_is_library(run->scopes, seed->scope);
            if (!agrees)
                *value = named;
            else if (*own->name && (result || first))
                value->source = source;
            return;
        }
        if (pointer_holds(run->module, known, value, own, seed->offset) ||
            (known->bytes > own->bytes && !pointer_holds(run->module, own, &named, known, value->offset)))
            return;
        if (run->recording)
            pointer_note_behind(run, value, source, seed->offset);
    }
    *value = named;
}

static void pointer_seed(struct pointer_run *run, struct pointer_state *state, uint32_t block, uint64_t pc)
{
    for (uint32_t i = run->block_seed_first[block]; i < run->block_seed_first[block + 1]; i++) {
        const struct code_seed *seed = &run->seeds.items[run->block_seeds[i]];
        if (!seed->stored && pointer_seed_holds(run, seed, pc))
            pointer_apply_seed(run, &state->of[seed->reg], seed, run->seed_source[run->block_seeds[i]]);
    }
}

/* ---- instructions ---- */

static struct pointer_value pointer_result(struct pointer_run *run, const struct code_instruction *call)
{
    struct code_pointee pointee;
    struct code_scopes *callee = call->target ? code_scopes_at(run->module, call->target) : NULL;
    if (!callee || !code_returned_pointer(callee, &pointee))
        return pointer_unknown;
    struct lwp_code *code = run->module->code;
    const char *scope = *pointee.name ? NULL : code_scope_name(callee, 0), *name = code_die_label(code, &callee->items[0].die);
    if (scope && *name && !lwp_types_is_library(scope))
        pointee.name = code_intern(code, lwp_arena_printf(code->arena, "%s()", name));
    return pointer_address(pointer_source(&run->answers->sources, &pointee), 0);
}

static void pointer_record(struct pointer_run *run, uint64_t pc, const struct pointer_value *value)
{
    struct code_pointers *answers = run->answers;
    if (value->kind != POINTER_ADDRESS)
        return;
    LWP_GROW(&answers->items, answers->count, &answers->capacity);
    answers->items[answers->count++] = (struct pointer_answer){pc, *value};
}

static void pointer_record_call(struct pointer_run *run, const struct pointer_state *state, uint64_t pc)
{
    struct code_pointers *answers = run->answers;
    struct pointer_passed passed = {.pc = pc};
    bool any = false;
    for (int i = 0; i < POINTER_ARGUMENTS; i++) {
        passed.values[i] = state->of[pointer_arguments[i]];
        any |= passed.values[i].kind == POINTER_ADDRESS;
    }
    if (!any)
        return;
    LWP_GROW(&answers->passed, answers->passed_count, &answers->passed_capacity);
    answers->passed[answers->passed_count++] = passed;
}

/* What the instruction puts into the register: when nobody knows it, it is a number with a name of its own. */
static void pointer_set(struct pointer_state *state, uint64_t pc, int reg, const struct pointer_value *value)
{
    const uint64_t factor = pointer_factor(POINTER_OF_CODE, pc, reg);
    state->of[reg] = *value;
    if (value->kind == POINTER_ADDRESS && !value->origin)
        state->of[reg].origin = factor;
    if (value->kind == POINTER_NUMBER && value->modulus == 1 && !value->factor) {
        pointer_forget(state, factor, NULL);
        pointer_name(&state->of[reg], factor);
    }
}

static void pointer_step(struct pointer_run *run, struct pointer_state *state, uint64_t pc,
                         const struct code_instruction *instruction)
{
    const struct code_linear *linear = &instruction->linear;
    struct pointer_value result = pointer_unknown;
    int8_t to = -1;
    if (run->recording && instruction->memory.exists) {
        struct pointer_value address = pointer_memory(run, state, pc, instruction);
        pointer_record(run, pc, &address);
    }
    if (run->recording && (instruction->flow == CODE_FLOW_CALL || instruction->flow == CODE_FLOW_JUMP))
        pointer_record_call(run, state, pc);
    if (linear->loads) {
        to = linear->to;
        result = pointer_load(run, state, pc, instruction);
        result = pointer_add(&state->of[linear->base], &result);
    } else if (linear->exists) {
        to = linear->to;
        result = linear->selects ? pointer_join(&run->answers->sources, &state->of[to], &state->of[linear->index])
                                 : pointer_sum(run, state, linear->base, linear->index, linear->scale, linear->plus);
        if (linear->narrow && result.kind == POINTER_ADDRESS && (linear->base >= 0 || linear->index >= 0))
            result = pointer_unknown;
    } else if (instruction->loads) {
        to = instruction->destination;
        result = pointer_load(run, state, pc, instruction);
    }
    if (instruction->memory.store)
        pointer_store(run, state, pc, instruction);
    for (int reg = 0; reg < POINTER_REGISTERS; reg++)
        if (instruction->written >> reg & 1 && reg != to)
            pointer_set(state, pc, reg, &pointer_unknown);
    if (to >= 0)
        pointer_set(state, pc, to, &result);
    if (instruction->written >> CODE_RSP & 1 && instruction->flow != CODE_FLOW_CALL)
        pointer_slot_drop(state, pointer_aligned / 2, pointer_aligned);
    if (instruction->flow == CODE_FLOW_CALL) {
        result = pointer_result(run, instruction);
        pointer_set(state, pc, 0, &result);
    }
}

void pointer_block_run(struct pointer_run *run, uint32_t block, struct pointer_state *state)
{
    const struct flow_block *own = &run->function->blocks[block];
    for (uint64_t pc = own->start; pc < own->end;) {
        struct code_instruction instruction = code_decode_at(run->module, pc, true);
        pointer_seed(run, state, block, pc);
        pointer_step(run, state, pc, &instruction);
        pc += instruction.length ? instruction.length : 1;
    }
}
