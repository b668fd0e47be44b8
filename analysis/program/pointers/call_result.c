/* What becomes of a call's result: followed through copies, spills and branches until a variable or member with a type
 * receives it, a method is called on it, or it is returned. What is computed otherwise has no answer here. */
#include "analysis/program/flow/decode.h"
#include "analysis/program/pointers/pointers.h"
#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_variables.h"

#include <dwarf.h>
#include <string.h>

enum { VALUE_AHEAD = 160, VALUE_WAYS = 12, VALUE_SLOTS = 8 };

struct register_search {
    struct code_module *module;
    uint64_t pc;
    uint32_t registers;
    struct code_pointee *best;
    bool found;
};

/* Of several pointers in the register the one to the most: an object rather than its base class. */
static bool value_match_register(Dwarf_Die *variable, Dwarf_Die *function, void *context)
{
    struct register_search *search = context;
    struct code_location location = code_variable_location(search->module, variable, function, search->pc);
    struct code_pointee one;
    if (location.kind != CODE_LOCATION_REGISTER || location.offset || !(search->registers >> location.reg & 1) ||
        !code_variable_pointer(search->module, variable, 0, &one) || one.descriptor ||
        (search->found && one.bytes <= search->best->bytes))
        return false;
    *search->best = one;
    search->found = true;
    return false;
}

static bool value_named(struct code_module *module, uint64_t pc, uint32_t registers, struct code_pointee *pointee)
{
    struct register_search search = {.module = module, .pc = pc, .registers = registers, .best = pointee};
    code_variables(module, pc, value_match_register, &search);
    return search.found;
}

/* What the member or variable points to that the instruction stores into. */
static bool value_stored(struct code_module *module, uint64_t pc, struct code_pointee *pointee)
{
    struct code_target target;
    return code_points_to(module, pc, &target) &&
           code_pointer_through(module, &target.pointee, target.offset, target.modulus, pointee) &&
           !pointee->descriptor;
}

/* `this` of a method that is called. */
static bool value_of_this(struct code_module *module, uint64_t target, struct code_pointee *pointee)
{
    struct code_scopes *callee = target ? code_scopes_at(module, target) : NULL;
    Dwarf_Die type;
    pointee->name = "";
    if (!callee)
        return false;
    for (Dwarf_Die child = code_die_first(&callee->items[0].die); child.addr; child = code_die_after(&child))
        if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
            const char *name = dwarf_diename(&child);
            return name && !strcmp(name, "this") && type_die_of(&child, &type) && code_pointee_of(type, pointee);
        }
    return false;
}

/* Who holds the result: registers, and slots of the frame by their offset from the CFA. */
struct value_way {
    uint64_t pc;
    uint32_t registers;
    int64_t slots[VALUE_SLOTS];
    uint32_t slot_count;
};

static bool value_slot(const struct value_way *way, int64_t at)
{
    for (uint32_t i = 0; i < way->slot_count; i++)
        if (way->slots[i] == at)
            return true;
    return false;
}

static bool value_frame(struct code_module *module, uint64_t pc, const struct lwp_memory_operand *memory, int64_t *at)
{
    int64_t cfa;
    if (!memory->exists || (memory->base != CODE_RSP && memory->base != CODE_RBP) || memory->index >= 0 ||
        !code_frame_offset(module, pc, memory->base, &cfa))
        return false;
    *at = memory->displacement - cfa;
    return true;
}

/* Follows one instruction: true when it tells what the result is. */
static bool value_follow(struct code_module *module, struct value_way *way, const struct code_instruction *instruction,
                         struct code_pointee *pointee)
{
    uint32_t holders = way->registers;
    int64_t at = 0;
    bool framed = value_frame(module, way->pc, &instruction->memory, &at);
    if (instruction->stores && holders >> instruction->source & 1) {
        if (framed) {
            if (code_frame_pointer(module, way->pc + instruction->length, at, pointee))
                return true;
            if (way->slot_count < VALUE_SLOTS)
                way->slots[way->slot_count++] = at;
        } else if (value_stored(module, way->pc, pointee)) {
            return true;
        }
    }
    if (instruction->flow == CODE_FLOW_CALL && holders >> CODE_RDI & 1 &&
        value_of_this(module, instruction->target, pointee))
        return true;
    const struct code_linear *linear = &instruction->linear;
    int8_t copied = linear->plus ? -1 : code_copied_register(linear);
    bool reloaded = instruction->loads && framed && value_slot(way, at);
    way->registers &= ~instruction->written;
    if (copied >= 0 && holders >> copied & 1)
        way->registers |= 1u << linear->to;
    if (reloaded)
        way->registers |= 1u << instruction->destination;
    return false;
}

enum code_result code_result_of_call(struct code_module *module, uint64_t pc, struct code_pointee *pointee)
{
    struct value_way ways[VALUE_WAYS] = {{.pc = pc, .registers = 1u << CODE_RAX}};
    int count = 1;
    enum code_result result = CODE_RESULT_LOST;
    for (int step = 0; step < VALUE_AHEAD && count;) {
        struct value_way way = ways[--count];
        for (; step < VALUE_AHEAD && (way.registers || way.slot_count); step++) {
            struct code_instruction instruction = code_decode_at(module, way.pc, true);
            if (way.registers && value_named(module, way.pc, way.registers, pointee))
                return CODE_RESULT_KNOWN;
            if (!instruction.length || value_follow(module, &way, &instruction, pointee)) {
                if (instruction.length)
                    return CODE_RESULT_KNOWN;
                break;
            }
            if (instruction.flow == CODE_FLOW_END && way.registers >> CODE_RAX & 1) {
                struct code_scopes *function = code_scopes_at(module, way.pc);
                if (function && code_returned_pointer(function, pointee))
                    return CODE_RESULT_KNOWN;
                result = CODE_RESULT_RETURNED;
            }
            if (instruction.flow == CODE_FLOW_END || instruction.flow == CODE_FLOW_INDIRECT)
                break;
            if (instruction.flow == CODE_FLOW_BRANCH && count < VALUE_WAYS) {
                ways[count] = way;
                ways[count++].pc = instruction.target;
            }
            way.pc = instruction.flow == CODE_FLOW_JUMP ? instruction.target : way.pc + instruction.length;
        }
    }
    return result;
}
