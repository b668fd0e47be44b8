/* What registers point to, by forward data flow over a function's blocks to a fixed point.
 *
 * A value is a number, or an address: so many bytes from the start of something of a type. Both are known up to
 * multiples of a modulus. Where paths meet, the modulus becomes the greatest common divisor of what differs: a pointer
 * that moves by 40 bytes in each iteration is "at the same offset of some element" of an array of 40-byte structures.
 * Values come from variables that DWARF places in registers (seeds.c), static variables, members loaded through known
 * pointers, and results of known functions. They go on through moves, sums, conditional moves and the stack's spill
 * slots, also where a variable's own range ends. When DWARF names a pointer to a part of what is known already (an
 * inlined method of a member), the whole is kept.
 *
 * First the blocks run until no state at a block's start changes any more; moduli only shrink, so that takes a few
 * sweeps. Then each block runs once more and what its memory operands lead to is recorded.
 *
 * Limits: one function at a time, but for what its callers agree to pass; stores through pointers are assumed not to
 * change spill slots; a pointer cast to an unrelated type is taken for the larger of both. Functions that do not reach
 * the fixed point within bounds give no answers. */
#include "analysis/program/pointers/pointer_flow.h"

#include "analysis/program/flow/decode.h"
#include "analysis/program/types/type_die.h"
#include "analysis/statistics/stride.h"
#include "base/order.h"

#include <dwarf.h>
#include <stdlib.h>

#define CALLERS_CODE_LIMIT ((uint64_t)32 << 20)

enum { POINTER_CALLERS = 16, POINTER_CALL_DEPTH = 4, POINTER_BLOCKS = 20000, POINTER_BYTES = 1 << 20 };
enum { POINTER_SWEEPS = 24, POINTER_SEED_WORK = 20 * 1000 * 1000 };

/* What a register holds at the start of a block, whichever way was taken to it, has a name of its own there. */
static bool pointer_merge_register(const struct pointer_run *run, uint32_t block, int reg, struct pointer_value *into,
                                   const struct pointer_value *from)
{
    struct pointer_value joined = pointer_join(&run->answers->sources, into, from);
    if (!joined.factor)
        pointer_name(&joined, pointer_factor(POINTER_OF_BLOCK, block, reg));
    if (joined.kind == POINTER_ADDRESS && !joined.origin)
        joined.origin = pointer_factor(POINTER_OF_BLOCK, block, reg);
    if (pointer_equal(&joined, into))
        return false;
    *into = joined;
    return true;
}

/* `from` has been round the block before: what it says of the block's own numbers is of the last time. */
static void pointer_leave(struct pointer_state *from, uint32_t block)
{
    for (int reg = 0; reg < POINTER_REGISTERS; reg++)
        pointer_forget(from, pointer_factor(POINTER_OF_BLOCK, block, reg), &from->of[reg]);
}

static bool pointer_merge(const struct pointer_run *run, uint32_t block, struct pointer_state *into, const struct pointer_state *before)
{
    struct pointer_state left = *before;
    const struct pointer_state *from = &left;
    pointer_leave(&left, block);
    if (!into->reached) {
        *into = *from;
        into->reached = true;
        return true;
    }
    bool changed = false;
    for (int reg = 0; reg < POINTER_REGISTERS; reg++)
        changed |= pointer_merge_register(run, block, reg, &into->of[reg], &from->of[reg]);
    for (uint32_t i = 0; i < into->slot_count;) {
        struct pointer_value other = pointer_unknown;
        pointer_slot_find(from, into->slots[i].at, &other);
        struct pointer_value joined = pointer_join(&run->answers->sources, &into->slots[i].value, &other);
        if (!pointer_equal(&joined, &into->slots[i].value)) {
            into->slots[i].value = joined;
            changed = true;
        }
        if (joined.kind == POINTER_NUMBER && joined.modulus == 1)
            into->slots[i] = into->slots[--into->slot_count];
        else
            i++;
    }
    return changed;
}

/* ---- callers ---- */

struct code_call {
    uint64_t target, pc;
};

/* Reads the module's code once from end to end for calls and jumps with a fixed target. Very large modules are left
 * alone. */
static void callers_read(struct code_module *module, struct code_types *types)
{
    uint64_t bytes = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < module->section_count; i++)
        if (module->sections[i].executable)
            bytes += module->sections[i].end - module->sections[i].start;
    for (size_t i = 0; i < module->section_count && bytes <= CALLERS_CODE_LIMIT; i++) {
        const struct code_section *section = &module->sections[i];
        for (uint64_t pc = section->start; section->executable && pc < section->end;) {
            size_t available;
            const uint8_t *code = code_bytes(module, pc, &available);
            if (!code)
                break;
            struct code_instruction instruction = code_decode(code, available, pc, false);
            if ((instruction.flow == CODE_FLOW_CALL || instruction.flow == CODE_FLOW_JUMP) && instruction.target) {
                LWP_GROW(&types->calls, types->call_count, &capacity);
                types->calls[types->call_count++] = (struct code_call){instruction.target, pc};
            }
            pc += instruction.length ? instruction.length : 1;
        }
    }
    LWP_SORT(types->calls, types->call_count, lwp_by_first_two);
}

/* The calls of the function that begins at `target`. */
static const struct code_call *callers_of(struct code_module *module, uint64_t target, size_t *count)
{
    struct code_types *types = code_types_of(module);
    if (!types->calls_read) {
        types->calls_read = true;
        callers_read(module, types);
    }
    size_t before = target ? LWP_COUNT_UP_TO(types->calls, types->call_count, target, target - 1) : 0;
    *count = LWP_COUNT_UP_TO(types->calls, types->call_count, target, target) - before;
    return *count ? &types->calls[before] : NULL;
}

static const struct code_pointers *pointer_answers_at(struct code_module *module, uint64_t pc);

static const struct pointer_passed *pointer_passed_at(const struct code_pointers *answers, uint64_t pc)
{
    size_t count = LWP_COUNT_UP_TO(answers->passed, answers->passed_count, pc, pc);
    return count && answers->passed[count - 1].pc == pc ? &answers->passed[count - 1] : NULL;
}

/* Compilers hand over parts of what the source says (a member instead of the struct's address), and DWARF has no name
 * for these arguments. If only this unit can call the function, they hold what all its callers agree on. */
static void pointer_enter_arguments(struct pointer_run *run, struct pointer_state *state)
{
    struct code_types *types = code_types_of(run->module);
    struct pointer_value joined[POINTER_ARGUMENTS] = {{.kind = POINTER_NONE}};
    bool several[POINTER_ARGUMENTS] = {false}; /* names: the argument is called by none of them */
    size_t count;
    if (!run->scopes || !run->scopes->count || type_die_flag(&run->scopes->items[0].die, DW_AT_external) ||
        types->callers_deep >= POINTER_CALL_DEPTH)
        return;
    const struct code_call *calls = callers_of(run->module, run->function->range.low, &count);
    for (size_t i = 0; i < count; i++) {
        const struct code_pointers *caller = NULL;
        if (calls[i].pc >= run->function->range.low && calls[i].pc < run->function->range.high)
            continue; /* itself */
        if (count <= POINTER_CALLERS) {
            types->callers_deep++;
            caller = pointer_answers_at(run->module, calls[i].pc);
            types->callers_deep--;
        }
        const struct pointer_passed *passed = caller ? pointer_passed_at(caller, calls[i].pc) : NULL;
        if (!passed)
            return;
        for (int a = 0; a < POINTER_ARGUMENTS; a++) {
            struct pointer_value value = passed->values[a];
            pointer_name(&value, 0);
            if (value.kind == POINTER_ADDRESS)
                value.source = pointer_source(&run->answers->sources, &caller->sources.items[value.source]);
            several[a] |= joined[a].kind == POINTER_ADDRESS && value.kind == POINTER_ADDRESS && joined[a].source != value.source;
            joined[a] = pointer_join(&run->answers->sources, &joined[a], &value);
        }
    }
    for (int a = 0; a < POINTER_ARGUMENTS; a++) {
        if (joined[a].kind != POINTER_ADDRESS)
            continue;
        if (several[a]) {
            struct code_pointee unnamed = run->answers->sources.items[joined[a].source];
            unnamed.name = "";
            joined[a].source = pointer_source(&run->answers->sources, &unnamed);
        }
        joined[a].origin = pointer_factor(POINTER_OF_BLOCK, 0, pointer_arguments[a]);
        state->of[pointer_arguments[a]] = joined[a];
    }
}

static bool pointer_is_padding(const struct pointer_run *run, const struct flow_block *block)
{
    for (uint64_t pc = block->start; pc < block->end;) {
        struct code_instruction instruction = code_decode_at(run->module, pc, false);
        if (!instruction.padding)
            return false;
        pc += instruction.length;
    }
    return true;
}

/* Blocks without predecessors (landing pads, targets of unread jump tables) begin with everything unknown, except the
 * padding between jumps: it would make what it falls through to unknown. */
static void pointer_enter(struct pointer_run *run)
{
    const struct flow_function *function = run->function;
    bool *led_to = lwp_zeroed(function->block_count, sizeof *led_to);
    for (uint32_t b = 0; b < function->block_count; b++)
        for (uint32_t e = function->edge_first[b]; e < function->edge_first[b + 1]; e++)
            led_to[function->edges[e]] = true;
    for (uint32_t b = 0; b < function->block_count; b++)
        if (b == 0 || (!led_to[b] && !pointer_is_padding(run, &function->blocks[b]))) {
            run->in[b].reached = true;
            for (int reg = 0; reg < POINTER_REGISTERS; reg++) {
                run->in[b].of[reg] = pointer_unknown;
                pointer_name(&run->in[b].of[reg], pointer_factor(POINTER_OF_BLOCK, b, reg));
            }
        }
    free(led_to);
    pointer_enter_arguments(run, &run->in[0]);
}

/* False: no fixed point within the bound. */
static bool pointer_reach_fixed_point(struct pointer_run *run)
{
    const struct flow_function *function = run->function;
    bool *waiting = lwp_zeroed(function->block_count, sizeof *waiting), changed = true;
    for (uint32_t b = 0; b < function->block_count; b++)
        waiting[b] = run->in[b].reached;
    for (int sweep = 0; sweep < POINTER_SWEEPS && changed; sweep++) {
        changed = false;
        for (uint32_t b = 0; b < function->block_count; b++) {
            if (!waiting[b])
                continue;
            struct pointer_state state = run->in[b];
            waiting[b] = false;
            pointer_block_run(run, b, &state);
            for (uint32_t e = function->edge_first[b]; e < function->edge_first[b + 1]; e++)
                if (pointer_merge(run, function->edges[e], &run->in[function->edges[e]], &state)) {
                    waiting[function->edges[e]] = true;
                    changed = true;
                }
        }
    }
    free(waiting);
    return !changed;
}

/* Lists the seeds whose addresses overlap each block; false: too many. */
static bool pointer_place_seeds(struct pointer_run *run)
{
    const struct flow_function *function = run->function;
    size_t count = 0, capacity = 0;
    if (run->seeds.count && function->block_count > POINTER_SEED_WORK / run->seeds.count)
        return false;
    run->block_seed_first = lwp_zeroed(function->block_count + 1, sizeof *run->block_seed_first);
    run->seed_source = lwp_zeroed(run->seeds.count, sizeof *run->seed_source);
    for (size_t i = 0; i < run->seeds.count; i++)
        run->seed_source[i] = pointer_source(&run->answers->sources, &run->seeds.items[i].pointee);
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

/* Accesses past the end of a header are to the array behind it, also where DWARF has lost the array's own pointer: of that header, as
 * behind others of its type, or of a class that it is the base of, there may be anything. */
static void pointer_look_behind(struct pointer_run *run)
{
    for (size_t i = 0; i < run->answers->count; i++) {
        struct pointer_value *value = &run->answers->items[i].value;
        for (uint32_t k = 0; k < run->behind_count; k++) {
            const struct pointer_behind *behind = &run->behind[k];
            if (value->origin != behind->origin || !pointer_same_source(&run->answers->sources, value->source, behind->outer) ||
                value->offset < behind->at)
                continue;
            *value = (struct pointer_value){.kind = POINTER_ADDRESS,
                                            .source = behind->inner,
                                            .offset = value->offset - behind->at,
                                            .modulus = lwp_stride_gcd(value->modulus, run->answers->sources.items[behind->inner].bytes)};
            break;
        }
    }
}

static struct code_pointers *pointer_answers(struct code_module *module, const struct flow_function *function)
{
    struct code_pointers *answers = lwp_zeroed(1, sizeof *answers);
    struct pointer_run run = {.module = module, .answers = answers, .function = function};
    if (function->block_count > POINTER_BLOCKS || function->range.high - function->range.low > POINTER_BYTES)
        return answers;
    run.scopes = code_scopes_at(module, function->range.low);
    if (run.scopes)
        code_seeds_of(run.scopes, &run.seeds);
    run.in = lwp_zeroed(function->block_count, sizeof *run.in);
    run.frame_index = lwp_map_new();
    if (pointer_place_seeds(&run)) {
        pointer_enter(&run);
        if (pointer_reach_fixed_point(&run)) {
            run.recording = true;
            for (uint32_t b = 0; b < function->block_count; b++)
                if (run.in[b].reached) {
                    struct pointer_state state = run.in[b];
                    pointer_block_run(&run, b, &state);
                }
            pointer_look_behind(&run);
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

void code_pointers_free(struct code_types *types)
{
    if (!types)
        return;
    for (size_t i = 0; i < types->pointers.count; i++) {
        struct code_pointers *answers = types->pointers.items[i];
        free(answers->sources.items);
        free(answers->items);
        free(answers->passed);
        free(answers);
    }
    code_kept_free(&types->pointers);
}

static const struct code_pointers *pointer_answers_at(struct code_module *module, uint64_t pc)
{
    struct code_types *types = code_types_of(module);
    const struct flow_function *function = code_flow_at(module, pc);
    bool fresh;
    if (!function)
        return NULL;
    void **kept = code_kept_at(&types->pointers, function->range.low, &fresh);
    if (!fresh) /* NULL: it is being worked out, and its callers ask for it */
        return *kept;
    struct code_pointers *answers = pointer_answers(module, function);
    return *code_kept_at(&types->pointers, function->range.low, NULL) = answers;
}

static int8_t pointer_argument(struct code_module *module, uint64_t pc, uint64_t origin)
{
    const struct flow_function *function = code_flow_at(module, pc);
    for (int a = 0; a < POINTER_ARGUMENTS && function; a++)
        if (origin == pointer_factor(POINTER_OF_CODE, function->range.low, pointer_arguments[a]) ||
            origin == pointer_factor(POINTER_OF_BLOCK, 0, pointer_arguments[a]))
            return pointer_arguments[a];
    return 0;
}

const char *code_handed_name(struct code_module *module, uint64_t pc, uint64_t callee, int8_t argument, bool *in_array)
{
    const struct flow_function *function = code_flow_at(module, callee);
    const struct code_pointers *answers = pc ? pointer_answers_at(module, pc - 1) : NULL;
    size_t count = answers ? LWP_COUNT_UP_TO(answers->passed, answers->passed_count, pc, pc - 1) : 0;
    if (!count || !function)
        return NULL;
    const uint64_t call = answers->passed[count - 1].pc;
    const struct code_instruction instruction = code_decode_at(module, call, false);
    if (instruction.flow != CODE_FLOW_CALL || call + instruction.length != pc || instruction.target != function->range.low)
        return NULL;
    for (int a = 0; a < POINTER_ARGUMENTS; a++) {
        const struct pointer_value *value = &answers->passed[count - 1].values[a];
        struct code_pointee pointee;
        if (pointer_arguments[a] == argument && value->kind == POINTER_ADDRESS &&
            code_pointer_through(module, &answers->sources.items[value->source], value->offset, value->modulus, true, &pointee) &&
            *pointee.name) {
            *in_array = value->modulus != 0;
            return pointee.name;
        }
    }
    return NULL;
}

bool code_points_to(struct code_module *module, uint64_t pc, struct code_target *target)
{
    const struct code_pointers *answers = pointer_answers_at(module, pc);
    size_t count = answers ? LWP_COUNT_UP_TO(answers->items, answers->count, pc, pc) : 0;
    if (!count || answers->items[count - 1].pc != pc)
        return false;
    const struct pointer_value *value = &answers->items[count - 1].value;
    const int8_t argument = pointer_argument(module, pc, value->origin);
    *target = (struct code_target){answers->sources.items[value->source], value->offset, value->modulus, argument};
    struct code_pointee element;
    uint64_t at;
    if (code_pointee_in_tail(module, &target->pointee, target->offset, target->modulus, &element, &at))
        *target = (struct code_target){element, (int64_t)at, element.bytes, argument};
    return true;
}
