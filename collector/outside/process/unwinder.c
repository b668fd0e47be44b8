/* By the unwind tables (CFI, DWARF 5 section 6.4) of the modules' files, read by libdw. What a table says of an instruction is kept,
 * so that a frame costs one lookup. Code without tables (JIT, Go without debug information) is taken to have frame pointers. */
#include "collector/outside/process/unwinder.h"

#include "base/arena.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REGISTERS = 17, RBP = 6, RSP = 7, RETURN = 16, RULES_MAX = 1 << 18, OPERATIONS_MAX = 16 };

enum saved { SAVED_SAME, SAVED_AT, SAVED_ABOVE, SAVED_UNKNOWN };

/* What the table says of one instruction. */
struct unwind_rule {
    bool known, outermost, signal;
    bool by_pointer;            /* there is no table */
    const Dwarf_Op *expression; /* of the CFA; NULL: cfa_register + cfa_offset */
    uint8_t expression_count, cfa_register;
    int64_t cfa_offset;
    struct {
        uint8_t saved;  /* enum saved */
        int32_t offset; /* from the CFA; SAVED_ABOVE: from the stack pointer, as in the code that returns from a signal */
    } registers[REGISTERS];
};

struct unwind_tables {
    size_t module; /* index */
    int fd;
    Elf *elf;
    Dwarf *dwarf;
    Dwarf_CFI *frames, *debug_frames;
};

struct lwp_unwinder {
    struct lwp_remote *remote;
    struct lwp_map rule_index;
    struct unwind_rule *rules;
    size_t rule_count, rule_room;
    struct unwind_tables *tables;
    size_t table_count, table_room;
};

struct unwind_state {
    uint64_t value[REGISTERS]; /* by DWARF's numbers */
    uint32_t known;
};

struct lwp_unwinder *lwp_unwinder_new(struct lwp_remote *remote)
{
    struct lwp_unwinder *unwinder = lwp_zeroed(1, sizeof *unwinder);
    unwinder->remote = remote;
    return unwinder;
}

void lwp_unwinder_forget(struct lwp_unwinder *unwinder)
{
    for (size_t i = 0; i < unwinder->table_count; i++) {
        struct unwind_tables *tables = &unwinder->tables[i];
        if (tables->frames)
            dwarf_cfi_end(tables->frames);
        dwarf_end(tables->dwarf);
        elf_end(tables->elf);
        if (tables->fd >= 0)
            close(tables->fd);
    }
    unwinder->table_count = 0;
    lwp_map_clear(&unwinder->rule_index);
    unwinder->rule_count = 0;
}

void lwp_unwinder_free(struct lwp_unwinder *unwinder)
{
    if (!unwinder)
        return;
    lwp_unwinder_forget(unwinder);
    free(unwinder->tables);
    free(unwinder->rules);
    lwp_map_fini(&unwinder->rule_index);
    free(unwinder);
}

/* ---- tables ---- */

static const struct unwind_tables *tables_of(struct lwp_unwinder *unwinder, const struct lwp_remote_module *module)
{
    size_t index = (size_t)(module - unwinder->remote->modules);
    for (size_t i = 0; i < unwinder->table_count; i++)
        if (unwinder->tables[i].module == index)
            return &unwinder->tables[i];
    struct unwind_tables tables = {.module = index, .fd = module->elf ? lwp_remote_open(unwinder->remote, module->path) : -1};
    elf_version(EV_CURRENT);
    if (tables.fd >= 0)
        tables.elf = elf_begin(tables.fd, ELF_C_READ, NULL);
    if (tables.elf)
        tables.frames = dwarf_getcfi_elf(tables.elf);
    if (tables.elf && !module->image.unwind_table)
        tables.dwarf = dwarf_begin_elf(tables.elf, DWARF_C_READ, NULL);
    if (tables.dwarf)
        tables.debug_frames = dwarf_getcfi(tables.dwarf);
    LWP_GROW(&unwinder->tables, unwinder->table_count, &unwinder->table_room);
    unwinder->tables[unwinder->table_count] = tables;
    return &unwinder->tables[unwinder->table_count++];
}

static void rule_of_register(Dwarf_Frame *frame, int number, struct unwind_rule *rule)
{
    Dwarf_Op memory[3], *operations;
    size_t count;
    rule->registers[number].saved = SAVED_UNKNOWN;
    if (dwarf_frame_register(frame, number, memory, &operations, &count))
        return;
    if (count == 0) {
        rule->outermost |= number == RETURN && operations == memory; /* undefined */
        rule->registers[number].saved = operations == NULL ? SAVED_SAME : SAVED_UNKNOWN;
    } else if (operations[0].atom == DW_OP_call_frame_cfa && (count == 1 || (count == 2 && operations[1].atom == DW_OP_plus_uconst))) {
        rule->registers[number].saved = SAVED_AT;
        rule->registers[number].offset = count == 2 ? (int32_t)(int64_t)operations[1].number : 0;
    } else if (count == 2 && operations[0].atom == DW_OP_call_frame_cfa && operations[1].atom == DW_OP_breg0 + RSP) {
        rule->registers[number].saved = SAVED_ABOVE;
        rule->registers[number].offset = (int32_t)(int64_t)operations[1].number;
    }
}

static void rule_from_frame(Dwarf_Frame *frame, struct unwind_rule *rule)
{
    Dwarf_Op *operations;
    size_t count;
    Dwarf_Addr start, end;
    rule->known = dwarf_frame_cfa(frame, &operations, &count) == 0 && count > 0 && count <= OPERATIONS_MAX;
    if (!rule->known)
        return;
    dwarf_frame_info(frame, &start, &end, &rule->signal);
    if (count == 1 && operations[0].atom >= DW_OP_breg0 && operations[0].atom <= DW_OP_breg31) {
        rule->cfa_register = (uint8_t)(operations[0].atom - DW_OP_breg0);
        rule->cfa_offset = (int64_t)operations[0].number;
    } else if (count == 1 && operations[0].atom == DW_OP_bregx) {
        rule->cfa_register = (uint8_t)operations[0].number;
        rule->cfa_offset = (int64_t)operations[0].number2;
    } else {
        rule->expression = operations;
        rule->expression_count = (uint8_t)count;
    }
    for (int i = 0; i < REGISTERS; i++)
        rule_of_register(frame, i, rule);
    rule->registers[RSP].saved = SAVED_UNKNOWN; /* it is the CFA */
}

static const struct unwind_rule *rule_at(struct lwp_unwinder *unwinder, uint64_t ip)
{
    uint32_t at = lwp_map_get(&unwinder->rule_index, ip);
    if (at != LWP_MAP_NONE)
        return &unwinder->rules[at];
    if (unwinder->rule_count >= RULES_MAX) {
        lwp_map_clear(&unwinder->rule_index);
        unwinder->rule_count = 0;
    }
    struct unwind_rule rule = {0};
    const struct lwp_remote_module *module = lwp_remote_module_at(unwinder->remote, ip);
    const struct unwind_tables *tables = module ? tables_of(unwinder, module) : NULL;
    Dwarf_Frame *frame = NULL;
    Dwarf_CFI *cfi = tables && tables->frames ? tables->frames : tables ? tables->debug_frames : NULL;
    rule.by_pointer = !cfi;
    if (cfi && dwarf_cfi_addrframe(cfi, ip - module->image.bias, &frame) == 0)
        rule_from_frame(frame, &rule);
    free(frame);
    LWP_GROW(&unwinder->rules, unwinder->rule_count, &unwinder->rule_room);
    unwinder->rules[unwinder->rule_count] = rule;
    *lwp_map_at(&unwinder->rule_index, ip) = (uint32_t)unwinder->rule_count;
    return &unwinder->rules[unwinder->rule_count++];
}

/* ---- frames ---- */

static bool frame_memory(const struct lwp_unwinder *unwinder, uint64_t address, uint64_t *value)
{
    return lwp_remote_stack(unwinder->remote, address, value, sizeof *value);
}

/* The operations that compilers and linkers use for a CFA. */
static bool frame_evaluate(const struct lwp_unwinder *unwinder, const struct unwind_rule *rule, const struct unwind_state *state,
                           uint64_t *result)
{
    uint64_t stack[OPERATIONS_MAX + 1];
    unsigned depth = 0;
    for (unsigned i = 0; i < rule->expression_count; i++) {
        const Dwarf_Op *operation = &rule->expression[i];
        uint8_t atom = operation->atom;
        if (atom >= DW_OP_breg0 && atom < DW_OP_breg0 + REGISTERS) {
            unsigned number = atom - DW_OP_breg0;
            if (!(state->known >> number & 1))
                return false;
            stack[depth++] = state->value[number] + operation->number;
        } else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
            stack[depth++] = atom - DW_OP_lit0;
        } else if (atom == DW_OP_deref && depth >= 1) {
            if (!frame_memory(unwinder, stack[depth - 1], &stack[depth - 1]))
                return false;
        } else if (atom == DW_OP_plus_uconst && depth >= 1) {
            stack[depth - 1] += operation->number;
        } else if (depth >= 2 && (atom == DW_OP_plus || atom == DW_OP_and || atom == DW_OP_shl || atom == DW_OP_ge)) {
            uint64_t b = stack[--depth], a = stack[depth - 1];
            stack[depth - 1] = atom == DW_OP_plus  ? a + b
                               : atom == DW_OP_and ? a & b
                               : atom == DW_OP_shl ? a << (b & 63)
                                                   : (int64_t)a >= (int64_t)b;
        } else {
            return false;
        }
    }
    *result = stack[depth ? depth - 1 : 0];
    return depth == 1;
}

/* A function that keeps its caller's frame pointer where its own points. */
static bool frame_by_pointer(const struct lwp_unwinder *unwinder, struct unwind_state *state, uint64_t *cfa)
{
    uint64_t pointer = state->value[RBP], saved, back;
    if (!(state->known >> RBP & 1) || pointer < state->value[RSP] || pointer % 8 || !frame_memory(unwinder, pointer, &saved) ||
        !frame_memory(unwinder, pointer + 8, &back))
        return false;
    *cfa = pointer + 16;
    state->value[RBP] = saved;
    state->value[RSP] = *cfa;
    state->value[RETURN] = back;
    state->known = 1u << RBP | 1u << RSP | 1u << RETURN;
    return true;
}

static bool frame_step(struct lwp_unwinder *unwinder, const struct unwind_rule *rule, struct unwind_state *state, uint64_t *cfa)
{
    if (rule->by_pointer)
        return frame_by_pointer(unwinder, state, cfa);
    if (!rule->known)
        return false;
    if (rule->expression) {
        if (!frame_evaluate(unwinder, rule, state, cfa))
            return false;
    } else {
        if (rule->cfa_register >= REGISTERS || !(state->known >> rule->cfa_register & 1))
            return false;
        *cfa = state->value[rule->cfa_register] + (uint64_t)rule->cfa_offset;
    }
    struct unwind_state caller = {.known = 0};
    for (unsigned i = 0; i < REGISTERS; i++) {
        bool known = rule->registers[i].saved == SAVED_SAME && i != RETURN && state->known >> i & 1;
        caller.value[i] = state->value[i];
        if (rule->registers[i].saved == SAVED_AT)
            known = frame_memory(unwinder, *cfa + (uint64_t)(int64_t)rule->registers[i].offset, &caller.value[i]);
        if (rule->registers[i].saved == SAVED_ABOVE && state->known >> RSP & 1)
            known = frame_memory(unwinder, state->value[RSP] + (uint64_t)(int64_t)rule->registers[i].offset, &caller.value[i]);
        caller.known |= (uint32_t)known << i;
    }
    caller.value[RSP] = *cfa;
    caller.known |= 1u << RSP;
    *state = caller;
    return true;
}

void lwp_unwinder_frames(struct lwp_unwinder *unwinder, uint64_t ip, const struct lwp_registers *registers,
                         struct lwp_remote_frames *frames)
{
    static const uint8_t number_of[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}; /* of rax, rcx, rdx, ... */
    struct unwind_state state = {.known = 1u << RETURN};
    for (unsigned i = 0; i < 16; i++) {
        state.value[number_of[i]] = registers->value[i];
        state.known |= (uint32_t)(registers->known >> i & 1) << number_of[i];
    }
    state.value[RETURN] = ip;
    frames->sp = state.value[RSP];
    frames->ips[0] = ip;
    frames->count = 0;
    bool exact = true; /* else a return address: the call is before it */
    while (frames->count < LWP_REMOTE_FRAMES) {
        const struct unwind_rule *rule = rule_at(unwinder, ip - !exact);
        uint64_t sp = state.value[RSP], cfa;
        if (rule->signal)
            frames->ips[frames->count] = ip; /* no call returns there: its handler does */
        exact = rule->signal;
        if (rule->outermost || !frame_step(unwinder, rule, &state, &cfa) || (cfa <= sp && !rule->signal))
            break;
        ip = state.value[RETURN];
        if (!(state.known >> RETURN & 1) || !ip || !lwp_remote_is_code(unwinder->remote, ip - 1))
            break;
        frames->cfas[frames->count++] = cfa;
        frames->ips[frames->count] = ip - !exact;
    }
}
