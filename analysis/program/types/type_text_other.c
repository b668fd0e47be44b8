/* Fortran: attributes before "::", bounds behind the name; arrays whose place is known at run time are allocatable or
 * pointers, with one ":" for each dimension. Rust: compilers name nearly every type as the source would, so little is
 * put together here; the allocator that nobody writes is left out.
 * Limits: character lengths and kinds are as the compiler names them; very long names are cut. */
#include "analysis/program/types/type_text_other.h"

#include "analysis/program/types/type_members.h"

#include <dwarf.h>
#include <string.h>

enum { OTHER_DEPTH = 12, OTHER_LIMIT = 1000, OTHER_DIMENSIONS = 15 };

static const char *fortran_bounds(struct lwp_code *code, Dwarf_Die *array, bool deferred)
{
    Dwarf_Die child;
    const char *list = "";
    int dimensions = 0;
    for (bool more = code_die_child(array, &child); more && dimensions < OTHER_DIMENSIONS;
         more = code_die_next(&child, &child)) {
        Dwarf_Attribute attribute;
        Dwarf_Sword lower = 1, upper = 0;
        const char *one = deferred ? ":" : "*";
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        if (dwarf_attr(&child, DW_AT_lower_bound, &attribute) && dwarf_formsdata(&attribute, &lower))
            lower = 1;
        if (!deferred && dwarf_attr(&child, DW_AT_upper_bound, &attribute) && !dwarf_formsdata(&attribute, &upper))
            one = lower == 1 ? lwp_arena_printf(code->arena, "%lld", (long long)upper)
                             : lwp_arena_printf(code->arena, "%lld:%lld", (long long)lower, (long long)upper);
        list = lwp_arena_printf(code->arena, "%s%s%s", list, dimensions++ ? ", " : "", one);
    }
    return list;
}

const char *type_text_fortran(struct lwp_code *code, Dwarf_Die *type, const char *name)
{
    struct lwp_arena *arena = code->arena;
    const char *attributes = "", *bounds = NULL;
    Dwarf_Die at = *type, next;
    bool known = true;
    for (int depth = 0; known && depth < OTHER_DEPTH; depth++) {
        known = type_die_strip(&at, NULL);
        if (!known)
            break;
        if (dwarf_tag(&at) == DW_TAG_array_type && !bounds) {
            bool deferred = code_descriptor_bytes(&at) > 0;
            if (deferred)
                attributes = dwarf_hasattr(&at, DW_AT_associated) ? ", pointer" : ", allocatable";
            bounds = fortran_bounds(code, &at, deferred);
        } else if (type_die_is_pointer(&at)) {
            attributes = ", pointer";
        } else {
            break;
        }
        known = type_die_of(&at, &next);
        at = next;
    }
    const char *own = known ? dwarf_diename(&at) : NULL;
    if (own && strlen(own) > OTHER_LIMIT)
        own = NULL;
    const char *base = own && code_die_is_struct(&at) ? lwp_arena_printf(arena, "type(%s)", own) : own ? own : "?";
    if (!*name)
        base =
            lwp_arena_printf(arena, bounds ? "%s%s, dimension(%s)" : "%s%s%s", base, attributes, bounds ? bounds : "");
    else
        base = lwp_arena_printf(arena, bounds ? "%s%s :: %s(%s)" : "%s%s :: %s%s", base, attributes, name,
                                bounds ? bounds : "");
    return code_intern(code, base);
}

/* Without ", alloc::alloc::Global". */
static const char *rust_name(struct lwp_code *code, const char *name)
{
    static const char allocator[] = ", alloc::alloc::Global";
    char shown[OTHER_LIMIT];
    size_t used = 0;
    while (*name && used + 1 < sizeof shown) {
        if (!strncmp(name, allocator, sizeof allocator - 1))
            name += sizeof allocator - 1;
        else
            shown[used++] = *name++;
    }
    shown[used] = '\0';
    return code_intern(code, shown);
}

static const char *rust_type(struct lwp_code *code, Dwarf_Die *type, int depth)
{
    Dwarf_Die next, element;
    uint64_t elements;
    const char *name = code_die_name(code, type);
    if (name)
        return rust_name(code, name);
    if (depth > OTHER_DEPTH || !type_die_of(type, &next))
        return "?";
    if (dwarf_tag(type) == DW_TAG_array_type) {
        if (!type_die_array(type, &element, &elements))
            return "?";
        name = rust_type(code, &next, depth + 1);
        Dwarf_Die child;
        uint64_t count = 0;
        for (bool more = code_die_child(type, &child); more; more = code_die_next(&child, &child)) {
            Dwarf_Attribute attribute;
            Dwarf_Word value;
            if (dwarf_tag(&child) == DW_TAG_subrange_type && dwarf_attr(&child, DW_AT_count, &attribute) &&
                dwarf_formudata(&attribute, &value) == 0)
                count = value;
        }
        return strlen(name) > OTHER_LIMIT
                   ? "?"
                   : lwp_arena_printf(code->arena, "[%s; %llu]", name, (unsigned long long)count);
    }
    name = rust_type(code, &next, depth + 1);
    return type_die_is_pointer(type) && strlen(name) < OTHER_LIMIT ? lwp_arena_printf(code->arena, "*%s", name) : name;
}

const char *type_text_rust(struct lwp_code *code, Dwarf_Die *type, const char *name)
{
    const char *text = rust_type(code, type, 0);
    return code_intern(code, *name ? lwp_arena_printf(code->arena, "%s: %s", name, text) : text);
}
