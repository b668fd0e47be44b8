/* Structs from DWARF, flattened to a list of fields: bases and anonymous structs are opened, anonymous unions stay one
 * field, bit-fields that share a byte are one field. Equal types of several units are one lwp_type. Debug info that
 * contradicts itself (members outside of the struct, cycles, thousands of fields) gives no type at all. */
#include "analysis/types.h"

#include "analysis/scopes.h"
#include "analysis/type_cache.h"
#include "analysis/type_die.h"
#include "analysis/type_flow.h"
#include "analysis/type_leads.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    TYPE_FIELD_LIMIT = 4096,
    TYPE_NEST_LIMIT = 16,
    TYPE_NAMES = 16,
    TYPE_PARTS = 32,
    TYPE_NAME_LIMIT = 100,
    TYPES_UNKNOWN = LWP_MAP_NONE - 1
};

struct code_types *code_types_of(struct code_module *module)
{
    if (!module->types) {
        module->types = calloc(1, sizeof *module->types);
        if (!module->types)
            abort();
        module->types->by_die = lwp_map_new();
        module->types->alias_units = lwp_map_new();
        module->types->alias_of = lwp_map_new();
        module->types->leads_by_die = lwp_map_new();
        module->types->candidates_by_scope = lwp_map_new();
        module->types->flow_by_function = lwp_map_new();
    }
    return module->types;
}

void code_types_free(struct code_types *types)
{
    if (!types)
        return;
    lwp_map_free(types->by_die);
    lwp_map_free(types->alias_units);
    lwp_map_free(types->alias_of);
    free(types->aliases);
    lwp_map_free(types->leads_by_die);
    lwp_map_free(types->candidates_by_scope);
    free(types->statics);
    for (size_t i = 0; i < types->leads_count; i++)
        free(types->leads[i]->items);
    free(types->leads);
    free(types->candidates);
    lwp_map_free(types->flow_by_function);
    for (size_t i = 0; i < types->flow_count; i++)
        code_flow_answers_free(types->flows[i]);
    free(types->flows);
    free(types->calls);
    if (types->cfi)
        dwarf_cfi_end(types->cfi);
    free(types);
}

struct flatten {
    struct lwp_code *code;
    struct flat_field {
        struct lwp_field field;
        struct lwp_parts parts;
        bool bits;
    } * fields;
    size_t count, capacity;
    bool is_class, is_rust, broken;
    bool is_part; /* of a member: its own members are not opened further */
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
    Dwarf_Attribute attribute;
    Dwarf_Word value, storage;
    if (!dwarf_attr(member, DW_AT_bit_size, &attribute) || dwarf_formudata(&attribute, count) || !*count ||
        *count > 128)
        return false;
    if (dwarf_attr(member, DW_AT_data_bit_offset, &attribute) && dwarf_formudata(&attribute, &value) == 0) {
        *first = offset * 8 + value;
        return value < (uint64_t)1 << 48;
    }
    if (!dwarf_attr(member, DW_AT_bit_offset, &attribute) || dwarf_formudata(&attribute, &value))
        value = 0;
    if (dwarf_attr(member, DW_AT_byte_size, &attribute) == NULL || dwarf_formudata(&attribute, &storage))
        if (!type_die_bytes(type, &storage))
            return false;
    if (storage > 16 || value + *count > storage * 8)
        return false;
    *first = offset * 8 + storage * 8 - value - *count;
    return true;
}

/* "number, real": what a union without a name is known by. */
static const char *flatten_names(struct flatten *flat, Dwarf_Die *type, bool known)
{
    Dwarf_Die child;
    const char *names = "";
    int count = 0;
    for (bool more = known && code_die_is_struct(type) && code_die_child(type, &child); more && count < TYPE_NAMES;
         more = code_die_next(&child, &child)) {
        const char *name = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child) : NULL;
        if (name && strlen(name) < TYPE_NAME_LIMIT)
            names = lwp_arena_printf(flat->code->arena, "%s%s%s", names, count++ ? ", " : "", name);
    }
    return names;
}

/* The members of a member, each with the whole path as its name; none when there is anything odd about them. */
static struct lwp_parts flatten_parts(struct flatten *flat, const struct lwp_field *field, Dwarf_Die *type, int depth)
{
    struct flatten inner = {.code = flat->code, .is_rust = flat->is_rust, .is_part = true};
    flatten_struct(&inner, type, field->offset, depth + 1);
    bool fine = !inner.broken && inner.count > 1 && inner.count <= TYPE_PARTS && strlen(field->name) < TYPE_NAME_LIMIT;
    struct lwp_field *parts = lwp_arena_alloc(flat->code->arena, fine ? inner.count : 0, sizeof *parts);
    for (size_t i = 0; fine && i < inner.count; i++) {
        parts[i] = inner.fields[i].field;
        fine = parts[i].offset - field->offset < field->bytes && strlen(parts[i].name) < TYPE_NAME_LIMIT;
        parts[i].name = lwp_arena_printf(flat->code->arena, "%s.%s", field->name, parts[i].name);
    }
    struct lwp_parts made = {parts, fine ? (uint32_t)inner.count : 0};
    free(inner.fields);
    return made;
}

static void flatten_member(struct flatten *flat, Dwarf_Die *member, uint64_t base, int depth)
{
    Dwarf_Die type, stripped;
    Dwarf_Attribute attribute;
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
    bool known = type_die_strip(&stripped, NULL);
    if (!name && known && code_die_is_struct(&stripped) && dwarf_tag(&stripped) != DW_TAG_union_type) {
        flatten_struct(flat, &stripped, base + offset, depth + 1);
        return;
    }
    struct lwp_parts parts = {NULL, 0};
    struct lwp_field field = {.name = code_intern(flat->code, name ? name : flatten_names(flat, &stripped, known))};
    bool is_bits = dwarf_hasattr(member, DW_AT_bit_size);
    if (is_bits && flatten_bits(member, &type, offset, &first_bit, &bits)) {
        offset = first_bit / 8;
        bytes = (first_bit + bits - 1) / 8 - offset + 1;
    } else if (is_bits) {
        flat->broken = true;
        return;
    } else if (!known || !type_die_bytes(&type, &bytes)) {
        if (!known || dwarf_tag(&stripped) != DW_TAG_array_type) {
            flat->broken = true;
            return;
        }
        bytes = 0; /* an array that nobody knows the length of */
    }
    if (!bytes && (!known || dwarf_tag(&stripped) != DW_TAG_array_type))
        return; /* an empty member */
    field.offset = base + offset;
    field.bytes = bytes;
    field.type = type_die_declare(flat->code, &type, "");
    field.declaration = type_die_declare(flat->code, &type, name ? name : "");
    if (is_bits)
        field.declaration =
            lwp_arena_printf(flat->code->arena, "%s : %llu", field.declaration, (unsigned long long)bits);
    field.alignment = type_die_alignment(&type);
    if (dwarf_attr(member, DW_AT_alignment, &attribute)) {
        Dwarf_Word own;
        if (dwarf_formudata(&attribute, &own) == 0 && own && own <= 4096)
            field.alignment = own;
    }
    if (name && known && !is_bits && !flat->is_part && depth < TYPE_NEST_LIMIT && code_die_is_struct(&stripped) &&
        dwarf_tag(&stripped) != DW_TAG_union_type)
        parts = flatten_parts(flat, &field, &stripped, depth);
    flatten_add(flat, field, parts, is_bits);
}

static int flat_compare(const void *a, const void *b);

/* Adds the fields of one variant, named "Circle.radius". */
static void flatten_variant(struct flatten *flat, struct flatten *all, Dwarf_Die *variant, uint64_t base, int depth)
{
    Dwarf_Die child, type;
    uint64_t offset;
    for (bool more = code_die_child(variant, &child); more && !all->broken; more = code_die_next(&child, &child)) {
        struct flatten one = {.code = flat->code, .is_rust = flat->is_rust};
        const char *name = dwarf_diename(&child);
        if (dwarf_tag(&child) != DW_TAG_member || !type_die_of(&child, &type) || !type_die_offset(&child, &offset) ||
            !type_die_strip(&type, NULL) || !code_die_is_struct(&type))
            continue;
        flatten_struct(&one, &type, base + offset, depth + 1);
        all->broken |= one.broken;
        for (size_t i = 0; i < one.count && all->count < TYPE_FIELD_LIMIT; i++) {
            struct lwp_field *field = &one.fields[i].field;
            if (name && strlen(name) < TYPE_NAME_LIMIT && strlen(field->name) < TYPE_NAME_LIMIT)
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
    Dwarf_Die child, type;
    for (bool more = code_die_child(part, &child); more && !all.broken; more = code_die_next(&child, &child))
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
    if (all.count)
        qsort(all.fields, all.count, sizeof *all.fields, flat_compare);
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

static void flatten_struct(struct flatten *flat, Dwarf_Die *type, uint64_t base, int depth)
{
    Dwarf_Die child, parent;
    uint64_t offset;
    if (depth > TYPE_NEST_LIMIT) {
        flat->broken = true;
        return;
    }
    for (bool more = code_die_child(type, &child); more && !flat->broken; more = code_die_next(&child, &child)) {
        if (flat->count > TYPE_FIELD_LIMIT)
            flat->broken = true;
        switch (dwarf_tag(&child)) {
        case DW_TAG_member:
            flatten_member(flat, &child, base, depth);
            break;
        case DW_TAG_variant_part:
            flatten_variants(flat, &child, base, depth);
            break;
        case DW_TAG_inheritance:
            flat->is_class = true;
            if (type_die_offset(&child, &offset) && type_die_of(&child, &parent) && type_die_strip(&parent, NULL) &&
                code_die_is_struct(&parent))
                flatten_struct(flat, &parent, base + offset, depth + 1);
            break;
        case DW_TAG_subprogram:
            if (!type_die_flag(&child, DW_AT_artificial))
                flat->is_class = true;
            break;
        default:
            break;
        }
    }
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

static bool type_equal(const struct lwp_type *a, const struct lwp_type *b)
{
    if (a->name != b->name || a->kind != b->kind || a->bytes != b->bytes || a->field_count != b->field_count)
        return false;
    for (uint32_t i = 0; i < a->field_count; i++) {
        const struct lwp_field *x = &a->fields[i], *y = &b->fields[i];
        if (x->offset != y->offset || x->bytes != y->bytes || strcmp(x->name, y->name) ||
            strcmp(x->declaration, y->declaration))
            return false;
    }
    return true;
}

/* The one lwp_type of this content; its index. */
static uint32_t type_unique(struct lwp_code *code, const struct lwp_type *made)
{
    uint64_t hash = lwp_hash_mix(lwp_hash_text(made->name), made->bytes);
    for (uint32_t i = 0; i < made->field_count; i++)
        hash = lwp_hash_mix(lwp_hash_mix(hash, lwp_hash_text(made->fields[i].declaration)), made->fields[i].offset);
    uint32_t *slot = lwp_map_at(code->types_by_content, hash);
    if (*slot != LWP_MAP_NONE && type_equal(code->types[*slot], made))
        return *slot;
    struct lwp_type *copy = lwp_arena_alloc(code->arena, 1, sizeof *copy);
    *copy = *made;
    LWP_GROW(&code->types, code->type_count, &code->type_capacity);
    *slot = (uint32_t)code->type_count;
    code->types[code->type_count] = copy;
    return (uint32_t)code->type_count++;
}

static void type_place(struct lwp_code *code, struct lwp_type *type, Dwarf_Die *die)
{
    int line = 0;
    type->file = code_die_file(code, die, DW_AT_decl_file);
    if (type->file && dwarf_decl_line(die, &line) == 0 && line > 0)
        type->line = (uint32_t)line;
}

/* A program that is itself built there (a package of the distribution) is a project like others. */
static enum lwp_type_owner type_owner(const char *file, Dwarf_Die *unit)
{
    static const char *const folders[] = {
        "/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/lib/", "/opt/",
        "/nix/store/",   "/rustc/",   "/.cargo/registry/",   "/lib/gcc/",       "/lib/rustlib/"};
    const char *source = dwarf_diename(unit);
    if (!file || *file != '/')
        return LWP_TYPE_OWNER_UNKNOWN;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *found = strstr(file, folders[i]);
        if (found && (found == file || i >= 6) && !(source && strstr(source, folders[i])))
            return LWP_TYPE_OF_SYSTEM;
    }
    return LWP_TYPE_OF_PROJECT;
}

static bool type_read_struct(struct lwp_code *code, struct lwp_type *type, Dwarf_Die *die)
{
    struct flatten flat = {.code = code, .is_rust = type->language == LWP_LANGUAGE_RUST};
    flatten_struct(&flat, die, 0, 0);
    for (size_t i = 0; i < flat.count; i++)
        if (flat.fields[i].field.offset > type->bytes ||
            flat.fields[i].field.bytes > type->bytes - flat.fields[i].field.offset)
            flat.broken = true;
    if (flat.count)
        qsort(flat.fields, flat.count, sizeof *flat.fields, flat_compare);
    struct lwp_field *fields = lwp_arena_alloc(code->arena, flat.count, sizeof *fields);
    struct lwp_parts *parts = lwp_arena_alloc(code->arena, flat.count, sizeof *parts);
    for (size_t i = 0; i < flat.count; i++) {
        fields[i] = flat.fields[i].field;
        parts[i] = flat.fields[i].parts;
    }
    type->parts = parts;
    type->kind = dwarf_tag(die) == DW_TAG_union_type ? LWP_TYPE_UNION : LWP_TYPE_STRUCT;
    type->is_class = flat.is_class;
    type->fields = fields;
    type->field_count = (uint32_t)flat.count;
    free(flat.fields);
    return !flat.broken;
}

/* A struct without a name that was reached without its typedef (through a template): look the typedef up. */
static void type_find_alias(struct code_types *types, Dwarf_Die *type, Dwarf_Die *alias)
{
    enum { ALIAS_BUDGET = 2000000 };
    Dwarf_Die unit, die, target;
    int budget = ALIAS_BUDGET;
    if (!dwarf_diecu(type, &unit, NULL, NULL))
        return;
    uint32_t *seen = lwp_map_at(types->alias_units, (uintptr_t)unit.addr);
    bool more = *seen == LWP_MAP_NONE && code_die_child(&unit, &die);
    for (*seen = 1; more && --budget > 0; more = code_die_next(&die, &die)) {
        if (dwarf_tag(&die) != DW_TAG_typedef || !type_die_of(&die, &target) || dwarf_diename(&target))
            continue;
        *lwp_map_at(types->alias_of, (uintptr_t)target.addr) = (uint32_t)types->alias_count;
        LWP_GROW(&types->aliases, types->alias_count, &types->alias_capacity);
        types->aliases[types->alias_count++] = die;
    }
    uint32_t found = lwp_map_get(types->alias_of, (uintptr_t)type->addr);
    if (found != LWP_MAP_NONE)
        *alias = types->aliases[found];
}

/* A typedef inside of a template of the library (std::vector<…>::value_type) says less than what it stands for. */
static bool type_alias_is_inner(struct lwp_code *code, Dwarf_Die *alias)
{
    const char *name = code_die_name(code, alias);
    return name && strchr(name, '<');
}

static void type_name_struct(struct lwp_code *code, struct lwp_type *type, Dwarf_Die *named)
{
    bool fortran = type->language == LWP_LANGUAGE_FORTRAN; /* a type's module is not part of its name */
    type->tag = fortran ? code_intern(code, dwarf_diename(named)) : code_die_name(code, named);
    if (!type->tag)
        type->tag = "";
    type->name = type->is_typedef && *type->tag && !fortran && type->language != LWP_LANGUAGE_RUST
                     ? type->tag
                     : type_die_declare(code, named, "");
    const char *last = strrchr(type->tag, ':');
    if (last && !strpbrk(type->tag, "<[(&{"))
        type->tag = last + 1;
}

static uint32_t type_read(struct code_module *module, Dwarf_Die *stripped, Dwarf_Die *alias)
{
    struct lwp_code *code = module->code;
    struct lwp_type type = {.is_typedef = true};
    bool is_struct = code_die_is_struct(stripped);
    if (!type_die_bytes(stripped, &type.bytes) || !type.bytes)
        return TYPES_UNKNOWN;
    if (is_struct && !alias->addr && !dwarf_diename(stripped))
        type_find_alias(code_types_of(module), stripped, alias);
    /* A struct that has a name goes by it, whatever else it is called: so all its uses are one type. */
    if (alias->addr && ((is_struct && dwarf_diename(stripped)) || type_alias_is_inner(code, alias)))
        alias->addr = NULL;
    Dwarf_Die *named = alias->addr ? alias : stripped;
    Dwarf_Die unit;
    bool in_unit = dwarf_diecu(stripped, &unit, NULL, NULL) != NULL;
    type_place(code, &type, is_struct ? stripped : named);
    type.language = in_unit ? type_die_language(&unit) : LWP_LANGUAGE_OTHER;
    type.owner = in_unit ? type_owner(type.file, &unit) : LWP_TYPE_OWNER_UNKNOWN;
    type.alignment = type_die_alignment(named);
    type.aligned = (type.language == LWP_LANGUAGE_C || type.language == LWP_LANGUAGE_CXX) && /* Rust says it of all */
                   (dwarf_hasattr(stripped, DW_AT_alignment) || dwarf_hasattr(named, DW_AT_alignment));
    if (is_struct) {
        type.is_typedef = alias->addr || type.language != LWP_LANGUAGE_C;
        type_name_struct(code, &type, named);
        if (!type_read_struct(code, &type, stripped))
            return TYPES_UNKNOWN;
        return type_unique(code, &type);
    }
    switch (dwarf_tag(stripped)) {
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_ptr_to_member_type:
        type.kind = LWP_TYPE_SCALAR;
        break;
    default:
        type.kind = LWP_TYPE_OTHER;
        break;
    }
    /* "const double" is a double here: the type of the memory, not of the way to it. */
    type.name = type_die_declare(code, alias->addr ? alias : stripped, "");
    type.tag = type.name;
    return type_unique(code, &type);
}

const struct lwp_type *code_type(struct code_module *module, Dwarf_Die written)
{
    struct code_types *types = code_types_of(module);
    Dwarf_Die stripped = written, alias;
    if (!type_die_strip(&stripped, &alias))
        return NULL;
    uint64_t key = lwp_hash_mix((uintptr_t)stripped.addr, (uintptr_t)alias.addr);
    uint32_t known = lwp_map_get(types->by_die, key);
    if (known == LWP_MAP_NONE) {
        known = type_read(module, &stripped, &alias);
        *lwp_map_at(types->by_die, key) = known;
    }
    return known == TYPES_UNKNOWN ? NULL : module->code->types[known];
}
