/* What an access, an allocation or a stack slot may be of: first what is certain (type_values.c), then the structs
 * that pointers, arrays and structs in scope lead to: locals and parameters, inlined ones too, what their members point
 * to, then the same for the unit's globals. Each type once, in that order; the caller judges by size and offsets. */
#include "analysis/types.h"

#include "analysis/decode.h"
#include "analysis/type_cache.h"
#include "analysis/type_die.h"
#include "analysis/type_values.h"

#include <dwarf.h>
#include <stdlib.h>

enum { CANDIDATE_STRUCTS = 128, CANDIDATE_DEPTH = 8, CANDIDATE_BUDGET = 20000, CANDIDATE_LEVELS = 2 };

struct candidates {
    struct code_module *module;
    struct lwp_candidate *items;
    size_t count, room;
    struct candidate_struct { /* whose members may lead on */
        Dwarf_Die die;
        const char *name;
        const char *joint; /* "->" or "." */
    } structs[CANDIDATE_STRUCTS];
    size_t struct_count;
    int budget;
};

static void candidates_add(struct candidates *all, const struct lwp_type *type, const char *name, bool exact)
{
    if (!type || all->count == all->room || (!exact && !type->field_count))
        return;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].type == type)
            return;
    all->items[all->count++] = (struct lwp_candidate){type, name, exact};
}

static void candidates_open(struct candidates *all, Dwarf_Die *die, const char *name, const char *joint)
{
    for (size_t i = 0; i < all->struct_count; i++)
        if (all->structs[i].die.addr == die->addr)
            return;
    if (all->struct_count < CANDIDATE_STRUCTS)
        all->structs[all->struct_count++] = (struct candidate_struct){*die, name, joint};
}

/* What a variable or member of this type leads to. `exact` holds for the first pointer only. */
static void candidates_follow(struct candidates *all, Dwarf_Die type, const char *name, bool exact, int depth)
{
    Dwarf_Die stripped = type, target;
    uint64_t elements;
    if (depth > 3 || --all->budget < 0 || !type_die_strip(&stripped, NULL))
        return;
    bool pointer = type_die_is_pointer(&stripped);
    if (type_die_is_struct(&stripped)) {
        if (!exact)
            candidates_add(all, code_type(all->module, type), name, false);
        candidates_open(all, &stripped, name, ".");
        return;
    }
    if (pointer ? !type_die_of(&stripped, &target) : !type_die_array(&stripped, &target, &elements))
        return;
    Dwarf_Die plain = target;
    if (!type_die_strip(&plain, NULL))
        return;
    if (dwarf_tag(&plain) == DW_TAG_array_type) {
        if (!type_die_array(&plain, &target, &elements))
            return;
        plain = target;
        if (!type_die_strip(&plain, NULL))
            return;
    }
    if (type_die_is_struct(&plain)) {
        candidates_add(all, code_type(all->module, target), name, exact);
        candidates_open(all, &plain, name, pointer ? "->" : "[].");
        return;
    }
    if (exact && dwarf_tag(&plain) != DW_TAG_subroutine_type)
        candidates_add(all, code_type(all->module, target), name, true);
    if (type_die_is_pointer(&plain))
        candidates_follow(all, target, name, false, depth + 1);
}

/* Follows the pointers and arrays among a struct's members, those of bases and of structs inside it too. */
static void candidates_members(struct candidates *all, Dwarf_Die *type, const char *name, const char *joint, int depth)
{
    Dwarf_Die child, member, plain;
    if (depth > CANDIDATE_DEPTH)
        return;
    for (bool more = code_die_child(type, &child); more && --all->budget > 0; more = code_die_next(&child, &child)) {
        int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || type_die_flag(&child, DW_AT_external) ||
            !type_die_of(&child, &member))
            continue;
        plain = member;
        if (!type_die_strip(&plain, NULL))
            continue;
        const char *own = dwarf_diename(&child), *full = name;
        bool leads = type_die_is_pointer(&plain) || dwarf_tag(&plain) == DW_TAG_array_type;
        if (own && (leads || type_die_is_struct(&plain)))
            full = lwp_arena_printf(all->module->code->arena, "%s%s%s", name, joint, own);
        if (type_die_is_struct(&plain))
            candidates_members(all, &plain, full, own ? "." : joint, depth + 1);
        else if (leads)
            candidates_follow(all, member, full, false, 0);
    }
}

static bool candidates_visit(Dwarf_Die *variable, Dwarf_Die *function, void *context)
{
    struct candidates *all = context;
    Dwarf_Die type;
    const char *name = dwarf_diename(variable);
    (void)function;
    if (name && type_die_of(variable, &type))
        candidates_follow(all, type, code_intern(all->module->code, name), false, 0);
    return all->budget < 0 || all->count == all->room;
}

/* From the structs reached so far, one level of members further at a time. */
static void candidates_deepen(struct candidates *all, size_t *from, int levels)
{
    for (int level = 0; level < levels; level++) {
        size_t end = all->struct_count;
        for (size_t i = *from; i < end && all->count < all->room; i++) {
            struct candidate_struct at = all->structs[i];
            candidates_members(all, &at.die, at.name, at.joint, 0);
        }
        *from = end;
    }
}

static bool global_leads(Dwarf_Die *variable)
{
    Dwarf_Die type;
    return dwarf_diename(variable) && type_die_of(variable, &type) && type_die_strip(&type, NULL) &&
           (type_die_is_pointer(&type) || type_die_is_struct(&type) || dwarf_tag(&type) == DW_TAG_array_type);
}

static void globals_walk(struct code_globals *globals, Dwarf_Die *parent, int depth, int *budget)
{
    Dwarf_Die die;
    if (depth > CANDIDATE_DEPTH)
        return;
    for (bool more = code_die_child(parent, &die); more && --*budget > 0; more = code_die_next(&die, &die)) {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable && global_leads(&die)) {
            LWP_GROW(&globals->items, globals->count, &globals->capacity);
            globals->items[globals->count++] = die;
        } else if (tag == DW_TAG_namespace || tag == DW_TAG_module) {
            globals_walk(globals, &die, depth + 1, budget);
        }
    }
}

static const struct code_globals *globals_of(struct code_module *module, uint64_t address)
{
    struct code_types *types = code_types_of(module);
    Dwarf_Die unit;
    if (!code_unit_at(module, address, &unit))
        return NULL;
    uint32_t *slot = lwp_map_at(types->globals_by_unit, (uintptr_t)unit.addr);
    if (*slot == LWP_MAP_NONE) {
        int budget = 2000000;
        LWP_GROW(&types->globals, types->globals_count, &types->globals_capacity);
        struct code_globals *globals = &types->globals[types->globals_count];
        *globals = (struct code_globals){0};
        globals_walk(globals, &unit, 0, &budget);
        *slot = (uint32_t)types->globals_count++;
    }
    return &types->globals[*slot];
}

static size_t candidates_in_scope(struct candidates *all, uint64_t address)
{
    size_t opened = all->struct_count;
    code_variables(all->module, address, candidates_visit, all);
    candidates_deepen(all, &opened, 1);
    const struct code_globals *globals = globals_of(all->module, address);
    for (size_t i = 0; globals && i < globals->count && all->count < all->room; i++)
        candidates_visit(&globals->items[i], NULL, all);
    candidates_deepen(all, &opened, CANDIDATE_LEVELS);
    return all->count;
}

size_t lwp_types_at_access(struct lwp_code *code, uint32_t module_index, uint64_t address, struct lwp_candidate *items,
                           size_t room)
{
    struct code_module *module = code_module_at(code, module_index);
    if (!module || !code_dwarf(module) || !room)
        return 0;
    struct candidates all = {.module = module, .items = items, .room = room, .budget = CANDIDATE_BUDGET};
    struct lwp_memory_operand memory = lwp_code_operand(code, module_index, address);
    struct code_value value;
    if (memory.exists &&
        ((memory.base >= 0 && code_value_in(module, address, memory.base, &value)) ||
         (memory.index >= 0 && memory.scale == 1 && code_value_in(module, address, memory.index, &value))))
        candidates_follow(&all, value.type, value.name, true, 0);
    return candidates_in_scope(&all, address);
}

size_t lwp_types_at_call(struct lwp_code *code, uint32_t module_index, uint64_t address, struct lwp_candidate *items,
                         size_t room)
{
    struct code_module *module = code_module_at(code, module_index);
    if (!module || !code_dwarf(module) || !room)
        return 0;
    struct candidates all = {.module = module, .items = items, .room = room, .budget = CANDIDATE_BUDGET};
    struct code_value value;
    if (code_value_of_result(module, address + 1, &value))
        candidates_follow(&all, value.type, value.name, true, 0);
    return candidates_in_scope(&all, address);
}

/* The type of one element of a variable, and how many there are. */
static const struct lwp_type *variable_elements(struct code_module *module, Dwarf_Die *variable, uint64_t *elements)
{
    Dwarf_Die type, plain;
    *elements = 1;
    if (!type_die_of(variable, &type))
        return NULL;
    plain = type;
    if (type_die_strip(&plain, NULL) && dwarf_tag(&plain) == DW_TAG_array_type &&
        !type_die_array(&plain, &type, elements))
        return NULL;
    return code_type(module, type);
}

const struct lwp_type *lwp_types_of_static(struct lwp_code *code, uint32_t module_index, uint64_t address,
                                           uint64_t *elements)
{
    struct code_module *module = code_module_at(code, module_index);
    struct code_static found;
    *elements = 0;
    if (!module || !code_dwarf(module) || !code_static_at(module, address, &found))
        return NULL;
    return variable_elements(module, &found.die, elements);
}

const struct lwp_type *lwp_types_of_stack(struct lwp_code *code, uint32_t module_index, uint64_t address,
                                          int64_t offset, const char **variable, int64_t *start, uint64_t *bytes,
                                          uint64_t *elements)
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
