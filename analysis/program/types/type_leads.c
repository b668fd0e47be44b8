/* Leads: which structs a pointer could point to, found by following declarations. A variable `struct graph *g` leads to
 * struct graph at once, and through that struct's members to what g->nodes points to. A list has each struct once and
 * is bounded; those of structs and units are kept, because the same few are asked about at thousands of accesses. */
#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_die.h"

#include <dwarf.h>

enum { LEADS_LIMIT = 64, LEADS_UNIT_LIMIT = 256, LEADS_DEPTH = 8, LEADS_BUDGET = 20000, LEADS_UNIT_BUDGET = 2000000 };

struct lead_walk {
    struct code_module *module;
    struct code_leads *leads;
    size_t limit;
    int budget;
};

static void lead_add(struct lead_walk *walk, Dwarf_Die type, Dwarf_Die *plain, const char *path, const char *joint)
{
    struct code_leads *leads = walk->leads;
    const struct lwp_type *known = code_type(walk->module, type);
    if (!known || leads->count >= walk->limit)
        return;
    for (size_t i = 0; i < leads->count; i++)
        if (leads->items[i].die.addr == plain->addr && leads->items[i].type == known)
            return;
    LWP_GROW(&leads->items, leads->count, &leads->capacity);
    leads->items[leads->count++] = (struct code_lead){known, *plain, path, joint};
}

static void lead_follow(struct lead_walk *walk, Dwarf_Die type, const char *path, int depth)
{
    Dwarf_Die stripped = type, target;
    uint64_t elements;
    if (depth > 3 || --walk->budget < 0 || !type_die_strip(&stripped, NULL))
        return;
    if (code_die_is_struct(&stripped)) {
        lead_add(walk, type, &stripped, path, ".");
        return;
    }
    bool pointer = type_die_is_pointer(&stripped);
    if (pointer ? !type_die_of(&stripped, &target) : !type_die_array(&stripped, &target, &elements))
        return;
    Dwarf_Die plain = target;
    bool known = type_die_strip(&plain, NULL);
    if (known && dwarf_tag(&plain) == DW_TAG_array_type && (known = type_die_array(&plain, &target, &elements))) {
        plain = target;
        known = type_die_strip(&plain, NULL);
    }
    if (!known)
        return;
    if (code_die_is_struct(&plain))
        lead_add(walk, target, &plain, path, pointer ? "->" : "[].");
    else if (type_die_is_pointer(&plain))
        lead_follow(walk, target, path, depth + 1);
}

/* Members, those of bases and of structs inside too. */
static void lead_members(struct lead_walk *walk, Dwarf_Die *type, const char *path, const char *joint, int depth)
{
    Dwarf_Die member, plain;
    if (depth > LEADS_DEPTH)
        return;
    for (Dwarf_Die child = code_die_first(type); child.addr && --walk->budget > 0; child = code_die_after(&child)) {
        int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || type_die_flag(&child, DW_AT_external) ||
            !type_die_of(&child, &member))
            continue;
        plain = member;
        if (!type_die_strip(&plain, NULL))
            continue;
        const char *own = dwarf_diename(&child), *full = path;
        bool leads = type_die_is_pointer(&plain) || dwarf_tag(&plain) == DW_TAG_array_type;
        if (!leads && !code_die_is_struct(&plain))
            continue;
        if (own)
            full = lwp_arena_printf(walk->module->code->arena, "%s%s%s", path, joint, own);
        if (leads)
            lead_follow(walk, member, full, 0);
        else
            lead_members(walk, &plain, full, own ? "." : joint, depth + 1);
    }
}

void code_leads_of_type(struct code_module *module, Dwarf_Die type, struct code_leads *leads)
{
    struct lead_walk walk = {module, leads, LEADS_LIMIT, LEADS_BUDGET};
    lead_follow(&walk, type, "", 0);
}

/* The kept list of a DIE, empty and to be filled when `*fresh`. */
static struct code_leads *leads_kept(struct code_module *module, Dwarf_Die *die, bool *fresh)
{
    void **kept = code_kept_at(&code_types_of(module)->leads, (uintptr_t)die->addr, fresh);
    if (*fresh)
        *kept = lwp_arena_alloc(module->code->arena, 1, sizeof(struct code_leads));
    return *kept;
}

/* Paths begin with the member's name: the joint before it depends on how the struct itself was reached. */
const struct code_leads *code_leads_of_struct(struct code_module *module, Dwarf_Die *type)
{
    bool fresh;
    struct code_leads *leads = leads_kept(module, type, &fresh);
    if (fresh) {
        struct lead_walk walk = {module, leads, LEADS_LIMIT, LEADS_BUDGET};
        lead_members(&walk, type, "", "", 0);
    }
    return leads;
}

static void lead_globals(struct lead_walk *walk, Dwarf_Die *parent, int depth)
{
    Dwarf_Die type;
    if (depth > LEADS_DEPTH)
        return;
    for (Dwarf_Die die = code_die_first(parent); die.addr && --walk->budget > 0; die = code_die_after(&die)) {
        int tag = dwarf_tag(&die);
        const char *name = tag == DW_TAG_variable ? dwarf_diename(&die) : NULL;
        if (name && type_die_of(&die, &type))
            lead_follow(walk, type, code_intern(walk->module->code, name), 0);
        else if (tag == DW_TAG_namespace || tag == DW_TAG_module)
            lead_globals(walk, &die, depth + 1);
    }
}

const struct code_leads *code_leads_of_unit(struct code_module *module, Dwarf_Die *unit)
{
    bool fresh;
    struct code_leads *leads = leads_kept(module, unit, &fresh);
    if (fresh) {
        struct lead_walk walk = {module, leads, LEADS_UNIT_LIMIT, LEADS_UNIT_BUDGET};
        lead_globals(&walk, unit, 0);
    }
    return leads;
}
