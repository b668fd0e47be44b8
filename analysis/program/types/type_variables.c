/* Variables by scope and by address, and their locations: the simple forms that compilers use for a pointer, a local
 * and a static variable. Pieces, entry values and computed ones are unknown. Registers are numbered as in instructions
 * (rax 0 … r15 15), not as in DWARF. */
#include "analysis/program/types/type_variables.h"

#include "analysis/program/types/type_die.h"
#include "base/order.h"

#include <dwarf.h>
#include <stdlib.h>

enum { STATIC_DIE_LIMIT = 20 * 1000 * 1000, STATIC_DEPTH = 64, SCOPE_CHILDREN = 200000, SCOPE_VISITS = 20000 };
#define TYPE_STATIC_LIMIT     ((uint64_t)1 << 40)
#define VARIABLE_OFFSET_LIMIT ((int64_t)1 << 40)
static const uint64_t function_visits = 1 << 22; /* what a compiler writes takes far fewer */

static int8_t variable_register(uint64_t dwarf_number)
{
    static const int8_t numbers[16] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
    return dwarf_number < 16 ? numbers[dwarf_number] : -1;
}

bool code_register_op(const Dwarf_Op *op, bool based, int8_t *reg, int64_t *offset)
{
    uint64_t number;
    *offset = 0;
    if (!based && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
        number = op->atom - DW_OP_reg0;
    } else if (!based && op->atom == DW_OP_regx) {
        number = op->number;
    } else if (based && op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        number = op->atom - DW_OP_breg0;
        *offset = (int64_t)op->number;
    } else if (based && op->atom == DW_OP_bregx) {
        number = op->number;
        *offset = (int64_t)op->number2;
    } else {
        return false;
    }
    *reg = variable_register(number);
    return *reg >= 0 && *offset > -VARIABLE_OFFSET_LIMIT && *offset < VARIABLE_OFFSET_LIMIT;
}

bool code_frame_offset(struct code_module *module, uint64_t pc, int8_t reg, int64_t *offset)
{
    struct code_types *types = code_types_of(module);
    if (!types->cfi_read) {
        types->cfi_read = true;
        types->cfi = dwarf_getcfi_elf(module->elf);
    }
    Dwarf_Frame *frame = NULL;
    if (!types->cfi || dwarf_cfi_addrframe(types->cfi, pc, &frame))
        return false;
    Dwarf_Op *ops;
    size_t count;
    int8_t found;
    bool ok = dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 && code_register_op(ops, true, &found, offset) && found == reg;
    free(frame);
    return ok;
}

static struct code_location variable_in_frame(struct code_module *module, int8_t reg, int64_t offset, uint64_t pc)
{
    int64_t cfa;
    struct code_location location = {.kind = CODE_LOCATION_UNKNOWN};
    if (code_frame_offset(module, pc, reg, &cfa)) {
        location.kind = CODE_LOCATION_FRAME;
        location.offset = offset - cfa;
    }
    return location;
}

/* DW_OP_fbreg: from the function's frame base, which is the CFA (gcc) or a register (clang). */
static struct code_location variable_fbreg(struct code_module *module, Dwarf_Die *function, int64_t offset, uint64_t pc)
{
    struct code_location location = {.kind = CODE_LOCATION_UNKNOWN};
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    int8_t reg;
    int64_t more;
    if (offset <= -VARIABLE_OFFSET_LIMIT || offset >= VARIABLE_OFFSET_LIMIT ||
        !dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) || dwarf_getlocation_addr(&attribute, pc, &ops, &count, 1) != 1 ||
        count != 1)
        return location;
    if (ops[0].atom == DW_OP_call_frame_cfa)
        return (struct code_location){.kind = CODE_LOCATION_FRAME, .offset = offset};
    if (code_register_op(&ops[0], false, &reg, &more) || code_register_op(&ops[0], true, &reg, &more))
        return variable_in_frame(module, reg, offset + more, pc);
    return location;
}

/* Where a thread-local variable is, behind which the operation for that comes. */
static bool variable_thread_local(const Dwarf_Op *ops, size_t count, uint64_t *address)
{
    if (count < 2 || (ops[1].atom != DW_OP_GNU_push_tls_address && ops[1].atom != DW_OP_form_tls_address) ||
        (ops[0].atom != DW_OP_const8u && ops[0].atom != DW_OP_const4u && ops[0].atom != DW_OP_constu) || ops[0].number >= LWP_THREAD_LOCAL)
        return false;
    *address = LWP_THREAD_LOCAL + ops[0].number;
    return true;
}

/* DW_OP_addr, or an index into the unit's address table. */
static bool variable_address(Dwarf_Attribute *attribute, const Dwarf_Op *op, uint64_t *address)
{
    Dwarf_Attribute indexed;
    Dwarf_Addr found;
    if (op->atom == DW_OP_addr) {
        *address = op->number;
        return true;
    }
    if ((op->atom != DW_OP_addrx && op->atom != DW_OP_GNU_addr_index) || dwarf_getlocation_attr(attribute, op, &indexed) ||
        dwarf_formaddr(&indexed, &found))
        return false;
    *address = found;
    return true;
}

static bool variable_has_list(Dwarf_Die *variable)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr(variable, DW_AT_location, &attribute))
        return false;
    switch (dwarf_whatform(&attribute)) {
    case DW_FORM_sec_offset:
    case DW_FORM_loclistx:
    case DW_FORM_data4: /* before DWARF 4 */
    case DW_FORM_data8:
        return true;
    default:
        return false;
    }
}

static bool scopes_have_lists(struct code_scopes *scopes)
{
    int budget = SCOPE_CHILDREN;
    if (scopes->looked_for_lists)
        return scopes->has_lists;
    scopes->looked_for_lists = true;
    for (uint32_t scope = 0; scope < scopes->count && !scopes->has_lists; scope++) {
        const struct code_scope *in = code_scope_with_variables(scopes, scope);
        for (uint32_t i = 0; i < in->variable_count && budget-- > 0 && !scopes->has_lists; i++)
            scopes->has_lists = variable_has_list(&in->variables[i]);
    }
    return scopes->has_lists;
}

bool code_parameter_handed_over(struct code_scopes *scopes, uint32_t scope, Dwarf_Die *variable)
{
    return scope == 0 && dwarf_tag(variable) == DW_TAG_formal_parameter && !variable_has_list(variable) && !scopes_have_lists(scopes);
}

/* Of the function itself, not of what is inlined into it: they are listed in the order of the file. */
static bool variable_handed_over(struct code_module *module, Dwarf_Die *variable, uint64_t pc)
{
    struct code_scopes *scopes = dwarf_tag(variable) == DW_TAG_formal_parameter ? code_scopes_at(module, pc) : NULL;
    if (!scopes || !code_parameter_handed_over(scopes, 0, variable) || pc == code_scopes_entry(scopes))
        return false;
    const struct code_scope *function = code_scope_with_variables(scopes, 0);
    const size_t at =
        LWP_PARTITION_POINT(i, 0, function->variable_count, (uintptr_t)function->variables[i].addr < (uintptr_t)variable->addr);
    return at < function->variable_count && function->variables[at].addr == variable->addr;
}

struct code_location code_variable_location(struct code_module *module, Dwarf_Die *variable, Dwarf_Die *function, uint64_t pc)
{
    struct code_location location = {.kind = CODE_LOCATION_UNKNOWN};
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr(variable, DW_AT_location, &attribute) || dwarf_getlocation_addr(&attribute, pc, &ops, &count, 1) != 1 || !count)
        return location;
    if (count == 1 && code_register_op(&ops[0], false, &location.reg, &location.offset))
        location.kind = CODE_LOCATION_REGISTER;
    else if (count == 2 && ops[1].atom == DW_OP_stack_value && code_register_op(&ops[0], true, &location.reg, &location.offset))
        location.kind = CODE_LOCATION_REGISTER;
    else if (count == 1 && ops[0].atom == DW_OP_fbreg)
        location = variable_fbreg(module, function, (int64_t)ops[0].number, pc);
    else if (count == 1 && code_register_op(&ops[0], true, &location.reg, &location.offset))
        location = variable_in_frame(module, location.reg, location.offset, pc);
    else if ((count == 1 && variable_address(&attribute, &ops[0], &location.address)) ||
             (count == 2 && variable_thread_local(ops, count, &location.address)))
        location.kind = CODE_LOCATION_STATIC;
    if (location.kind == CODE_LOCATION_REGISTER && variable_handed_over(module, variable, pc))
        location.kind = CODE_LOCATION_UNKNOWN;
    return location;
}

/* ---- in scope ---- */

const struct code_scope *code_scope_with_variables(struct code_scopes *scopes, uint32_t index)
{
    struct code_scope *scope = &scopes->items[index];
    size_t count = 0, room = 0;
    int budget = SCOPE_CHILDREN;
    if (scope->has_variables)
        return scope;
    for (Dwarf_Die child = code_die_first(&scope->die); child.addr && budget-- > 0; child = code_die_after(&child)) {
        int tag = dwarf_tag(&child);
        if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter)
            continue;
        LWP_GROW(&scope->variables, count, &room);
        scope->variables[count++] = child;
    }
    scope->variable_count = (uint32_t)count;
    scope->has_variables = true;
    return scope;
}

/* "double* std::copy<double*>(double const*)": templates have what they return in front of their names. */
static const char *variable_declarator(const char *name)
{
    static const char nameless[] = "(anonymous namespace)";
    const char *start = name;
    int depth = 0;
    for (const char *at = name; *at; at++) {
        if (strncmp(at, nameless, strlen(nameless)) == 0) {
            at += strlen(nameless) - 1;
            continue;
        }
        bool overloaded = strncmp(at, "operator", 8) == 0 && (at == name || strchr(" :", at[-1]));
        if (depth == 0 && (*at == '(' || overloaded))
            break;
        if (depth == 0 && *at == ' ')
            start = at + 1;
        depth += (*at == '<') - (*at == '>' && at > name && at[-1] != '-');
    }
    return start;
}

bool lwp_types_is_library(const char *name)
{
    static const char *const known = "std::|__gnu_cxx::|operator new|void* |alloc::|core::|<alloc::|<core::|<T as |__rust_|"
                                     "__rdl_|__rg_|hashbrown::|<hashbrown::|<I as |_RNv";
    return code_begins_with(variable_declarator(name), known) || code_begins_with(name, "operator new|void* |_RNv");
}

bool code_scope_is_library(struct code_scopes *scopes, uint32_t scope)
{
    const char *function = code_scope_name(scopes, scope);
    return function && lwp_types_is_library(function);
}

bool code_variables_scoped(struct code_module *module, uint64_t pc, code_variable_visit *visit, void *context,
                           struct code_variable_scope *of)
{
    struct code_scopes *scopes = code_scopes_at(module, pc);
    int budget = SCOPE_VISITS;
    *of = (struct code_variable_scope){.inlined = 0};
    if (!scopes)
        return false;
    uint32_t first = code_scope_find(scopes, pc);
    for (uint32_t scope = first; scope != LWP_NONE; scope = scopes->items[scope].parent)
        of->inlined += scope && scopes->items[scope].function == scope;
    for (uint32_t scope = first; scope != LWP_NONE; scope = scopes->items[scope].parent) {
        const struct code_scope *in = code_scope_with_variables(scopes, scope);
        of->library = in->variable_count && code_scope_is_library(scopes, scope);
        for (uint32_t i = 0; i < in->variable_count && budget-- > 0 && scopes->visits++ < function_visits; i++)
            if (visit(&in->variables[i], &scopes->items[0].die, context))
                return true;
        of->inlined -= scope && scopes->items[scope].function == scope;
    }
    return false;
}

struct frame_search {
    struct code_module *module;
    uint64_t pc;
    int64_t offset, *start;
    uint64_t *bytes;
    Dwarf_Die *variable;
};

static bool scope_match_frame(Dwarf_Die *variable, Dwarf_Die *function, void *context)
{
    struct frame_search *search = context;
    struct code_location location = code_variable_location(search->module, variable, function, search->pc);
    Dwarf_Die type;
    uint64_t bytes;
    if (location.kind != CODE_LOCATION_FRAME || !type_die_of(variable, &type) || !type_die_bytes(&type, &bytes) ||
        search->offset < location.offset || (uint64_t)(search->offset - location.offset) >= bytes)
        return false;
    *search->variable = *variable;
    *search->start = location.offset;
    *search->bytes = bytes;
    return true;
}

bool code_frame_variable(struct code_module *module, uint64_t pc, int64_t offset, Dwarf_Die *variable, int64_t *start, uint64_t *bytes)
{
    struct frame_search search = {module, pc, offset, start, bytes, variable};
    struct code_variable_scope scope;
    return code_variables_scoped(module, pc, scope_match_frame, &search, &scope);
}

bool code_variable_is_of_caller(Dwarf_Die *variable)
{
    Dwarf_Die type, to;
    return dwarf_tag(variable) == DW_TAG_formal_parameter && type_die_of(variable, &type) && type_die_strip(&type, NULL) &&
           type_die_is_pointer(&type) && type_die_of(&type, &to) && type_die_strip(&to, NULL) && type_die_is_pointer(&to);
}

bool code_variable_pointer(struct code_module *module, Dwarf_Die *variable, uint64_t offset, struct code_pointee *pointee)
{
    Dwarf_Die type;
    pointee->name = code_die_label(module->code, variable);
    if (!type_die_of(variable, &type) || !code_pointer_at(module, type, offset, pointee))
        return false;
    pointee->of_caller = code_variable_is_of_caller(variable);
    return true;
}

bool code_frame_pointer(struct code_module *module, uint64_t pc, int64_t at, struct code_pointee *pointee)
{
    Dwarf_Die variable;
    int64_t start;
    uint64_t bytes;
    return code_frame_variable(module, pc, at, &variable, &start, &bytes) &&
           code_variable_pointer(module, &variable, (uint64_t)(at - start), pointee);
}

bool code_returned_pointer(struct code_scopes *function, struct code_pointee *pointee)
{
    Dwarf_Die type;
    pointee->name = "";
    return type_die_of(&function->items[0].die, &type) && code_pointer_at(function->module, type, 0, pointee);
}

/* ---- at fixed addresses ---- */

struct static_walk {
    struct code_types *types;
    size_t capacity;
    long budget;
};

static void static_take(struct static_walk *walk, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    Dwarf_Die type;
    uint64_t address, bytes;
    if (!dwarf_attr(die, DW_AT_location, &attribute) || dwarf_whatform(&attribute) == DW_FORM_sec_offset ||
        dwarf_whatform(&attribute) == DW_FORM_loclistx || dwarf_getlocation(&attribute, &ops, &count) || !count)
        return;
    const size_t place = variable_thread_local(ops, count, &address) ? 2 : 1;
    if ((place == 1 && !variable_address(&attribute, &ops[0], &address)) || !type_die_of(die, &type))
        return;
    if (count == place + 1 && ops[place].atom == DW_OP_plus_uconst && ops[place].number < TYPE_STATIC_LIMIT) /* in a common block */
        address += ops[place].number;
    else if (count != place)
        return;
    Dwarf_Die stripped = type;
    if (!type_die_strip(&stripped, NULL) || (!(bytes = code_descriptor_bytes(&stripped)) && (!type_die_bytes(&type, &bytes) || !bytes)) ||
        address + bytes < address)
        return;
    struct code_types *types = walk->types;
    LWP_GROW(&types->statics, types->static_count, &walk->capacity);
    types->statics[types->static_count++] = (struct code_static){address, bytes, *die};
}

static bool static_walk(struct static_walk *walk, Dwarf_Die *parent, int depth)
{
    if (depth > STATIC_DEPTH)
        return false;
    for (Dwarf_Die die = code_die_first(parent); die.addr && walk->budget-- > 0; die = code_die_after(&die)) {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable)
            static_take(walk, &die);
        else if ((tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_common_block || tag == DW_TAG_subprogram ||
                  tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
                 !static_walk(walk, &die, depth + 1))
            return false;
    }
    return true;
}

bool code_static_at(struct code_module *module, uint64_t address, struct code_static *found)
{
    struct code_types *types = code_types_of(module);
    if (!types->statics_read) {
        types->statics_read = true;
        struct static_walk walk = {.types = types, .budget = STATIC_DIE_LIMIT};
        Dwarf_Die unit;
        for (size_t i = 0; code_unit(module, i, &unit); i++)
            static_walk(&walk, &unit, 0);
        LWP_SORT(types->statics, types->static_count, lwp_by_first);
    }
    size_t at = LWP_COUNT_UP_TO(types->statics, types->static_count, start, address);
    for (size_t back = 0; at > 0 && back < 16; at--, back++)
        if (address - types->statics[at - 1].start < types->statics[at - 1].bytes) {
            *found = types->statics[at - 1];
            return true;
        }
    return false;
}
