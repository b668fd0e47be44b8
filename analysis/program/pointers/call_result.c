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
    struct code_variable_scope scope;
    bool found;
};

/* Whether it points to more than what was found so far: to an object rather than to its base class, or to one that ends in as many
 * elements as were asked for rather than to the head of it. */
static bool value_is_more(const struct register_search *search, const struct code_pointee *one)
{
    const struct code_pointee *best = search->best;
    return !search->found || one->bytes > best->bytes || (one->bytes == best->bytes && code_type_holds(one->type, 0, best->type));
}

static bool value_match_register(Dwarf_Die *variable, Dwarf_Die *function, void *context)
{
    struct register_search *search = context;
    struct code_location location = code_variable_location(search->module, variable, function, search->pc);
    struct code_pointee one;
    if (location.kind != CODE_LOCATION_REGISTER || location.offset || !(search->registers >> location.reg & 1) ||
        !code_variable_pointer(search->module, variable, 0, &one) || one.descriptor || !value_is_more(search, &one))
        return false;
    if (search->scope.library)
        one.name = "";
    *search->best = one;
    search->found = true;
    return false;
}

static bool value_named(struct code_module *module, uint64_t pc, uint32_t registers, struct code_pointee *pointee)
{
    struct register_search search = {.module = module, .pc = pc, .registers = registers, .best = pointee};
    code_variables_scoped(module, pc, value_match_register, &search, &search.scope);
    return search.found;
}

/* What the member or variable points to that the instruction stores into. */
static bool value_stored(struct code_module *module, uint64_t pc, bool untyped, struct code_pointee *pointee)
{
    struct code_target target;
    return code_points_to(module, pc, &target) &&
           code_pointer_through(module, &target.pointee, target.offset, target.modulus, untyped, pointee) && !pointee->descriptor;
}

/* `this` of a method, also of an inlined one, whose parameters may be in any order. */
static bool value_of_this_in(Dwarf_Die *method, struct code_pointee *pointee)
{
    Dwarf_Die type;
    pointee->name = "";
    for (Dwarf_Die child = code_die_first(method); child.addr; child = code_die_after(&child)) {
        const char *name = dwarf_tag(&child) == DW_TAG_formal_parameter ? dwarf_diename(&child) : NULL;
        if (name && !strcmp(name, "this"))
            return type_die_of(&child, &type) && code_pointee_of(type, pointee);
    }
    return false;
}

/* ... that is called. */
static bool value_of_this(struct code_module *module, uint64_t target, struct code_pointee *pointee)
{
    struct code_scopes *callee = target ? code_scopes_at(module, target) : NULL;
    return callee && value_of_this_in(&callee->items[0].die, pointee);
}

/* Whether a class has the name of its constructor, which lacks the arguments of templates. */
static bool value_is_named(Dwarf_Die type, const char *constructor)
{
    const char *name = type_die_strip(&type, NULL) ? dwarf_diename(&type) : NULL;
    const size_t length = strlen(constructor);
    return name && !strncmp(name, constructor, length) && (!name[length] || name[length] == '<');
}

/* Who holds the result: registers, and slots of the frame by their offset from the CFA; and how far on from the result each points. */
struct value_way {
    uint64_t pc;
    uint32_t registers;
    uint32_t slot_count;
    int64_t moved_by[CODE_REGISTERS];
    struct value_slot {
        int64_t at, moved_by;
    } slots[VALUE_SLOTS];
    bool moved; /* what is a constant off counts, too: an allocator's header is before it */
};

static const struct value_slot *value_slot(const struct value_way *way, int64_t at)
{
    for (uint32_t i = 0; i < way->slot_count; i++)
        if (way->slots[i].at == at)
            return &way->slots[i];
    return NULL;
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

/* Whether the instruction tells what the result is, and then, who keeps it. `untyped`: a pointer to void keeps it as well. */
enum value_told { VALUE_NOT_TOLD, VALUE_IN_FRAME, VALUE_KEPT, VALUE_OF_THIS };

static enum value_told value_tells(struct code_module *module, const struct value_way *way, const struct code_instruction *instruction,
                                   bool untyped, struct code_pointee *pointee)
{
    uint32_t holders = way->registers;
    int64_t at = 0;
    if (instruction->stores && holders >> instruction->source & 1) {
        if (value_frame(module, way->pc, &instruction->memory, &at)) {
            if (code_frame_pointer(module, way->pc + instruction->length, at, pointee))
                return VALUE_IN_FRAME;
        } else if (value_stored(module, way->pc, untyped, pointee)) {
            return VALUE_KEPT;
        }
    }
    if (instruction->flow == CODE_FLOW_CALL && holders >> CODE_RDI & 1 && value_of_this(module, instruction->target, pointee))
        return VALUE_OF_THIS;
    return VALUE_NOT_TOLD;
}

/* Whether what is called returns its first argument: compilers go on with the result then. */
static bool value_comes_back(struct code_module *module, const struct code_instruction *call)
{
    static const char names[] = "memset memcpy memmove strcpy strncpy strcat strncat wmemset wmemcpy wmemmove __memset_chk __memcpy_chk "
                                "__memmove_chk __strcpy_chk __strncpy_chk __strcat_chk";
    struct code_range range;
    const char *name = call->call_slot ? code_import_at_slot(module, call->call_slot) : NULL;
    if (!name && call->target && !(name = code_import_at_stub(module, call->target)))
        code_function_at(module, call->target, &range, &name);
    return name && code_is_one_of(name, names);
}

static void value_hold(struct value_way *way, int8_t to, int64_t moved_by)
{
    way->registers |= 1u << to;
    way->moved_by[to] = moved_by;
}

/* Who holds the result after the instruction. */
static void value_follow(struct code_module *module, struct value_way *way, const struct code_instruction *instruction)
{
    uint32_t holders = way->registers;
    int64_t at = 0;
    bool framed = value_frame(module, way->pc, &instruction->memory, &at);
    bool held = instruction->stores && holders >> instruction->source & 1;
    bool pushes = instruction->flow == CODE_FLOW_CALL || instruction->written >> CODE_RSP & 1;
    if (framed && instruction->memory.store && !held && !pushes) /* something else is there now */
        for (uint32_t i = 0; i < way->slot_count; i++)
            if (way->slots[i].at == at)
                way->slots[i] = way->slots[--way->slot_count];
    if (held && framed && !value_slot(way, at) && way->slot_count < VALUE_SLOTS)
        way->slots[way->slot_count++] = (struct value_slot){at, way->moved_by[instruction->source]};
    const struct code_linear *linear = &instruction->linear;
    int8_t copied = linear->plus && !way->moved ? -1 : code_copied_register(linear);
    const struct value_slot *reloaded = instruction->loads && framed ? value_slot(way, at) : NULL;
    bool back = (instruction->flow == CODE_FLOW_CALL || instruction->flow == CODE_FLOW_JUMP) && holders >> CODE_RDI & 1 &&
                value_comes_back(module, instruction);
    way->registers &= ~instruction->written;
    if (back)
        value_hold(way, CODE_RAX, way->moved_by[CODE_RDI]);
    if (copied >= 0 && holders >> copied & 1)
        value_hold(way, linear->to, way->moved_by[copied] + linear->plus);
    if (reloaded)
        value_hold(way, instruction->destination, reloaded->moved_by);
}

/* To the next instruction; the other way of a branch becomes one of `ways`. False: the path is not known further. */
static bool value_next(struct value_way *way, const struct code_instruction *instruction, struct value_way *ways, int *count)
{
    if (instruction->flow == CODE_FLOW_END || instruction->flow == CODE_FLOW_INDIRECT)
        return false;
    if (instruction->flow == CODE_FLOW_BRANCH && *count < VALUE_WAYS) {
        ways[*count] = *way;
        ways[(*count)++].pc = instruction->target;
    }
    way->pc = instruction->flow == CODE_FLOW_JUMP ? instruction->target : way->pc + instruction->length;
    return true;
}

static enum code_result value_result(struct code_module *module, uint64_t pc, struct code_pointee *pointee)
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
            if (!instruction.length)
                break;
            if (value_tells(module, &way, &instruction, false, pointee))
                return CODE_RESULT_KNOWN;
            value_follow(module, &way, &instruction);
            if (instruction.flow == CODE_FLOW_END && way.registers >> CODE_RAX & 1) {
                struct code_scopes *function = code_scopes_at(module, way.pc);
                if (function && code_returned_pointer(function, pointee))
                    return CODE_RESULT_KNOWN;
                result = CODE_RESULT_RETURNED;
            }
            if (!value_next(&way, &instruction, ways, &count))
                break;
        }
    }
    return result;
}

/* The class whose constructor is inlined there: of those that are in each other the outermost one's. Its `this` may be in no register. */
static bool value_constructor(struct code_module *module, uint64_t pc, struct code_pointee *made)
{
    struct code_scopes *scopes = code_scopes_at(module, pc);
    bool found = false;
    for (uint32_t scope = scopes ? scopes->items[code_scope_find(scopes, pc)].function : 0; scope && scope != LWP_NONE;
         scope = scopes->items[scopes->items[scope].parent].function) {
        struct code_pointee one;
        const char *function = dwarf_diename(&scopes->items[scope].die);
        if (!function || !value_of_this_in(&scopes->items[scope].die, &one) || !value_is_named(one.type, function))
            break;
        *made = one;
        found = true;
    }
    return found;
}

/* A pointer to a base class, as what makes objects of several classes returns, leads to what is constructed there. */
static void value_derive(struct code_module *module, uint64_t pc, struct code_pointee *pointee)
{
    struct value_way ways[VALUE_WAYS] = {{.pc = pc, .registers = 1u << CODE_RAX}};
    Dwarf_Die base = pointee->type;
    int count = 1;
    if (!type_die_strip(&base, NULL) || !code_die_is_struct(&base) || code_die_is_c(&base))
        return;
    for (int step = 0; step < VALUE_AHEAD && count;) {
        struct value_way way = ways[--count];
        for (; step < VALUE_AHEAD && (way.registers || way.slot_count); step++) {
            struct code_instruction instruction = code_decode_at(module, way.pc, true);
            const struct lwp_memory_operand *into = &instruction.memory;
            struct code_pointee made;
            bool filled = into->exists && into->store && into->base >= 0 && way.registers >> into->base & 1;
            bool handed = instruction.flow == CODE_FLOW_CALL && way.registers >> CODE_RDI & 1;
            if (!instruction.length)
                break;
            bool known = ((filled || handed) && value_constructor(module, way.pc, &made)) ||
                         (handed && value_of_this(module, instruction.target, &made));
            if (known && made.bytes > pointee->bytes && code_type_holds(made.type, 0, base)) {
                made.name = pointee->name;
                *pointee = made;
                return;
            }
            value_follow(module, &way, &instruction);
            if (!value_next(&way, &instruction, ways, &count))
                break;
        }
    }
}

enum code_result code_result_of_call(struct code_module *module, uint64_t pc, struct code_pointee *pointee)
{
    enum code_result result = value_result(module, pc, pointee);
    if (result == CODE_RESULT_KNOWN)
        value_derive(module, pc, pointee);
    return result;
}

/* Of the variables that hold the result, in inlined functions and in the function itself, the outermost one's. */
struct holder_search {
    struct code_module *module;
    const struct value_way *way;
    struct code_variable_scope scope;
    uint32_t best;
    const char *name;
    struct code_holder any; /* the same as is found, but kept in a pointer to void as well */
};

static bool holder_match(Dwarf_Die *variable, Dwarf_Die *function, void *context)
{
    struct holder_search *search = context;
    const struct value_way *way = search->way;
    struct code_pointee one;
    if (search->scope.inlined >= search->best || search->scope.library)
        return false;
    struct code_location location = code_variable_location(search->module, variable, function, way->pc);
    bool held = (location.kind == CODE_LOCATION_REGISTER && !location.offset && way->registers >> location.reg & 1) ||
                (location.kind == CODE_LOCATION_FRAME && value_slot(way, location.offset));
    if (held && code_variable_pointer(search->module, variable, 0, &one) && !one.descriptor && *one.name) {
        search->best = search->scope.inlined;
        search->name = one.name;
    }
    return false;
}

static void holder_keep(const struct value_way *way, const struct code_instruction *instruction, const char *name,
                        struct code_holder *holder)
{
    if (holder->kept)
        return;
    holder->kept = name;
    holder->kept_at = way->moved_by[instruction->source];
    holder->kept_in_array = instruction->memory.index >= 0;
}

static void holder_of_instruction(const struct value_way *way, const struct code_instruction *instruction, struct holder_search *search,
                                  struct code_holder *holder)
{
    struct code_pointee pointee;
    search->way = way;
    if (search->best)
        code_variables_scoped(search->module, way->pc, holder_match, search, &search->scope);
    const struct lwp_memory_operand *into = &instruction->memory;
    bool itself = into->base >= 0 && way->registers >> into->base & 1; /* a pointer in the block to another place of it */
    const bool kept = !itself && value_tells(search->module, way, instruction, true, &pointee) == VALUE_KEPT;
    struct code_target target;
    if (kept && !*pointee.name && !holder->handed && !way->moved_by[instruction->source] &&
        code_points_to(search->module, way->pc, &target) && !target.offset && !target.modulus)
        holder->handed = target.argument;
    if (!holder->kept && kept && *pointee.name) {
        holder_keep(way, instruction, pointee.name, &search->any);
        if (!pointee.untyped)
            holder_keep(way, instruction, pointee.name, holder);
    }
    if (instruction->flow == CODE_FLOW_END && way->registers >> CODE_RAX & 1 && !holder->returned) {
        holder->returned = true;
        holder->returned_at = way->moved_by[CODE_RAX];
    }
}

void code_holder_of_call(struct code_module *module, uint64_t pc, struct code_holder *holder)
{
    struct value_way ways[VALUE_WAYS] = {{.pc = pc, .registers = 1u << CODE_RAX, .moved = true}};
    struct holder_search search = {.module = module, .best = UINT32_MAX};
    int count = 1;
    *holder = (struct code_holder){.returned = false};
    for (int step = 0; step < VALUE_AHEAD && count;) {
        struct value_way way = ways[--count];
        for (; step < VALUE_AHEAD && (way.registers || way.slot_count); step++) {
            struct code_instruction instruction = code_decode_at(module, way.pc, true);
            if (!instruction.length)
                break;
            holder_of_instruction(&way, &instruction, &search, holder);
            value_follow(module, &way, &instruction);
            if (!value_next(&way, &instruction, ways, &count))
                break;
        }
    }
    holder->variable = search.name;
    if (!holder->returned && search.any.kept) { /* else a pointer to void is an allocator's own */
        search.any.variable = search.name;
        *holder = search.any;
    }
}
