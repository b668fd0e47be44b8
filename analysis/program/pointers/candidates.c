/* Which types an access, an allocation or a stack slot may be of. First what is certain (pointers.h), then the structs
 * that pointers, arrays and structs in scope lead to (type_leads.c): of locals and parameters, inlined ones too, then
 * of their members, then the same for the unit's globals. Each type is listed once, in that order; the caller judges by
 * size and offsets. The number is bounded: in large programs some globals may be left out. */
#include "analysis/program/flow/decode.h"
#include "analysis/program/pointers/pointers.h"
#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_variables.h"
#include "analysis/statistics/stride.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATE_STRUCTS = 128, CANDIDATE_LIMIT = 64, CANDIDATE_LEVELS = 2, CANDIDATE_NAME = 200 };

/* What is kept of a scope. */
struct code_candidates {
    size_t count;
    struct lwp_candidate items[];
};

struct candidates {
    struct code_module *module;
    struct code_variable_scope scope; /* of the variable visited */
    struct lwp_candidate items[CANDIDATE_LIMIT];
    size_t count;
    struct candidate_struct { /* whose members may lead on */
        Dwarf_Die die;
        const char *name;
        const char *joint;
    } structs[CANDIDATE_STRUCTS];
    size_t struct_count;
};

static void candidates_take(struct candidates *all, const struct code_lead *lead, const char *outer, const char *joint)
{
    bool new_type = all->count < CANDIDATE_LIMIT && lead->type->field_count;
    bool new_struct = all->struct_count < CANDIDATE_STRUCTS;
    for (size_t i = 0; i < all->count && new_type; i++)
        new_type = all->items[i].type != lead->type;
    for (size_t i = 0; i < all->struct_count && new_struct; i++)
        new_struct = all->structs[i].die.addr != lead->die.addr;
    if (!new_type && !new_struct)
        return;
    const char *name = *lead->path ? lead->path : outer;
    if (*lead->path && *outer)
        name = lwp_arena_printf(all->module->code->arena, "%s%s%s", outer, joint, lead->path);
    if (strlen(name) > CANDIDATE_NAME)
        name = "...";
    if (new_type)
        all->items[all->count++] = (struct lwp_candidate){.type = lead->type, .variable = *name ? name : NULL};
    if (new_struct)
        all->structs[all->struct_count++] = (struct candidate_struct){lead->die, name, lead->joint};
}

static bool candidates_visit(Dwarf_Die *variable, Dwarf_Die *function, void *context)
{
    struct candidates *all = context;
    struct code_leads leads = {0};
    Dwarf_Die type;
    const char *name = dwarf_diename(variable);
    (void)function;
    if (!name || !type_die_of(variable, &type))
        return false;
    if (all->scope.library)
        name = "";
    code_leads_of_type(all->module, type, &leads);
    for (size_t i = 0; i < leads.count; i++)
        candidates_take(all, &leads.items[i], code_intern(all->module->code, name), "");
    free(leads.items);
    return all->count == CANDIDATE_LIMIT;
}

/* From the structs reached so far, one level of members further at a time. */
static void candidates_deepen(struct candidates *all, size_t *from, int levels)
{
    for (int level = 0; level < levels; level++) {
        size_t end = all->struct_count;
        for (size_t i = *from; i < end && all->count < CANDIDATE_LIMIT; i++) {
            struct candidate_struct at = all->structs[i];
            const struct code_leads *leads = code_leads_of_struct(all->module, &at.die);
            for (size_t l = 0; l < leads->count; l++)
                candidates_take(all, &leads->items[l], at.name, at.joint);
        }
        *from = end;
    }
}

static void candidates_collect(struct candidates *all, uint64_t address)
{
    Dwarf_Die unit;
    size_t opened = 0;
    code_variables_scoped(all->module, address, candidates_visit, all, &all->scope);
    candidates_deepen(all, &opened, 1);
    if (code_unit_at(all->module, address, &unit)) {
        const struct code_leads *globals = code_leads_of_unit(all->module, &unit);
        for (size_t i = 0; i < globals->count; i++)
            candidates_take(all, &globals->items[i], "", "");
    }
    candidates_deepen(all, &opened, CANDIDATE_LEVELS);
}

/* The possible candidates are the same at every address of one scope. */
static const struct code_candidates *candidates_in_scope(struct code_module *module, uint64_t address)
{
    struct code_types *types = code_types_of(module);
    struct code_scopes *scopes = code_scopes_at(module, address);
    Dwarf_Die unit = {.addr = NULL};
    if (!scopes && !code_unit_at(module, address, &unit))
        return NULL;
    uint64_t key = scopes ? lwp_hash_mix((uintptr_t)scopes, code_scope_find(scopes, address)) : (uintptr_t)unit.addr;
    void **kept = code_kept_at(&types->candidates, key, NULL);
    if (*kept)
        return *kept;
    struct candidates all = {.module = module};
    candidates_collect(&all, address);
    size_t bytes = all.count * sizeof *all.items;
    struct code_candidates *made = *kept = lwp_arena_alloc(module->code->arena, 1, sizeof *made + bytes);
    made->count = all.count;
    memcpy(made->items, all.items, bytes);
    return made;
}

/* A claim that contradicts the access is no answer: bytes beyond the end of a struct. */
static bool candidate_fits(struct lwp_code *code, uint32_t module, uint64_t address, const struct code_target *target)
{
    struct lwp_memory_operand memory = lwp_code_operand(code, module, address);
    if (target->pointee.descriptor || target->pointee.bytes == 0)
        return false;
    if (memory.bytes > 8 || (target->modulus && target->modulus % target->pointee.bytes))
        return true;
    return lwp_stride_residue(target->offset, target->pointee.bytes) + memory.bytes <= target->pointee.bytes;
}

bool lwp_types_place(struct lwp_code *code, uint32_t module_index, uint64_t address, struct lwp_code_place *place)
{
    struct code_module *module = code_module_at(code, module_index);
    struct code_target target;
    if (!module || !code_dwarf(module) || !code_points_to(module, address, &target) || target.pointee.descriptor || !target.pointee.bytes)
        return false;
    int64_t size = (int64_t)target.pointee.bytes;
    const struct lwp_memory_operand memory = lwp_code_operand(code, module_index, address);
    if ((target.modulus && target.modulus % target.pointee.bytes) || memory.string || memory.gather)
        return false;
    *place = (struct lwp_code_place){.type = code_type(module, target.pointee.type),
                                     .at = lwp_stride_residue(target.offset, target.pointee.bytes),
                                     .from = target.offset,
                                     .beside = !target.modulus && (target.offset < 0 || target.offset >= size),
                                     .variable = target.pointee.name};
    const bool past = target.modulus || target.offset >= size;
    return place->type && place->type->bytes == target.pointee.bytes && !(past && lwp_types_is_open(place->type));
}

/* The exact value's candidate first, when there is one, then the possible ones. */
static size_t candidates_answer(struct code_module *module, uint64_t address, const struct code_pointee *exact, struct lwp_candidate *items,
                                size_t room)
{
    size_t count = 0;
    const struct lwp_type *type = exact ? code_type(module, exact->type) : NULL;
    if (type)
        items[count++] = (struct lwp_candidate){.type = type, .variable = exact->name, .exact = true};
    const struct code_candidates *possible = candidates_in_scope(module, address);
    for (size_t i = 0; possible && i < possible->count && count < room; i++)
        if (possible->items[i].type != type)
            items[count++] = possible->items[i];
    return count;
}

size_t lwp_types_at_access(struct lwp_code *code, uint32_t module_index, uint64_t address, struct lwp_candidate *items, size_t room)
{
    struct code_module *module = code_module_at(code, module_index);
    if (!module || !code_dwarf(module) || !room)
        return 0;
    struct code_target target;
    bool exact = code_points_to(module, address, &target) && candidate_fits(code, module_index, address, &target);
    return candidates_answer(module, address, exact ? &target.pointee : NULL, items, room);
}

size_t lwp_types_at_call(struct lwp_code *code, uint32_t module_index, uint64_t address, struct lwp_candidate *items, size_t room)
{
    struct code_module *module = code_module_at(code, module_index);
    if (!module || !code_dwarf(module) || !room)
        return 0;
    struct code_pointee pointee;
    bool exact = code_result_of_call(module, address + 1, &pointee) == CODE_RESULT_KNOWN;
    return candidates_answer(module, address, exact ? &pointee : NULL, items, room);
}

/* Whether the function returns what is behind the value that it holds the block as, and not as more of the same. */
static bool block_is_header(struct code_module *module, uint64_t address, const struct lwp_type *type, const struct code_holder *holder)
{
    struct code_scopes *function = code_scopes_at(module, address);
    struct code_pointee returned;
    Dwarf_Die declared;
    return holder->returned && !lwp_types_is_open(type) && holder->returned_at >= (int64_t)type->bytes && function &&
           type_die_of(&function->items[0].die, &declared) && type_die_strip(&declared, NULL) && type_die_is_pointer(&declared) &&
           !(code_pointee_of(declared, &returned) && code_type(module, returned.type) == type);
}

enum lwp_block_answer lwp_types_of_block(struct lwp_code *code, uint32_t module_index, uint64_t address, bool is_result,
                                         struct lwp_candidate *candidate)
{
    struct code_module *module = code_module_at(code, module_index);
    struct code_pointee pointee;
    struct code_allocator allocator = {.library = false};
    if (!module)
        return LWP_BLOCK_UNKNOWN;
    if (!code_allocator_at(module, address, &pointee, &allocator)) {
        enum code_result result = is_result ? code_result_of_call(module, address + 1, &pointee) : CODE_RESULT_LOST;
        if (result == CODE_RESULT_RETURNED)
            return LWP_BLOCK_RETURNED;
        allocator.shared = allocator.table = false;
        if (result == CODE_RESULT_LOST)
            return allocator.library ? LWP_BLOCK_INSIDE : LWP_BLOCK_UNKNOWN;
    }
    const struct lwp_type *type = code_type(module, pointee.type);
    struct code_holder holder = {.returned = false};
    if (is_result)
        code_holder_of_call(module, address + 1, &holder);
    *candidate = (struct lwp_candidate){.type = type,
                                        .variable = holder.variable ? holder.variable
                                                    : *pointee.name ? pointee.name
                                                                    : NULL,
                                        .exact = !allocator.shared,
                                        .table = allocator.table,
                                        .kept = holder.kept,
                                        .kept_at = holder.kept_at,
                                        .kept_in_array = holder.kept_in_array,
                                        .returned = holder.returned,
                                        .returned_at = holder.returned_at,
                                        .handed = holder.handed,
                                        .header = type && block_is_header(module, address, type, &holder)};
    return type ? LWP_BLOCK_KNOWN : LWP_BLOCK_UNKNOWN;
}

const char *lwp_types_handed_name(struct lwp_code *code, uint32_t module_index, uint64_t address, uint64_t callee, int8_t argument,
                                  bool *in_array)
{
    struct code_module *module = code_module_at(code, module_index);
    return module && code_dwarf(module) ? code_handed_name(module, address + 1, callee, argument, in_array) : NULL;
}

static bool wraps_declared(struct code_scopes *scopes, uint32_t scope)
{
    Dwarf_Die type;
    struct code_pointee pointee;
    return type_die_of(&scopes->items[scope].die, &type) && type_die_strip(&type, NULL) && type_die_is_pointer(&type) &&
           !code_pointee_of(type, &pointee);
}

bool lwp_types_wraps(struct lwp_code *code, uint32_t module_index, uint64_t address, uint32_t inlined)
{
    struct code_module *module = code_module_at(code, module_index);
    struct code_scopes *scopes = module ? code_scopes_at(module, address) : NULL;
    if (!scopes)
        return false;
    uint32_t scope = scopes->items[code_scope_find(scopes, address)].function;
    for (; inlined && scope; inlined--)
        scope = scopes->items[scopes->items[scope].parent].function;
    if (!wraps_declared(scopes, scope) || scope) /* what an inlined function's result is, is not followed */
        return scope && wraps_declared(scopes, scope);
    struct code_types *types = code_types_of(module);
    types->wraps = types->wraps ? types->wraps : lwp_map_new();
    uint32_t *answer = lwp_map_at(types->wraps, address);
    struct code_holder holder;
    if (*answer == LWP_MAP_NONE) {
        code_holder_of_call(module, address + 1, &holder);
        *answer = holder.returned;
    }
    return *answer;
}

/* The type of one element of a variable, and how many there are. */
static const struct lwp_type *variable_elements(struct code_module *module, Dwarf_Die *variable, uint64_t *elements)
{
    Dwarf_Die type, plain;
    *elements = 1;
    if (!type_die_of(variable, &type))
        return NULL;
    plain = type;
    if (type_die_strip(&plain, NULL) && dwarf_tag(&plain) == DW_TAG_array_type && !type_die_array(&plain, &type, elements))
        return NULL;
    return code_type(module, type);
}

static bool static_array(struct code_module *module, struct code_static *variable, uint64_t address, struct code_inner_array *array)
{
    Dwarf_Die type;
    return variable->bytes > LWP_TYPE_ELEMENT_MAX && type_die_of(&variable->die, &type) &&
           code_inner_array(module, type, address - variable->start, array);
}

const struct lwp_type *lwp_types_of_static(struct lwp_code *code, uint32_t module_index, uint64_t address, uint64_t *elements)
{
    struct code_module *module = code_module_at(code, module_index);
    struct code_static found;
    *elements = 0;
    if (!module || !code_dwarf(module) || !code_static_at(module, address, &found))
        return NULL;
    struct code_inner_array array;
    if (static_array(module, &found, address, &array)) {
        *elements = array.elements;
        return code_type(module, array.element);
    }
    return variable_elements(module, &found.die, elements);
}

bool lwp_types_array_in_static(struct lwp_code *code, uint32_t module_index, uint64_t address, uint64_t *start, uint64_t *bytes,
                               const char **name)
{
    struct code_module *module = code_module_at(code, module_index);
    struct code_static found;
    struct code_inner_array array;
    if (!module || !code_dwarf(module) || !code_static_at(module, address, &found) || !static_array(module, &found, address, &array))
        return false;
    *start = found.start + array.start;
    *bytes = array.elements * array.bytes;
    *name = array.name;
    return true;
}

const struct lwp_type *lwp_types_of_stack(struct lwp_code *code, uint32_t module_index, uint64_t address, int64_t offset,
                                          const char **variable, int64_t *start, uint64_t *bytes, uint64_t *elements)
{
    struct code_module *module = code_module_at(code, module_index);
    Dwarf_Die die;
    *variable = NULL;
    *start = 0;
    *bytes = *elements = 0;
    if (!module || !code_dwarf(module) || !code_frame_variable(module, address, offset, &die, start, bytes))
        return NULL;
    *variable = code_intern(code, dwarf_diename(&die));
    return variable_elements(module, &die, elements);
}

bool lwp_types_is_spilled(struct lwp_code *code, uint32_t module_index, uint64_t address, int64_t offset)
{
    struct code_module *module = code_module_at(code, module_index);
    Dwarf_Die die;
    Dwarf_Attribute location;
    int64_t start;
    uint64_t bytes;
    if (!module || !code_dwarf(module) || !code_frame_variable(module, address, offset, &die, &start, &bytes) ||
        !dwarf_attr(&die, DW_AT_location, &location))
        return false;
    unsigned form = dwarf_whatform(&location); /* of a list: the place changes */
    return form == DW_FORM_sec_offset || form == DW_FORM_loclistx;
}

static bool variable_is_volatile(Dwarf_Die *variable)
{
    Dwarf_Die type;
    return type_die_of(variable, &type) && type_die_is_volatile(&type);
}

bool lwp_types_static_is_volatile(struct lwp_code *code, uint32_t module_index, uint64_t address)
{
    struct code_module *module = code_module_at(code, module_index);
    struct code_static found;
    return module && code_dwarf(module) && code_static_at(module, address, &found) && variable_is_volatile(&found.die);
}

bool lwp_types_stack_is_volatile(struct lwp_code *code, uint32_t module_index, uint64_t address, int64_t offset)
{
    struct code_module *module = code_module_at(code, module_index);
    Dwarf_Die die;
    int64_t start;
    uint64_t bytes;
    return module && code_dwarf(module) && code_frame_variable(module, address, offset, &die, &start, &bytes) && variable_is_volatile(&die);
}
