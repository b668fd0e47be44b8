/* Members by offset, with pointers as the languages have them: plain ones, references, Rust's Box and Option<Box> (in a
 * variant), Vec (whose pointer is to bytes; the T is in the name of its buffer), and Fortran's array descriptors, whose
 * first word is the address of the data.
 * Limits: members of variants and unions are taken only when all that cover the offset agree. */
#include "analysis/program/types/type_members.h"

#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_die.h"
#include "analysis/statistics/stride.h"

#include <dwarf.h>
#include <string.h>

enum { MEMBER_DEPTH = 16, MEMBER_NAME = 120, MEMBER_BUDGET = 5000 };

struct member_search {
    struct code_module *module;
    Dwarf_Die content; /* what the buffer around holds, when the pointer in it does not say */
    bool has_content, untyped;
    int budget;
};

uint64_t code_descriptor_bytes(Dwarf_Die *stripped)
{
    uint64_t dimensions = 0;
    if (dwarf_tag(stripped) != DW_TAG_array_type || !dwarf_hasattr(stripped, DW_AT_data_location))
        return 0;
    for (Dwarf_Die child = code_die_first(stripped); child.addr && dimensions < 15; child = code_die_after(&child))
        dimensions += dwarf_tag(&child) == DW_TAG_subrange_type;
    return 40 + 24 * dimensions;
}

bool code_pointee_itself(Dwarf_Die type, struct code_pointee *pointee)
{
    Dwarf_Die stripped = type, element;
    uint64_t elements;
    if (!type_die_strip(&stripped, NULL) || dwarf_tag(&stripped) == DW_TAG_subroutine_type)
        return false;
    const char *name = dwarf_diename(&stripped);
    pointee->type = type;
    pointee->shares = name && strncmp(name, ".omp_data_s", 11) == 0;
    pointee->descriptor = code_descriptor_bytes(&stripped) > 0;
    pointee->of_caller = false;
    if (dwarf_tag(&stripped) == DW_TAG_array_type) {
        if (!type_die_array(&stripped, &element, &elements))
            return false;
        pointee->type = element;
    }
    if (!type_die_bytes(&pointee->type, &pointee->bytes))
        pointee->bytes = 0;
    return true;
}

bool code_pointee_of(Dwarf_Die type, struct code_pointee *pointee)
{
    Dwarf_Die target;
    return type_die_strip(&type, NULL) && type_die_is_pointer(&type) && type_die_of(&type, &target) &&
           code_pointee_itself(target, pointee);
}

static bool member_find(struct member_search *search, Dwarf_Die type, uint64_t offset, struct code_pointee *pointee,
                        int depth);

static bool member_covers(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, uint64_t *start)
{
    Dwarf_Die stripped;
    uint64_t bytes;
    if (type_die_flag(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_bit_size) || !type_die_of(member, type) ||
        !type_die_offset(member, start) || offset < *start)
        return false;
    stripped = *type;
    if (!type_die_strip(&stripped, NULL))
        return false;
    if (!(bytes = code_descriptor_bytes(&stripped)) && !type_die_bytes(type, &bytes))
        bytes = dwarf_tag(&stripped) == DW_TAG_array_type ? UINT64_MAX : 0; /* a flexible array */
    if (!bytes && dwarf_tag(&stripped) == DW_TAG_array_type)
        bytes = UINT64_MAX;
    return offset - *start < bytes;
}

/* Rust's Vec<T> keeps a pointer to bytes; the T is a parameter of its RawVec. */
static void member_content(struct member_search *search, Dwarf_Die *type)
{
    const char *name = dwarf_diename(type);
    Dwarf_Die parameter;
    if (!name || strncmp(name, "RawVec<", 7))
        return;
    if (code_die_named(type, DW_TAG_template_type_parameter, "T", &parameter))
        search->has_content |= type_die_of(&parameter, &search->content);
}

/* Structures without a name of their own ("typedef struct { ... } Table;"): declared in one place of one header. A unit's own file has no
 * number that libdw knows, but what is declared there is in no other unit. */
static bool member_declared_once(Dwarf_Die *a, Dwarf_Die *b)
{
    const char *first = dwarf_decl_file(a), *second = dwarf_decl_file(b);
    int x = 0, y = 0;
    return first && second && !dwarf_decl_line(a, &x) && !dwarf_decl_line(b, &y) && x == y && !strcmp(first, second);
}

/* The same type, perhaps from two units. */
static bool member_same_type(Dwarf_Die a, Dwarf_Die b)
{
    uint64_t x = 0, y = 0;
    if (!type_die_strip(&a, NULL) || !type_die_strip(&b, NULL))
        return false;
    if (a.addr == b.addr)
        return true;
    const char *first = dwarf_diename(&a), *second = dwarf_diename(&b);
    if (dwarf_tag(&a) != dwarf_tag(&b))
        return false;
    if (type_die_is_pointer(&a)) {
        Dwarf_Die to, other;
        return type_die_of(&a, &to) && type_die_of(&b, &other) && to.addr == other.addr;
    }
    bool named = first && second ? !strcmp(first, second) : !first && !second && code_die_is_struct(&a) && member_declared_once(&a, &b);
    return named && type_die_bytes(&a, &x) && type_die_bytes(&b, &y) && x == y;
}

/* Inside of the library's containers and pointers: their members are nobody's names. */
static bool member_is_hidden(Dwarf_Die *type)
{
    static const char *const names[] = {"Vec<",     "RawVec<", "RawVecInner<", "Unique<",   "NonNull<",   "Iter<", "IterMut<",
                                        "Box<",     "&[",      "&mut [",       "RawTable<", "Option<",    "Rc<",   "Arc<",
                                        "RcInner<", "RcBox<",  "ArcInner<",    "RefCell<",  "UnsafeCell<"};
    const char *name = dwarf_diename(type);
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Of several members at the offset: they must agree. */
static bool member_among(struct member_search *search, Dwarf_Die *parent, uint64_t offset, struct code_pointee *pointee,
                         int depth, bool *clash)
{
    Dwarf_Die type;
    uint64_t start;
    bool found = false, hidden = member_is_hidden(parent);
    for (Dwarf_Die child = code_die_first(parent); child.addr && --search->budget > 0; child = code_die_after(&child)) {
        struct code_pointee one = {.name = pointee->name};
        int tag = dwarf_tag(&child);
        bool hit = false;
        if (tag == DW_TAG_variant_part || tag == DW_TAG_variant) {
            hit = member_among(search, &child, offset, &one, depth + 1, clash);
        } else if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
                   member_covers(&child, &type, offset, &start)) {
            const char *name = tag == DW_TAG_member ? dwarf_diename(&child) : NULL;
            bool plain =
                name && !hidden && strncmp(name, "_M_", 3) && strncmp(name, "__", 2) && strlen(one.name) < MEMBER_NAME;
            if (plain)
                one.name = lwp_arena_printf(search->module->code->arena, *one.name ? "%s.%s" : "%s%s", one.name, name);
            hit = member_find(search, type, offset - start, &one, depth + 1);
        }
        if (!hit)
            continue;
        if (found && (one.descriptor != pointee->descriptor || !member_same_type(one.type, pointee->type)))
            *clash = true;
        if (!found)
            *pointee = one;
        found = true;
    }
    return found && !*clash;
}

static bool member_find(struct member_search *search, Dwarf_Die type, uint64_t offset, struct code_pointee *pointee,
                        int depth)
{
    Dwarf_Die stripped = type, element;
    uint64_t bytes, elements;
    bool clash = false;
    if (depth > MEMBER_DEPTH || !type_die_strip(&stripped, NULL))
        return false;
    if (code_descriptor_bytes(&stripped)) {
        if (offset || !code_pointee_itself(stripped, pointee))
            return false;
        pointee->descriptor = false;
        return true;
    }
    if (dwarf_tag(&stripped) == DW_TAG_array_type)
        return type_die_array(&stripped, &element, &elements) && type_die_bytes(&element, &bytes) && bytes &&
               member_find(search, element, offset % bytes, pointee, depth + 1);
    if (type_die_is_pointer(&stripped)) {
        if (offset)
            return false;
        if (search->has_content)
            return code_pointee_itself(search->content, pointee);
        if (search->untyped && !dwarf_hasattr(&stripped, DW_AT_type)) {
            *pointee = (struct code_pointee){.type = stripped, .untyped = true, .name = pointee->name};
            return true;
        }
        return code_pointee_of(stripped, pointee);
    }
    if (!code_die_is_struct(&stripped))
        return false;
    member_content(search, &stripped);
    return member_among(search, &stripped, offset, pointee, depth, &clash);
}

static bool member_at(struct code_module *module, Dwarf_Die type, uint64_t offset, bool untyped, struct code_pointee *pointee)
{
    struct member_search search = {.module = module, .untyped = untyped, .budget = MEMBER_BUDGET};
    const char *outer = pointee->name;
    if (!member_find(&search, type, offset, pointee, 0)) {
        pointee->name = outer;
        return false;
    }
    pointee->name = code_intern(module->code, pointee->name);
    return true;
}

bool code_pointer_at(struct code_module *module, Dwarf_Die type, uint64_t offset, struct code_pointee *pointee)
{
    return member_at(module, type, offset, false, pointee);
}

/* The same with no name around it, found once: classes have hundreds of members, and loops come to each again. */
static bool member_pointer(struct code_module *module, Dwarf_Die type, uint64_t offset, bool untyped, struct code_pointee *pointee)
{
    bool fresh;
    if (!module->types)
        module->types = lwp_zeroed(1, sizeof *module->types);
    void **kept = code_kept_at(&module->types->members, lwp_hash_mix((uintptr_t)type.addr, 2 * offset + untyped), &fresh);
    if (fresh) {
        struct code_pointee found = {.name = ""};
        if (member_at(module, type, offset, untyped, &found)) {
            *kept = lwp_arena_alloc(module->code->arena, 1, sizeof found);
            *(struct code_pointee *)*kept = found;
        }
    }
    if (*kept)
        *pointee = *(const struct code_pointee *)*kept;
    return *kept;
}

/* An array member whose elements are `modulus` bytes: the address is somewhere in it. */
static bool member_in_array(Dwarf_Die type, uint64_t offset, uint64_t modulus, int depth)
{
    Dwarf_Die stripped = type, element, member;
    uint64_t start, bytes, elements;
    if (depth > MEMBER_DEPTH || !type_die_strip(&stripped, NULL))
        return false;
    if (dwarf_tag(&stripped) == DW_TAG_array_type && !code_descriptor_bytes(&stripped)) {
        if (!type_die_array(&stripped, &element, &elements) || !type_die_bytes(&element, &bytes) || !bytes)
            return false;
        return modulus % bytes == 0 || member_in_array(element, offset % bytes, modulus, depth + 1);
    }
    if (!code_die_is_struct(&stripped))
        return false;
    for (Dwarf_Die child = code_die_first(&stripped); child.addr; child = code_die_after(&child))
        if ((dwarf_tag(&child) == DW_TAG_member || dwarf_tag(&child) == DW_TAG_inheritance) &&
            member_covers(&child, &member, offset, &start))
            return member_in_array(member, offset - start, modulus, depth + 1);
    return false;
}

bool code_pointer_through(struct code_module *module, const struct code_pointee *from, int64_t offset, uint64_t modulus, bool untyped,
                          struct code_pointee *pointee)
{
    struct lwp_arena *arena = module->code->arena;
    pointee->name = "";
    if (from->descriptor) {
        *pointee = *from;
        pointee->descriptor = false;
        return offset == 0 && modulus == 0;
    }
    if (!from->bytes)
        return false;
    int64_t size = (int64_t)from->bytes;
    if (modulus && modulus % from->bytes &&
        (offset < 0 || offset >= size || !member_in_array(from->type, (uint64_t)offset, modulus, 0)))
        return false;
    if (!member_pointer(module, from->type, lwp_stride_residue(offset, from->bytes), untyped, pointee))
        return false;
    /* "list->next" of a list is a "list"; and of "a->b->c" the last two are the name: it does not grow for ever. */
    const char *last = strstr(from->name, "->") ? strstr(from->name, "->") + 2 : from->name;
    if (member_same_type(pointee->type, from->type))
        pointee->name = from->name;
    else if (*pointee->name && *from->name)
        pointee->name = code_intern(module->code, lwp_arena_printf(arena, "%s->%s", last, pointee->name));
    else if (!*pointee->name && !(from->of_caller && !offset && !modulus))
        pointee->name = from->name;
    return true;
}

/* What is looked for, and how far. */
struct member_held {
    Dwarf_Die inner;
    bool alike; /* any number of the same width and kind, any pointer */
    int budget;
};

enum member_number { MEMBER_OTHER, MEMBER_INTEGER, MEMBER_FLOAT, MEMBER_POINTER };

static enum member_number member_number(Dwarf_Die *stripped)
{
    uint64_t encoding;
    int tag = dwarf_tag(stripped);
    if (type_die_is_pointer(stripped))
        return MEMBER_POINTER;
    if (tag == DW_TAG_enumeration_type)
        return MEMBER_INTEGER;
    if (tag != DW_TAG_base_type || !code_die_number(stripped, DW_AT_encoding, &encoding))
        return MEMBER_OTHER;
    return encoding == DW_ATE_float || encoding == DW_ATE_complex_float || encoding == DW_ATE_decimal_float ? MEMBER_FLOAT : MEMBER_INTEGER;
}

static bool member_alike(Dwarf_Die a, Dwarf_Die b)
{
    uint64_t x, y;
    if (!type_die_strip(&a, NULL) || !type_die_strip(&b, NULL) || !type_die_bytes(&a, &x) || !type_die_bytes(&b, &y) || x != y)
        return false;
    enum member_number kind = member_number(&a);
    return kind != MEMBER_OTHER && kind == member_number(&b);
}

/* A member as it is written again in another struct: pointers may be to something else there. */
static bool member_repeats(Dwarf_Die a, Dwarf_Die b, int depth)
{
    uint64_t x, y;
    Dwarf_Die first, second;
    if (member_same_type(a, b) || member_alike(a, b))
        return true;
    return depth < MEMBER_DEPTH && type_die_strip(&a, NULL) && type_die_strip(&b, NULL) && type_die_array(&a, &first, &x) &&
           type_die_array(&b, &second, &y) && x == y && member_repeats(first, second, depth + 1);
}

/* The member that the child is, or the next one after it. */
static Dwarf_Die member_from(Dwarf_Die child)
{
    while (child.addr && (dwarf_tag(&child) != DW_TAG_member || type_die_flag(&child, DW_AT_external)))
        child = code_die_after(&child);
    return child;
}

/* As C derives without a member for the base: a struct that begins with all members of the smaller one, of the same names in the same
 * places. A single one may be so by chance. */
static bool member_begins_as(Dwarf_Die *outer, struct member_held *held)
{
    Dwarf_Die base = held->inner, type, other;
    uint64_t outer_bytes, base_bytes, at, place;
    int count = 0;
    if (!type_die_strip(&base, NULL) || dwarf_tag(&base) != DW_TAG_structure_type || dwarf_tag(outer) != DW_TAG_structure_type ||
        !type_die_bytes(&base, &base_bytes) || !type_die_bytes(outer, &outer_bytes) || base_bytes >= outer_bytes)
        return false;
    Dwarf_Die same = member_from(code_die_first(outer));
    for (Dwarf_Die child = member_from(code_die_first(&base)); child.addr; child = member_from(code_die_after(&child))) {
        const char *name = dwarf_diename(&child), *own = same.addr ? dwarf_diename(&same) : NULL;
        if (--held->budget <= 0 || !name || !own || strcmp(name, own) || dwarf_hasattr(&child, DW_AT_bit_size) ||
            dwarf_hasattr(&same, DW_AT_bit_size) || !type_die_of(&child, &type) || !type_die_of(&same, &other) ||
            !type_die_offset(&child, &at) || !type_die_offset(&same, &place) || at != place || !member_repeats(type, other, 0))
            return false;
        same = member_from(code_die_after(&same));
        count++;
    }
    return count > 1;
}

static bool member_holds(Dwarf_Die outer, uint64_t offset, struct member_held *held, int depth);

/* The members of a struct, or of a variant of a Rust enum. */
static bool member_holds_among(Dwarf_Die *parent, uint64_t offset, struct member_held *held, int depth)
{
    bool discriminates = dwarf_tag(parent) == DW_TAG_variant_part; /* its own member says which variant it is */
    Dwarf_Die type;
    uint64_t start;
    for (Dwarf_Die child = code_die_first(parent); child.addr && --held->budget > 0; child = code_die_after(&child)) {
        int tag = dwarf_tag(&child);
        bool variant = tag == DW_TAG_variant_part || tag == DW_TAG_variant;
        if (variant && depth < MEMBER_DEPTH && member_holds_among(&child, offset, held, depth + 1))
            return true;
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && (held->alike || !discriminates) &&
            member_covers(&child, &type, offset, &start) && member_holds(type, offset - start, held, depth + 1))
            return true;
    }
    return false;
}

static bool member_holds(Dwarf_Die outer, uint64_t offset, struct member_held *held, int depth)
{
    Dwarf_Die stripped = outer, element;
    uint64_t bytes, elements;
    if (depth > MEMBER_DEPTH || !type_die_strip(&stripped, NULL))
        return false;
    if (offset == 0 && (member_same_type(stripped, held->inner) || (held->alike && member_alike(stripped, held->inner))))
        return true;
    if (dwarf_tag(&stripped) == DW_TAG_array_type) {
        if (code_descriptor_bytes(&stripped) || !type_die_array(&stripped, &element, &elements) || !type_die_bytes(&element, &bytes) ||
            !bytes)
            return false;
        if (held->alike && bytes == 1 && type_die_bytes(&held->inner, &bytes))
            return bytes && (!elements || (offset < elements && bytes <= elements - offset)); /* room for anything */
        return member_holds(element, offset % bytes, held, depth + 1);
    }
    return code_die_is_struct(&stripped) &&
           (member_holds_among(&stripped, offset, held, depth) || (offset == 0 && member_begins_as(&stripped, held)));
}

bool code_type_holds(Dwarf_Die outer, uint64_t offset, Dwarf_Die inner)
{
    struct member_held held = {.inner = inner, .budget = MEMBER_BUDGET};
    return member_holds(outer, offset, &held, 0);
}

bool code_type_reads(Dwarf_Die outer, uint64_t offset, Dwarf_Die inner)
{
    struct member_held held = {.inner = inner, .alike = true, .budget = MEMBER_BUDGET};
    return member_holds(outer, offset, &held, 0);
}
