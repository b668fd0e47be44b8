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
#include "analysis/program/types/type_flow.h"

#include "analysis/program/flow/decode.h"
#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_callers.h"
#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_flow_run.h"
#include "analysis/program/types/type_variables.h"
#include "analysis/statistics/stride.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
    FLOW_CALLERS = 16,
    FLOW_CALL_DEPTH = 4,
    FLOW_BLOCKS = 20000,
    FLOW_BYTES = 1 << 20,
    FLOW_SWEEPS = 24,
    FLOW_SEED_WORK = 20 * 1000 * 1000
};

static bool flow_merge(const struct flow_run *run, struct flow_state *into, const struct flow_state *from)
{
    bool changed = !into->reached;
    if (!into->reached) {
        *into = *from;
        into->reached = true;
        return true;
    }
    for (int reg = 0; reg < FLOW_REGISTERS; reg++) {
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
        struct code_instruction instruction = code_decode_at(run->module, pc, false);
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
            for (int reg = 0; reg < FLOW_REGISTERS; reg++)
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

/* What lies past the end of a header is of the array behind it, also where DWARF has lost the array's own pointer. */
static void flow_look_behind(struct flow_run *run)
{
    for (size_t i = 0; i < run->answers->count; i++) {
        struct flow_value *value = &run->answers->items[i].value;
        for (uint32_t k = 0; k < run->behind_count; k++) {
            const struct flow_behind *behind = &run->behind[k];
            if (!flow_same_source(&run->answers->sources, value->source, behind->outer) || value->offset < behind->at)
                continue;
            *value =
                (struct flow_value){FLOW_ADDRESS, behind->inner, value->offset - behind->at,
                                    lwp_stride_gcd(value->modulus, run->answers->sources.items[behind->inner].bytes)};
            break;
        }
    }
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
            flow_look_behind(&run);
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

void code_flow_answers_free(struct code_types *types)
{
    for (size_t i = 0; types && i < types->flow_count; i++) {
        struct code_flow_answers *answers = types->flows[i];
        if (!answers)
            continue;
        free(answers->sources.items);
        free(answers->items);
        free(answers->passed);
        free(answers);
    }
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
