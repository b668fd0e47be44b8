/* Large arrays within one structure, as the state of a game or a simulation has them, and those that a structure ends in: each is an array
 * like any other. */
#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_members.h"
#include "analysis/statistics/stride.h"

#include <dwarf.h>
#include <string.h>

enum { ARRAY_DEPTH = 16 };

static bool array_find(struct code_module *module, Dwarf_Die type, uint64_t offset, int depth, struct code_inner_array *found);

static bool array_take(Dwarf_Die *stripped, uint64_t offset, struct code_inner_array *found)
{
    if (code_descriptor_bytes(stripped) || !type_die_array(stripped, &found->element, &found->elements) ||
        !type_die_bytes(&found->element, &found->bytes) || !found->bytes || found->bytes > LWP_TYPE_ELEMENT_MAX)
        return false;
    return found->elements > LWP_TYPE_ELEMENT_MAX / found->bytes && offset / found->bytes < found->elements;
}

static bool array_in_member(struct code_module *module, Dwarf_Die *member, uint64_t offset, int depth, struct code_inner_array *found)
{
    const int tag = dwarf_tag(member);
    const char *name = tag == DW_TAG_member ? dwarf_diename(member) : NULL;
    Dwarf_Die type;
    uint64_t start;
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || type_die_flag(member, DW_AT_external) || !type_die_offset(member, &start) ||
        offset < start || !type_die_of(member, &type) || !array_find(module, type, offset - start, depth + 1, found))
        return false;
    found->start += start;
    if (name && strncmp(name, "_M_", 3) && strncmp(name, "__", 2)) /* not the C++ library's own */
        found->name = lwp_arena_printf(module->code->arena, "%s%s%s", name, *found->name ? "." : "", found->name);
    return true;
}

static bool array_find(struct code_module *module, Dwarf_Die type, uint64_t offset, int depth, struct code_inner_array *found)
{
    Dwarf_Die stripped = type;
    uint64_t bytes;
    if (depth > ARRAY_DEPTH || !type_die_strip(&stripped, NULL))
        return false;
    if (dwarf_tag(&stripped) == DW_TAG_array_type)
        return depth && array_take(&stripped, offset, found);
    if (!code_die_is_struct(&stripped) || dwarf_tag(&stripped) == DW_TAG_union_type || !type_die_bytes(&type, &bytes) ||
        bytes <= LWP_TYPE_ELEMENT_MAX)
        return false;
    for (Dwarf_Die child = code_die_first(&stripped); child.addr && offset < bytes; child = code_die_after(&child))
        if (array_in_member(module, &child, offset, depth, found))
            return true;
    return false;
}

bool code_inner_array(struct code_module *module, Dwarf_Die type, uint64_t offset, struct code_inner_array *found)
{
    *found = (struct code_inner_array){.name = ""};
    return array_find(module, type, offset, 0, found);
}

static bool array_of_structures(Dwarf_Die element)
{
    return type_die_strip(&element, NULL) && code_die_is_struct(&element);
}

static void array_name(struct code_module *module, const struct code_pointee *from, const char *member, struct code_pointee *element)
{
    if (*from->name && member)
        element->name = code_intern(module->code, lwp_arena_printf(module->code->arena, "%s->%s", from->name, member));
}

/* The structure's last member, when that is an array of unknown length, and one element of it. */
static bool member_tail(Dwarf_Die *structure, Dwarf_Die *member, uint64_t *start, struct code_pointee *element)
{
    Dwarf_Die type;
    uint64_t elements;
    member->addr = NULL;
    for (Dwarf_Die child = code_die_first(structure); child.addr; child = code_die_after(&child))
        if (dwarf_tag(&child) == DW_TAG_member)
            *member = child;
    return member->addr && type_die_offset(member, start) && type_die_of(member, &type) && type_die_strip(&type, NULL) &&
           dwarf_tag(&type) == DW_TAG_array_type && !code_descriptor_bytes(&type) && type_die_array(&type, &element->type, &elements) &&
           !elements && type_die_bytes(&element->type, &element->bytes) && element->bytes;
}

/* The same of a large array of structures that is another member. */
static bool member_in_large(struct code_module *module, const struct code_pointee *from, int64_t offset, uint64_t modulus,
                            struct code_pointee *element, uint64_t *at)
{
    struct code_inner_array array;
    if (from->descriptor || !modulus || offset < 0 || (uint64_t)offset >= from->bytes ||
        !code_inner_array(module, from->type, (uint64_t)offset, &array) || modulus % array.bytes || !array_of_structures(array.element))
        return false;
    element->type = array.element;
    element->bytes = array.bytes;
    *at = ((uint64_t)offset - array.start) % array.bytes;
    array_name(module, from, array.name, element);
    return true;
}

bool code_pointee_in_tail(struct code_module *module, const struct code_pointee *from, int64_t offset, uint64_t modulus,
                          struct code_pointee *element, uint64_t *at)
{
    Dwarf_Die stripped = from->type, member;
    uint64_t start;
    *element = (struct code_pointee){.name = from->name};
    if (member_in_large(module, from, offset, modulus, element, at))
        return true;
    if (from->descriptor || (!modulus && offset < (int64_t)from->bytes) || !type_die_strip(&stripped, NULL) ||
        !code_die_is_struct(&stripped) || !member_tail(&stripped, &member, &start, element) || modulus % element->bytes)
        return false;
    if (!array_of_structures(element->type)) /* a number is the structure's own field */
        return false;
    *at = lwp_stride_residue(offset - (int64_t)start, element->bytes);
    array_name(module, from, dwarf_diename(&member), element);
    return true;
}
