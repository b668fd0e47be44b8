/* A struct's members from DWARF, flattened to a list of fields: bases and anonymous structs are opened, anonymous
 * unions stay one field, bit-fields that share a byte are one field, and so is what a Rust enum's variants keep in the
 * same bytes. What a node of the C++ library keeps for the program is opened, too: "price" of a std::list's, "first" and
 * "second.price" of a std::map's; and what Rust's Rc leads to. Debug info that contradicts itself (members outside of the struct, cycles,
 * thousands of fields) gives none at all. */
#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_members.h"
#include "base/order.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_LIMIT = 4096, NEST_LIMIT = 16, NAMES = 16, PARTS = 32, NAME_LIMIT = 100 };

struct flatten {
    struct lwp_code *code;
    struct flat_field {
        struct lwp_field field;
        struct lwp_parts parts;
        bool bits;
    } * fields;
    size_t count, capacity;
    bool is_class, is_derived, is_virtual, is_rust, broken;
    bool is_counted; /* what Rust's Rc or Arc leads to */
    bool is_part; /* of a member: its own members are not opened further */
    const char *inherited; /* the base class that is opened; NULL: none */
    bool of_library;       /* ... and not the program's */
    const char *path;      /* before the names of what is opened in a node: "second." */
    struct code_payload payload;
};

static void flatten_struct(struct flatten *flat, Dwarf_Die *type, uint64_t base, int depth);

static void flatten_add(struct flatten *flat, struct lwp_field field, struct lwp_parts parts, bool bits)
{
    struct flat_field *last = flat->count ? &flat->fields[flat->count - 1] : NULL;
    if (bits && last && last->bits && field.offset < last->field.offset + last->field.bytes) {
        uint64_t end = field.offset + field.bytes, start = last->field.offset;
        last->field.bytes = (end > start + last->field.bytes ? end : start + last->field.bytes) - start;
        if (field.alignment > last->field.alignment)
            last->field.alignment = field.alignment;
        last->field.name = lwp_arena_printf(flat->code->arena, "%s, %s", last->field.name, field.name);
        last->field.declaration =
            lwp_arena_printf(flat->code->arena, "%s; %s", last->field.declaration, field.declaration);
        return;
    }
    LWP_GROW(&flat->fields, flat->count, &flat->capacity);
    flat->fields[flat->count++] = (struct flat_field){field, parts, bits};
}

/* The bits of a bit-field from the struct's start: DW_AT_data_bit_offset, or DWARF 3's count from the other end. */
static bool flatten_bits(Dwarf_Die *member, Dwarf_Die *type, uint64_t offset, uint64_t *first, uint64_t *count)
{
    uint64_t value, storage;
    if (!code_die_number(member, DW_AT_bit_size, count) || !*count || *count > 128)
        return false;
    if (code_die_number(member, DW_AT_data_bit_offset, &value)) {
        *first = offset * 8 + value;
        return value < (uint64_t)1 << 48;
    }
    if (!code_die_number(member, DW_AT_bit_offset, &value))
        value = 0;
    if (!code_die_number(member, DW_AT_byte_size, &storage) && !type_die_bytes(type, &storage))
        return false;
    if (storage > 16 || value + *count > storage * 8)
        return false;
    *first = offset * 8 + storage * 8 - value - *count;
    return true;
}

/* "number, real": what a union without a name is known by. */
static const char *flatten_names(struct flatten *flat, Dwarf_Die *type, bool known)
{
    const char *names = "";
    int count = 0;
    if (!known || !code_die_is_struct(type))
        return names;
    for (Dwarf_Die child = code_die_first(type); child.addr && count < NAMES; child = code_die_after(&child)) {
        const char *name = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child) : NULL;
        if (name && strlen(name) < NAME_LIMIT)
            names = lwp_arena_printf(flat->code->arena, "%s%s%s", names, count++ ? ", " : "", name);
    }
    return names;
}

/* The members of a member, each with the whole path as its name; none when there is anything odd about them. */
static struct lwp_parts flatten_parts(struct flatten *flat, const struct lwp_field *field, Dwarf_Die *type, int depth)
{
    struct flatten inner = {.code = flat->code, .is_rust = flat->is_rust, .is_part = true};
    flatten_struct(&inner, type, field->offset, depth + 1);
    bool fine = !inner.broken && !inner.is_virtual && inner.count > 1 && inner.count <= PARTS && strlen(field->name) < NAME_LIMIT;
    struct lwp_field *parts = lwp_arena_alloc(flat->code->arena, fine ? inner.count : 0, sizeof *parts);
    for (size_t i = 0; fine && i < inner.count; i++) {
        parts[i] = inner.fields[i].field;
        fine = parts[i].offset - field->offset < field->bytes && strlen(parts[i].name) < NAME_LIMIT;
        parts[i].name = lwp_arena_printf(flat->code->arena, "%s.%s", field->name, parts[i].name);
    }
    struct lwp_parts made = {parts, fine ? (uint32_t)inner.count : 0};
    free(inner.fields);
    return made;
}

/* Whether no member has a name that is the library's. */
static bool flatten_is_plain(Dwarf_Die *type, int depth)
{
    Dwarf_Die parent;
    if (dwarf_tag(type) == DW_TAG_union_type || depth > NEST_LIMIT)
        return false;
    for (Dwarf_Die child = code_die_first(type); child.addr; child = code_die_after(&child)) {
        const char *name = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child) : NULL;
        if (name && (strncmp(name, "_M_", 3) == 0 || strncmp(name, "__", 2) == 0))
            return false;
        if (dwarf_tag(&child) == DW_TAG_inheritance &&
            !(type_die_of(&child, &parent) && type_die_strip(&parent, NULL) && flatten_is_plain(&parent, depth + 1)))
            return false;
    }
    return true;
}

static bool flatten_is_pair(Dwarf_Die *type)
{
    const char *name = dwarf_diename(type);
    Dwarf_Die member;
    return name && strncmp(name, "pair", 4) == 0 && (name[4] == '<' || !name[4]) && code_die_named(type, DW_TAG_member, "first", &member) &&
           code_die_named(type, DW_TAG_member, "second", &member);
}

/* What a container's node keeps for the program; the member's `type`, stripped. libc++ has a type of its own around pairs. */
static bool flatten_opens(const char *name, Dwarf_Die *type, Dwarf_Die *stripped)
{
    Dwarf_Die held, inner;
    if (!name || (!type_die_storage(type, &held) && strcmp(name, "__value_") != 0))
        return false;
    for (Dwarf_Die child = code_die_first(stripped); child.addr; child = code_die_after(&child)) {
        const char *within = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child) : NULL;
        if (within && strncmp(within, "__cc", 4) == 0 && type_die_of(&child, &inner) && type_die_strip(&inner, NULL) &&
            flatten_is_pair(&inner)) {
            *stripped = inner;
            break;
        }
    }
    return flatten_is_plain(stripped, 0);
}

/* The members of what is kept; of a pair's those of its halves. */
static void flatten_payload(struct flatten *flat, Dwarf_Die *type, uint64_t base, int depth)
{
    const char *inherited = flat->inherited;
    const bool of_library = flat->of_library;
    flat->path = "";
    flat->inherited = NULL;
    flat->of_library = false;
    if (!flatten_is_pair(type))
        flat->payload = (struct code_payload){*type, base};
    flatten_struct(flat, type, base, depth + 1);
    flat->path = NULL;
    flat->inherited = inherited;
    flat->of_library = of_library;
}

/* One half of a pair in a node, where it has members of its own that the program gave it. */
static bool flatten_half(struct flatten *flat, const char *name, Dwarf_Die *type, uint64_t base, int depth)
{
    if (!flat->path || *flat->path || !name || flat->payload.die.addr || !flatten_is_plain(type, 0))
        return false;
    const bool second = strcmp(name, "second") == 0;
    flat->path = second ? "second." : "first.";
    flatten_struct(flat, type, base, depth + 1);
    if (second)
        flat->payload = (struct code_payload){*type, base};
    flat->path = "";
    return true;
}

/* The cells and locks of Rust's library around a value. */
static bool flatten_is_cell(const char *name)
{
    static const char *const cells[] = {"RefCell<", "Cell<", "UnsafeCell<", "OnceCell<", "Mutex<", "RwLock<"};
    for (size_t i = 0; name && i < sizeof cells / sizeof *cells; i++)
        if (strncmp(name, cells[i], strlen(cells[i])) == 0)
            return true;
    return false;
}

/* Whether it is a structure of the program's, or cells and locks around one. */
static bool flatten_is_kept(struct lwp_code *code, Dwarf_Die *type, int depth)
{
    Dwarf_Die unit, inner;
    if (!code_die_is_struct(type) || dwarf_tag(type) == DW_TAG_union_type || depth > NEST_LIMIT || !dwarf_diecu(type, &unit, NULL, NULL))
        return false;
    if (type_die_owner(code, type, &unit) != LWP_TYPE_OF_SYSTEM)
        return true;
    for (Dwarf_Die child = code_die_first(type); child.addr && flatten_is_cell(dwarf_diename(type)); child = code_die_after(&child))
        if (dwarf_tag(&child) == DW_TAG_member && type_die_of(&child, &inner) && type_die_strip(&inner, NULL) &&
            flatten_is_kept(code, &inner, depth + 1))
            return true;
    return false;
}

/* What is counted is the program's, and lies in cells and locks of the library. */
static bool flatten_counted(struct flatten *flat, Dwarf_Die *type, uint64_t base, int depth)
{
    if (!flat->is_counted || flat->payload.die.addr || !flatten_is_kept(flat->code, type, 0))
        return false;
    if (flatten_is_cell(dwarf_diename(type)))
        flatten_struct(flat, type, base, depth + 1);
    else
        flatten_payload(flat, type, base, depth);
    return true;
}

static void flatten_member(struct flatten *flat, Dwarf_Die *member, uint64_t base, int depth)
{
    Dwarf_Die type, stripped;
    uint64_t offset, bytes, first_bit, bits;
    if (type_die_flag(member, DW_AT_external) || type_die_flag(member, DW_AT_declaration))
        return; /* a static member */
    if (!type_die_of(member, &type) || !type_die_offset(member, &offset)) {
        flat->broken = true;
        return;
    }
    const char *name = dwarf_diename(member);
    if (name && !strncmp(name, "__", 2) && name[2] >= '0' && name[2] <= '9' && flat->is_rust)
        name += 2; /* of a tuple */
    stripped = type;
    bool known = type_die_strip(&stripped, NULL), is_bits = dwarf_hasattr(member, DW_AT_bit_size);
    bool is_array = known && dwarf_tag(&stripped) == DW_TAG_array_type;
    bool is_struct = known && code_die_is_struct(&stripped) && dwarf_tag(&stripped) != DW_TAG_union_type;
    const uint64_t descriptor = known && !is_bits ? code_descriptor_bytes(&stripped) : 0;
    if (!name && is_struct) {
        flatten_struct(flat, &stripped, base + offset, depth + 1);
        return;
    }
    if (is_struct && !flat->is_part && !is_bits && flatten_opens(name, &type, &stripped)) {
        flatten_payload(flat, &stripped, base + offset, depth);
        return;
    }
    if (is_struct && !is_bits && flatten_counted(flat, &stripped, base + offset, depth))
        return;
    if (is_struct && !is_bits && flatten_half(flat, name, &stripped, base + offset, depth))
        return;
    struct lwp_parts parts = {NULL, 0};
    struct lwp_field field = {.name = code_intern(flat->code, name ? name : flatten_names(flat, &stripped, known))};
    if (flat->path && *flat->path)
        field.name = lwp_arena_printf(flat->code->arena, "%s%s", flat->path, field.name);
    if (is_bits && flatten_bits(member, &type, offset, &first_bit, &bits)) {
        offset = first_bit / 8;
        bytes = (first_bit + bits - 1) / 8 - offset + 1;
    } else if (descriptor) {
        bytes = descriptor; /* the elements lie elsewhere */
    } else if (!is_bits && is_array && !type_die_bytes(&type, &bytes)) {
        bytes = 0; /* nobody knows its length */
    } else if (is_bits || !known || !type_die_bytes(&type, &bytes)) {
        flat->broken = true;
        return;
    }
    if (!bytes && !is_array)
        return; /* an empty member */
    field.offset = base + offset;
    field.bytes = bytes;
    field.type = type_die_declare(flat->code, &type, "");
    field.declaration = type_die_declare(flat->code, &type, name ? name : "");
    if (is_bits)
        field.declaration =
            lwp_arena_printf(flat->code->arena, "%s : %llu", field.declaration, (unsigned long long)bits);
    field.inherited = flat->inherited;
    field.of_library = flat->of_library;
    field.alignment = descriptor ? sizeof(uint64_t) : type_die_alignment(&type);
    type_die_own_alignment(member, &field.alignment);
    if (name && is_struct && !is_bits && !flat->is_part && depth < NEST_LIMIT)
        parts = flatten_parts(flat, &field, &stripped, depth);
    flatten_add(flat, field, parts, is_bits);
}

static int flat_compare(const void *a, const void *b)
{
    const struct flat_field *x = a, *y = b;
    if (x->field.offset != y->field.offset)
        return x->field.offset < y->field.offset ? -1 : 1;
    if (x->field.bytes != y->field.bytes)
        return x->field.bytes < y->field.bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Adds the fields of one variant, named "Circle.radius". */
static void flatten_variant(struct flatten *flat, struct flatten *all, Dwarf_Die *variant, uint64_t base, int depth)
{
    Dwarf_Die type;
    uint64_t offset;
    for (Dwarf_Die child = code_die_first(variant); child.addr && !all->broken; child = code_die_after(&child)) {
        struct flatten one = {.code = flat->code, .is_rust = flat->is_rust};
        const char *name = dwarf_diename(&child);
        if (dwarf_tag(&child) != DW_TAG_member || !type_die_of(&child, &type) || !type_die_offset(&child, &offset) ||
            !type_die_strip(&type, NULL) || !code_die_is_struct(&type))
            continue;
        flatten_struct(&one, &type, base + offset, depth + 1);
        all->broken |= one.broken;
        for (size_t i = 0; i < one.count && all->count < FIELD_LIMIT; i++) {
            struct lwp_field *field = &one.fields[i].field;
            if (name && strlen(name) < NAME_LIMIT && strlen(field->name) < NAME_LIMIT)
                field->name = lwp_arena_printf(flat->code->arena, "%s.%s", name, field->name);
            LWP_GROW(&all->fields, all->count, &all->capacity);
            all->fields[all->count++] = one.fields[i];
        }
        free(one.fields);
    }
}

/* Rust's enum: what the variants keep in the same bytes is one field; then the discriminant, unless they hide it. */
static void flatten_variants(struct flatten *flat, Dwarf_Die *part, uint64_t base, int depth)
{
    struct flatten all = {.code = flat->code};
    struct lwp_field tag = {.bytes = 0};
    Dwarf_Die type;
    for (Dwarf_Die child = code_die_first(part); child.addr && !all.broken; child = code_die_after(&child))
        if (dwarf_tag(&child) == DW_TAG_variant)
            flatten_variant(flat, &all, &child, base, depth);
        else if (dwarf_tag(&child) == DW_TAG_member && type_die_of(&child, &type) &&
                 type_die_offset(&child, &tag.offset) && type_die_bytes(&type, &tag.bytes)) {
            tag.offset += base;
            tag.name = "discriminant";
            tag.type = type_die_declare(flat->code, &type, "");
            tag.declaration = type_die_declare(flat->code, &type, tag.name);
            tag.alignment = type_die_alignment(&type);
        }
    LWP_SORT(all.fields, all.count, flat_compare);
    for (size_t i = 0; i < all.count; i++) {
        struct lwp_field *field = &all.fields[i].field;
        if (field->offset < tag.offset + tag.bytes && tag.offset < field->offset + field->bytes)
            tag.bytes = 0;
        all.fields[i].bits = true; /* joins those that share bytes */
    }
    if (tag.bytes)
        flatten_add(flat, tag, (struct lwp_parts){NULL, 0}, false);
    for (size_t i = 0; i < all.count; i++)
        flatten_add(flat, all.fields[i].field, (struct lwp_parts){NULL, 0}, true);
    flat->broken |= all.broken;
    free(all.fields);
}

static void flatten_base(struct flatten *flat, Dwarf_Die *parent, uint64_t base, int depth)
{
    const char *outer = flat->inherited;
    const bool outer_of_library = flat->of_library;
    Dwarf_Die unit;
    flat->inherited = code_die_name(flat->code, parent);
    flat->of_library |= dwarf_diecu(parent, &unit, NULL, NULL) && type_die_owner(flat->code, parent, &unit) == LWP_TYPE_OF_SYSTEM;
    flatten_struct(flat, parent, base, depth);
    flat->inherited = outer;
    flat->of_library = outer_of_library;
}

static void flatten_struct(struct flatten *flat, Dwarf_Die *type, uint64_t base, int depth)
{
    Dwarf_Die parent;
    uint64_t offset;
    if (depth > NEST_LIMIT) {
        flat->broken = true;
        return;
    }
    for (Dwarf_Die child = code_die_first(type); child.addr && !flat->broken; child = code_die_after(&child)) {
        if (flat->count > FIELD_LIMIT)
            flat->broken = true;
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_member)
            flatten_member(flat, &child, base, depth);
        else if (tag == DW_TAG_variant_part)
            flatten_variants(flat, &child, base, depth);
        else if (tag == DW_TAG_inheritance && !type_die_offset(&child, &offset))
            flat->is_virtual = true; /* which bytes are a virtual base's is not said */
        else if (tag == DW_TAG_inheritance && type_die_of(&child, &parent) && type_die_strip(&parent, NULL) &&
                 code_die_is_struct(&parent))
            flatten_base(flat, &parent, base + offset, depth + 1);
        flat->is_derived |= tag == DW_TAG_inheritance || (tag == DW_TAG_member && type_die_flag(&child, DW_AT_artificial));
        flat->is_class |=
            tag == DW_TAG_inheritance || (tag == DW_TAG_subprogram && !type_die_flag(&child, DW_AT_artificial));
    }
}

/* Virtual bases are placed after all else, once, however many classes derive from them. */
static void flatten_virtual_bases(struct flatten *flat, uint64_t bytes)
{
    uint64_t end = 0;
    for (size_t i = 0; i < flat->count; i++) {
        const struct lwp_field *field = &flat->fields[i].field;
        end = field->offset + field->bytes > end ? field->offset + field->bytes : end;
    }
    if (end >= bytes)
        return;
    const char *declaration = lwp_arena_printf(flat->code->arena, "char virtual_bases[%llu]", (unsigned long long)(bytes - end));
    flatten_add(
        flat,
        (struct lwp_field){
            .name = "virtual_bases", .type = "char", .declaration = declaration, .offset = end, .bytes = bytes - end, .alignment = 1},
        (struct lwp_parts){NULL, 0}, false);
}

bool code_type_fields(struct lwp_code *code, struct lwp_type *type, Dwarf_Die *die, struct code_payload *payload)
{
    struct flatten flat = {.code = code, .is_rust = type->language == LWP_LANGUAGE_RUST};
    flat.is_counted = flat.is_rust && type->owner == LWP_TYPE_OF_SYSTEM && lwp_types_counts(type->name);
    flat.of_library = flat.is_counted;
    flatten_struct(&flat, die, 0, 0);
    flat.broken |= flat.is_virtual && flat.payload.die.addr;
    if (flat.is_virtual)
        flatten_virtual_bases(&flat, type->bytes);
    for (size_t i = 0; i < flat.count; i++)
        if (flat.fields[i].field.offset > type->bytes ||
            flat.fields[i].field.bytes > type->bytes - flat.fields[i].field.offset)
            flat.broken = true;
    LWP_SORT(flat.fields, flat.count, flat_compare);
    struct lwp_field *fields = lwp_arena_alloc(code->arena, flat.count, sizeof *fields);
    struct lwp_parts *parts = lwp_arena_alloc(code->arena, flat.count, sizeof *parts);
    for (size_t i = 0; i < flat.count; i++) {
        fields[i] = flat.fields[i].field;
        parts[i] = flat.fields[i].parts;
    }
    type->parts = parts;
    type->kind = dwarf_tag(die) == DW_TAG_union_type ? LWP_TYPE_UNION : LWP_TYPE_STRUCT;
    type->is_class = flat.is_class && !flat.is_rust;
    type->is_derived = flat.is_derived;
    type->is_virtual = flat.is_virtual;
    type->fields = fields;
    type->field_count = (uint32_t)flat.count;
    *payload = flat.payload;
    free(flat.fields);
    return !flat.broken;
}
