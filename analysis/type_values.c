/* The value in a register, traced: DWARF says a variable lives there, or the instruction that set it, in the same
 * block, loaded a variable from the frame or from static data, or a member through another known pointer. Never
 * guessed: what was set before the block, or computed otherwise, has no answer here. */
#include "analysis/type_values.h"

#include "analysis/code_loops.h"
#include "analysis/decode.h"
#include "analysis/type_cache.h"
#include "analysis/type_die.h"
#include "analysis/type_variables.h"

#include <dwarf.h>

enum { VALUE_DEPTH = 4, VALUE_BLOCK_BYTES = 4096, VALUE_AHEAD = 40, VALUE_MEMBER_DEPTH = 12, VALUE_VISITS = 20000 };

bool code_variables(struct code_module *module, uint64_t pc, code_variable_visit *visit, void *context)
{
    struct code_scopes *scopes = code_scopes_at(module, pc);
    int budget = VALUE_VISITS;
    if (!scopes)
        return false;
    for (uint32_t scope = code_scope_find(scopes, pc); scope != LWP_NONE; scope = scopes->items[scope].parent) {
        Dwarf_Die child;
        for (bool more = code_die_child(&scopes->items[scope].die, &child); more && budget-- > 0;
             more = code_die_next(&child, &child)) {
            int tag = dwarf_tag(&child);
            if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
                visit(&child, &scopes->items[0].die, context))
                return true;
        }
    }
    return false;
}

struct frame_search {
    struct code_module *module;
    uint64_t pc;
    int64_t offset, start;
    uint64_t bytes;
    Dwarf_Die *variable;
};

static bool value_match_frame(Dwarf_Die *variable, Dwarf_Die *function, void *context)
{
    struct frame_search *search = context;
    struct code_location location = code_variable_location(search->module, variable, function, search->pc);
    Dwarf_Die type;
    uint64_t bytes;
    if (location.kind != CODE_LOCATION_FRAME || !type_die_of(variable, &type) || !type_die_bytes(&type, &bytes) ||
        search->offset < location.offset || (uint64_t)(search->offset - location.offset) >= bytes)
        return false;
    *search->variable = *variable;
    search->start = location.offset;
    search->bytes = bytes;
    return true;
}

bool code_frame_variable(struct code_module *module, uint64_t pc, int64_t offset, Dwarf_Die *variable, int64_t *start,
                         uint64_t *bytes)
{
    struct frame_search search = {.module = module, .pc = pc, .offset = offset, .variable = variable};
    if (!code_variables(module, pc, value_match_frame, &search))
        return false;
    *start = search.start;
    *bytes = search.bytes;
    return true;
}

/* The member or element that begins at the offset, opened as far as structs and arrays go. */
static bool value_member(struct code_module *module, Dwarf_Die type, uint64_t offset, struct code_value *value,
                         int depth)
{
    Dwarf_Die stripped = type, element, child, member;
    uint64_t start, bytes, elements;
    if (depth > VALUE_MEMBER_DEPTH || !type_die_strip(&stripped, NULL))
        return false;
    if (dwarf_tag(&stripped) == DW_TAG_array_type) {
        if (!type_die_array(&stripped, &element, &elements) || !type_die_bytes(&element, &bytes) || !bytes)
            return false;
        return value_member(module, element, offset % bytes, value, depth + 1);
    }
    if (!code_die_is_struct(&stripped)) {
        value->type = type;
        return offset == 0;
    }
    for (bool more = code_die_child(&stripped, &child); more; more = code_die_next(&child, &child)) {
        int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || type_die_flag(&child, DW_AT_external) ||
            dwarf_hasattr(&child, DW_AT_bit_size) || !type_die_of(&child, &member) ||
            !type_die_offset(&child, &start) || !type_die_bytes(&member, &bytes) || offset < start ||
            offset - start >= bytes)
            continue;
        const char *name = dwarf_diename(&child), *outer = value->name;
        if (name)
            value->name = lwp_arena_printf(module->code->arena, *outer ? "%s.%s" : "%s%s", outer, name);
        if (value_member(module, member, offset - start, value, depth + 1))
            return true;
        value->name = outer;
    }
    return false;
}

/* What is at the offset in a variable. */
static bool value_of_variable(struct code_module *module, Dwarf_Die *variable, uint64_t offset,
                              struct code_value *value)
{
    Dwarf_Die type;
    const char *name = dwarf_diename(variable);
    value->name = name ? code_intern(module->code, name) : "";
    return type_die_of(variable, &type) && value_member(module, type, offset, value, 0);
}

static bool value_through(struct code_module *module, struct code_value *pointer, int32_t offset,
                          struct code_value *value)
{
    Dwarf_Die stripped = pointer->type, target;
    if (offset < 0 || !type_die_strip(&stripped, NULL) || !type_die_is_pointer(&stripped) ||
        !type_die_of(&stripped, &target))
        return false;
    struct code_value member = {.name = ""};
    if (!value_member(module, target, (uint64_t)offset, &member, 0))
        return false;
    value->type = member.type;
    value->name = lwp_arena_printf(module->code->arena, *member.name ? "%s->%s" : "*%s%s", pointer->name, member.name);
    return true;
}

struct register_search {
    struct code_module *module;
    uint64_t pc;
    uint32_t registers; /* a bit each */
    Dwarf_Die *variable;
};

static bool value_match_register(Dwarf_Die *variable, Dwarf_Die *function, void *context)
{
    struct register_search *search = context;
    struct code_location location = code_variable_location(search->module, variable, function, search->pc);
    if (location.kind != CODE_LOCATION_REGISTER || !(search->registers >> location.reg & 1))
        return false;
    *search->variable = *variable;
    return true;
}

static bool value_named(struct code_module *module, uint64_t pc, uint32_t registers, struct code_value *value)
{
    Dwarf_Die variable, type, plain;
    struct register_search search = {module, pc, registers, &variable};
    if (!code_variables(module, pc, value_match_register, &search) || !type_die_of(&variable, &type))
        return false;
    plain = type;
    const char *name = dwarf_diename(&variable);
    value->type = type;
    value->name = name ? code_intern(module->code, name) : "";
    return type_die_strip(&plain, NULL) && type_die_is_pointer(&plain);
}

static bool value_trace(struct code_module *module, uint64_t pc, int8_t reg, struct code_value *value, int depth);

/* What the instruction at `pc` reads or writes in memory. */
static bool value_at_memory(struct code_module *module, uint64_t pc, const struct code_instruction *instruction,
                            struct code_value *value, int depth)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    Dwarf_Die variable;
    int64_t frame, start;
    uint64_t bytes;
    if (!memory->exists || memory->index >= 0)
        return false;
    if (memory->base == -2) {
        uint64_t address = pc + instruction->length + (uint64_t)(int64_t)memory->displacement;
        struct code_static found;
        return code_static_at(module, address, &found) &&
               value_of_variable(module, &found.die, address - found.start, value);
    }
    if (memory->base < 0)
        return false;
    if (code_frame_offset(module, pc, memory->base, &frame))
        return code_frame_variable(module, pc, memory->displacement - frame, &variable, &start, &bytes) &&
               value_of_variable(module, &variable, (uint64_t)(memory->displacement - frame - start), value);
    struct code_value pointer;
    return value_trace(module, pc, memory->base, &pointer, depth + 1) &&
           value_through(module, &pointer, memory->displacement, value);
}

/* The last instruction before `pc` in its block that changed the register. */
static bool value_setter(struct code_module *module, uint64_t pc, int8_t reg, uint64_t *at,
                         struct code_instruction *setter)
{
    struct code_range range;
    const char *name;
    const struct flow_function *flow;
    bool found = false;
    if (!code_function_at(module, pc, &range, &name) || !(flow = code_flow_at(module, range)))
        return false;
    uint32_t block = code_flow_block(flow, pc);
    if (block == LWP_NONE || pc - flow->blocks[block].start > VALUE_BLOCK_BYTES)
        return false;
    for (uint64_t address = flow->blocks[block].start; address < pc;) {
        size_t available;
        const uint8_t *bytes = code_bytes(module, address, &available);
        struct code_instruction instruction = code_decode(bytes, available, address, true);
        if (instruction.written >> reg & 1) {
            *setter = instruction;
            *at = address;
            found = true;
        }
        address += instruction.length ? instruction.length : 1;
    }
    return found;
}

static bool value_trace(struct code_module *module, uint64_t pc, int8_t reg, struct code_value *value, int depth)
{
    uint64_t at = 0;
    struct code_instruction setter;
    if (depth > VALUE_DEPTH || reg < 0)
        return false;
    if (value_named(module, pc, 1u << reg, value))
        return true;
    if (!value_setter(module, pc, reg, &at, &setter) || setter.destination != reg)
        return false;
    if (setter.loads)
        return value_at_memory(module, at, &setter, value, depth);
    if (setter.copies)
        return value_trace(module, at, setter.source, value, depth + 1);
    if (setter.sums) /* pointer + index: one of them is no pointer */
        return value_trace(module, at, setter.source, value, depth + 1) ||
               value_trace(module, at, setter.other, value, depth + 1);
    return false;
}

static bool value_is_pointer(struct code_value *value)
{
    Dwarf_Die plain = value->type;
    return type_die_strip(&plain, NULL) && type_die_is_pointer(&plain);
}

bool code_value_in(struct code_module *module, uint64_t pc, int8_t reg, struct code_value *value)
{
    return value_trace(module, pc, reg, value, 0) && value_is_pointer(value);
}

/* Follows the result register through copies until a variable or member receives it. */
bool code_value_of_result(struct code_module *module, uint64_t pc, struct code_value *value)
{
    uint32_t holders = 1; /* rax */
    for (int step = 0; step < VALUE_AHEAD && holders; step++) {
        size_t available;
        const uint8_t *bytes = code_bytes(module, pc, &available);
        struct code_instruction instruction = code_decode(bytes, available, pc, true);
        if (value_named(module, pc, holders, value))
            return true;
        if (instruction.stores && holders >> instruction.source & 1 &&
            value_at_memory(module, pc, &instruction, value, 0) && value_is_pointer(value))
            return true;
        if (!instruction.length || (instruction.flow != CODE_FLOW_NEXT && instruction.flow != CODE_FLOW_BRANCH))
            return false;
        bool copied =
            instruction.copies && !instruction.constant && instruction.source >= 0 && holders >> instruction.source & 1;
        holders &= ~instruction.written;
        if (copied)
            holders |= 1u << instruction.destination;
        pc += instruction.length;
    }
    return false;
}
