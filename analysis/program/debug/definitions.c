/* All classes of a file by their whole name, read when the first declaration is met. Those of functions and of other classes are left out,
 * and so are those of unnamed namespaces, which no other unit can define. */
#include "analysis/program/debug/definitions.h"
#include "base/arena.h"
#include "base/hash.h"

#include <dwarf.h>
#include <stdlib.h>

enum { NAMESPACES_DEEP = 16 };

struct definition {
    Dwarf_Die die; /* addr NULL: none was found */
    uint64_t bytes;
    bool differs; /* others of the same name have another size */
};

struct definitions {
    struct definitions *next;
    Dwarf *dwarf;
    bool split; /* of a .dwo file, which ends with the file that it belongs to, untold */
    struct definition *items;
    size_t item_count, item_room;
    struct lwp_map by_name, by_declaration; /* hash of the whole name, address of the DIE */
};

static struct definitions *all;

static bool definition_is_declared(Dwarf_Die *die)
{
    bool declared;
    Dwarf_Attribute attribute;
    return dwarf_attr(die, DW_AT_declaration, &attribute) && dwarf_formflag(&attribute, &declared) == 0 && declared;
}

static void definitions_add(struct definitions *to, Dwarf_Die *die, uint64_t name)
{
    uint32_t *at = lwp_map_at(&to->by_name, name);
    uint64_t bytes;
    if (lwp_number_new(at, to->item_count))
        LWP_PUSH(to->item, (struct definition){.bytes = 0});
    const uint32_t index = *at;
    struct definition *item = &to->items[index];
    if (definition_is_declared(die)) {
        *lwp_map_at(&to->by_declaration, (uintptr_t)die->addr) = index;
    } else if (code_die_number(die, DW_AT_byte_size, &bytes)) {
        item->differs |= item->die.addr && item->bytes != bytes;
        item->die = *die;
        item->bytes = bytes;
    }
}

static void definitions_walk(struct definitions *to, Dwarf_Die *parent, uint64_t path, int depth)
{
    for (Dwarf_Die die = code_die_first(parent); die.addr; die = code_die_after(&die)) {
        const bool space = dwarf_tag(&die) == DW_TAG_namespace;
        const char *name = space || code_die_is_struct(&die) ? dwarf_diename(&die) : NULL;
        if (!name)
            continue;
        uint64_t whole = lwp_hash_mix(path, lwp_hash_text(name));
        if (!space)
            definitions_add(to, &die, whole);
        else if (depth < NAMESPACES_DEEP)
            definitions_walk(to, &die, whole, depth + 1);
    }
}

static struct definitions *definitions_of(Dwarf *dwarf, bool split)
{
    struct definitions *found = all;
    while (found && found->dwarf != dwarf)
        found = found->next;
    if (found)
        return found;
    found = calloc(1, sizeof *found);
    if (!found)
        return NULL;
    *found = (struct definitions){.next = all, .dwarf = dwarf, .split = split};
    all = found;
    Dwarf_Die unit;
    for (Dwarf_CU *cu = NULL; dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0;)
        if (!code_die_is_c(&unit))
            definitions_walk(found, &unit, 0, 0);
    return found;
}

bool code_definition_of(Dwarf_Die *declared, Dwarf_Die *definition)
{
    uint8_t unit;
    if (!definition_is_declared(declared) || code_die_is_c(declared) ||
        dwarf_cu_info(declared->cu, NULL, &unit, NULL, NULL, NULL, NULL, NULL) != 0 ||
        unit == DW_UT_split_compile) /* the only one of a .dwo file, beside those of types */
        return false;
    const struct definitions *known = definitions_of(dwarf_cu_getdwarf(declared->cu), unit == DW_UT_split_type);
    uint32_t index = known ? lwp_map_get(&known->by_declaration, (uintptr_t)declared->addr) : LWP_MAP_NONE;
    if (index == LWP_MAP_NONE || !known->items[index].die.addr || known->items[index].differs)
        return false;
    *definition = known->items[index].die;
    return true;
}

void code_definitions_forget(Dwarf *dwarf)
{
    for (struct definitions **at = &all, *gone; (gone = *at);) {
        if (gone->dwarf != dwarf && !gone->split) {
            at = &gone->next;
            continue;
        }
        *at = gone->next;
        lwp_map_fini(&gone->by_name);
        lwp_map_fini(&gone->by_declaration);
        free(gone->items);
        free(gone);
    }
}
