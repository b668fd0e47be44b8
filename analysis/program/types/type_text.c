/* Types as text of their language.
 *
 * C and C++: declarators grow from the inside out, as C reads them. Very long or deeply nested texts (hostile, or C++
 * at its worst) end in "..." at the place where the bound was reached.
 *
 * Fortran: attributes before "::", bounds behind the name; arrays whose place is known at run time are allocatable or
 * pointers, with one ":" for each dimension; a single value that is allocatable is not distinguished from a pointer, but for a
 * class. Kinds are as the compiler names them.
 *
 * Rust: compilers name nearly every type as the source would, so little is put together here; the allocator that nobody
 * writes is left out. Very long names are cut. */
#include "analysis/program/debug/scopes.h"
#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_members.h"

#include <dwarf.h>
#include <string.h>

enum { TEXT_DEPTH = 24, TEXT_PIECES = 300, TEXT_LIMIT = 1500, TEXT_MEMBERS = 40 };
enum { OTHER_DEPTH = 12, OTHER_LIMIT = 1000, OTHER_DIMENSIONS = 15 };

struct type_text {
    struct lwp_code *code;
    int pieces;
};

static const char *text_declare(struct type_text *text, Dwarf_Die *type, const char *inner, int depth);

static const char *text_join(struct type_text *text, const char *a, const char *b)
{
    if (!*a || !*b)
        return *a ? a : b;
    bool tight = a[strlen(a) - 1] == '*' || a[strlen(a) - 1] == '&' || *b == '[';
    return lwp_arena_printf(text->code->arena, tight ? "%s%s" : "%s %s", a, b);
}

static const char *text_parameters(struct type_text *text, Dwarf_Die *function, int depth)
{
    struct lwp_arena *arena = text->code->arena;
    const char *list = "";
    Dwarf_Die type;
    for (Dwarf_Die child = code_die_first(function); child.addr; child = code_die_after(&child)) {
        int tag = dwarf_tag(&child);
        const char *one = tag == DW_TAG_unspecified_parameters ? "..." : NULL;
        if (tag == DW_TAG_formal_parameter)
            one = type_die_of(&child, &type) ? text_declare(text, &type, "", depth + 1) : "?";
        if (!one)
            continue;
        if (strlen(list) + strlen(one) > TEXT_LIMIT)
            return "...";
        list = lwp_arena_printf(arena, *list ? "%s, %s" : "%s%s", list, one);
    }
    return *list || !type_die_flag(function, DW_AT_prototyped) ? list : "void";
}

/* A struct without a name, written out. */
static const char *text_members(struct type_text *text, Dwarf_Die *type, int depth)
{
    struct lwp_arena *arena = text->code->arena;
    const char *keyword = dwarf_tag(type) == DW_TAG_union_type ? "union" : "struct", *list = "";
    Dwarf_Die member;
    int count = 0;
    for (Dwarf_Die child = code_die_first(type); child.addr; child = code_die_after(&child)) {
        if (dwarf_tag(&child) != DW_TAG_member || !type_die_of(&child, &member))
            continue;
        const char *name = dwarf_diename(&child), *one = text_declare(text, &member, name ? name : "", depth + 1);
        uint64_t bits;
        if (code_die_number(&child, DW_AT_bit_size, &bits))
            one = lwp_arena_printf(arena, "%s : %llu", one, (unsigned long long)bits);
        if (++count > TEXT_MEMBERS || strlen(list) + strlen(one) > TEXT_LIMIT / 2)
            return lwp_arena_printf(arena, "%s { ... }", keyword);
        list = lwp_arena_printf(arena, "%s%s; ", list, one);
    }
    return lwp_arena_printf(arena, "%s { %s}", keyword, list);
}

static const char *text_named(struct type_text *text, Dwarf_Die *type, int depth)
{
    int tag = dwarf_tag(type);
    const char *keyword = tag == DW_TAG_structure_type     ? "struct"
                          : tag == DW_TAG_union_type       ? "union"
                          : tag == DW_TAG_enumeration_type ? "enum"
                                                           : NULL;
    Dwarf_Die definition = *type;
    if (code_die_is_struct(type) && type_die_strip(&definition, NULL)) /* the declaration may have no name */
        type = &definition;
    const char *name = code_die_name(text->code, type);
    if (!name && code_die_is_struct(type))
        return text_members(text, type, depth);
    if (!name)
        name = tag == DW_TAG_enumeration_type ? "int" : "?";
    else if (keyword && code_die_is_c(type))
        name = lwp_arena_printf(text->code->arena, "%s %s", keyword, name);
    return name;
}

static const char *text_array(struct type_text *text, Dwarf_Die *type, const char *inner)
{
    int dimensions = 0;
    for (Dwarf_Die child = code_die_first(type); child.addr && dimensions < 16; child = code_die_after(&child)) {
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        dimensions++;
        uint64_t count = type_die_dimension(&child);
        inner = count || dwarf_hasattr(&child, DW_AT_count)
                    ? lwp_arena_printf(text->code->arena, "%s[%llu]", inner, (unsigned long long)count)
                    : lwp_arena_printf(text->code->arena, "%s[]", inner);
    }
    return dimensions ? inner : lwp_arena_printf(text->code->arena, "%s[]", inner);
}

static const char *text_pointer(struct type_text *text, Dwarf_Die *type, const char *inner, const char *mark, int depth)
{
    Dwarf_Die target, plain;
    bool known = type_die_of(type, &target);
    plain = target;
    for (int i = 0; known && i < 8; i++) { /* cv, but not typedefs: those need no parentheses */
        int tag = dwarf_tag(&plain);
        if ((tag != DW_TAG_const_type && tag != DW_TAG_volatile_type) || !type_die_of(&plain, &plain))
            break;
    }
    int tag = known ? dwarf_tag(&plain) : 0;
    bool grouped = tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type;
    inner = lwp_arena_printf(text->code->arena, grouped ? "(%s%s)" : "%s%s", mark, inner);
    return text_declare(text, known ? &target : NULL, inner, depth + 1);
}

static const char *text_qualified(struct type_text *text, Dwarf_Die *type, const char *inner, const char *word,
                                  int depth)
{
    Dwarf_Die target;
    bool known = type_die_of(type, &target);
    if (known && type_die_is_pointer(&target)) /* after the star */
        return text_declare(text, &target, *inner ? text_join(text, word, inner) : word, depth + 1);
    const char *rest = text_declare(text, known ? &target : NULL, inner, depth + 1);
    return lwp_arena_printf(text->code->arena, "%s %s", word, rest);
}

static const char *text_declare(struct type_text *text, Dwarf_Die *type, const char *inner, int depth)
{
    Dwarf_Die target;
    if (depth > TEXT_DEPTH || ++text->pieces > TEXT_PIECES || strlen(inner) > TEXT_LIMIT)
        return text_join(text, "...", "");
    if (!type)
        return text_join(text, "void", inner);
    switch (dwarf_tag(type)) {
    case DW_TAG_pointer_type:
        return text_pointer(text, type, inner, "*", depth);
    case DW_TAG_reference_type:
        return text_pointer(text, type, inner, "&", depth);
    case DW_TAG_rvalue_reference_type:
        return text_pointer(text, type, inner, "&&", depth);
    case DW_TAG_const_type:
        return text_qualified(text, type, inner, "const", depth);
    case DW_TAG_volatile_type:
        return text_qualified(text, type, inner, "volatile", depth);
    case DW_TAG_restrict_type:
        return text_qualified(text, type, inner, code_die_is_c(type) ? "restrict" : "__restrict", depth);
    case DW_TAG_atomic_type:
        return text_qualified(text, type, inner, "_Atomic", depth);
    case DW_TAG_array_type:
        return text_declare(text, type_die_of(type, &target) ? &target : NULL, text_array(text, type, inner),
                            depth + 1);
    case DW_TAG_subroutine_type:
        inner = lwp_arena_printf(text->code->arena, "%s(%s)", inner, text_parameters(text, type, depth));
        return text_declare(text, type_die_of(type, &target) ? &target : NULL, inner, depth + 1);
    case DW_TAG_typedef: { /* those inside of templates say less than what they stand for */
        const char *name = code_die_name(text->code, type);
        if (name && strchr(name, '<') && type_die_of(type, &target))
            return text_declare(text, &target, inner, depth + 1);
        break;
    }
    default:
        break;
    }
    return text_join(text, text_named(text, type, depth), inner);
}

static const char *fortran_bounds(struct lwp_code *code, Dwarf_Die *array, bool deferred)
{
    const char *list = "";
    int dimensions = 0;
    for (Dwarf_Die child = code_die_first(array); child.addr && dimensions < OTHER_DIMENSIONS;
         child = code_die_after(&child)) {
        int64_t lower = 1, upper = 0;
        const char *one = deferred ? ":" : "*";
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        if (!code_die_bound(&child, DW_AT_lower_bound, &lower))
            lower = 1;
        if (!deferred && code_die_bound(&child, DW_AT_upper_bound, &upper))
            one = lower == 1 ? lwp_arena_printf(code->arena, "%lld", (long long)upper)
                             : lwp_arena_printf(code->arena, "%lld:%lld", (long long)lower, (long long)upper);
        list = lwp_arena_printf(code->arena, "%s%s%s", list, dimensions++ ? ", " : "", one);
    }
    return list;
}

/* A string's length is known where it is always the same; of 4 bytes for each character it says the bytes. */
static const char *fortran_character(struct lwp_code *code, Dwarf_Die *type)
{
    uint64_t bytes = 0;
    if (dwarf_tag(type) != DW_TAG_string_type || dwarf_hasattr(type, DW_AT_type))
        return NULL;
    if (dwarf_hasattr(type, DW_AT_string_length) || !code_die_number(type, DW_AT_byte_size, &bytes) || !bytes)
        return "character(len=:)";
    return lwp_arena_printf(code->arena, "character(len=%llu)", (unsigned long long)bytes);
}

/* gfortran's "__class__STAR_a", "__class_shapes_Body_p": class(*), allocatable and class(body), pointer. */
static const char *fortran_class(struct lwp_code *code, const char *name, const char **attributes)
{
    static const char prefix[] = "__class_";
    const size_t length = strlen(name), start = sizeof prefix - 1;
    if (strncmp(name, prefix, start) || length < start + 3 || name[length - 2] != '_' || !strchr("ap", name[length - 1]))
        return NULL;
    const size_t end = length - 2;
    size_t own = end;
    while (own > start && !(name[own - 1] == '_' && name[own] >= 'A' && name[own] <= 'Z'))
        own--;
    if (own == start || own == end)
        return NULL;
    *attributes = name[length - 1] == 'a' ? ", allocatable" : ", pointer";
    if (end - own == 4 && !strncmp(name + own, "STAR", 4))
        return "class(*)";
    return lwp_arena_printf(code->arena, "class(%c%.*s)", name[own] - 'A' + 'a', (int)(end - own - 1), name + own + 1);
}

/* "type(body), allocatable :: cells(:)", "real(kind=8), dimension(3)" without a name. */
static const char *text_fortran(struct lwp_code *code, Dwarf_Die *type, const char *name)
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
    const char *base = NULL;
    if (own && code_die_is_struct(&at) && !*attributes)
        base = fortran_class(code, own, &attributes);
    if (known && !own)
        base = fortran_character(code, &at);
    if (!base)
        base = own && code_die_is_struct(&at) ? lwp_arena_printf(arena, "type(%s)", own) : own ? own : "?";
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
        uint64_t count = 0;
        for (Dwarf_Die child = code_die_first(type); child.addr; child = code_die_after(&child)) {
            uint64_t value;
            if (dwarf_tag(&child) == DW_TAG_subrange_type && code_die_number(&child, DW_AT_count, &value))
                count = value;
        }
        return strlen(name) > OTHER_LIMIT
                   ? "?"
                   : lwp_arena_printf(code->arena, "[%s; %llu]", name, (unsigned long long)count);
    }
    name = rust_type(code, &next, depth + 1);
    return type_die_is_pointer(type) && strlen(name) < OTHER_LIMIT ? lwp_arena_printf(code->arena, "*%s", name) : name;
}

/* "next: Option<Box<Node>>"; "[f32; 3]" without a name. */
static const char *text_rust(struct lwp_code *code, Dwarf_Die *type, const char *name)
{
    const char *text = rust_type(code, type, 0);
    return code_intern(code, *name ? lwp_arena_printf(code->arena, "%s: %s", name, text) : text);
}

const char *type_die_declare(struct lwp_code *code, Dwarf_Die *type, const char *inner)
{
    struct type_text text = {.code = code};
    Dwarf_Die unit;
    if (type && dwarf_diecu(type, &unit, NULL, NULL))
        switch (type_die_language(&unit)) {
        case LWP_LANGUAGE_FORTRAN:
            return text_fortran(code, type, inner);
        case LWP_LANGUAGE_RUST:
            return text_rust(code, type, inner);
        default:
            break;
        }
    return code_intern(code, text_declare(&text, type, inner, 0));
}
