/* Types from DWARF: their names, sizes, owners, and one lwp_type for equal types of several units. */
#include "analysis/program/types/types.h"

#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_die.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct code_types *code_types_of(struct code_module *module)
{
    if (!module->types)
        module->types = lwp_zeroed(1, sizeof *module->types);
    return module->types;
}

void code_types_free(struct code_types *types)
{
    if (!types)
        return;
    for (size_t i = 0; i < types->leads.count; i++)
        free(((struct code_leads *)types->leads.items[i])->items);
    code_kept_free(&types->by_die);
    code_kept_free(&types->aliases);
    code_kept_free(&types->leads);
    code_kept_free(&types->candidates);
    code_kept_free(&types->holds);
    code_kept_free(&types->members);
    lwp_map_free(types->wraps);
    free(types->statics);
    free(types->calls);
    if (types->cfi)
        dwarf_cfi_end(types->cfi);
    free(types);
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

/* The one lwp_type of this content. */
static struct lwp_type *type_unique(struct lwp_code *code, const struct lwp_type *made)
{
    uint64_t hash = lwp_hash_mix(lwp_hash_text(made->name), made->bytes);
    for (uint32_t i = 0; i < made->field_count; i++)
        hash = lwp_hash_mix(lwp_hash_mix(hash, lwp_hash_text(made->fields[i].declaration)), made->fields[i].offset);
    void **kept = code_kept_at(&code->types, hash, NULL);
    if (*kept && type_equal(*kept, made))
        return *kept;
    struct lwp_type *copy = lwp_arena_alloc(code->arena, 1, sizeof *copy);
    *copy = *made;
    if (made->die) {
        Dwarf_Die *die = lwp_arena_alloc(code->arena, 1, sizeof *die);
        *die = *(const Dwarf_Die *)made->die;
        copy->die = die;
    }
    return *kept = copy;
}

static void type_declared_at(struct lwp_code *code, struct lwp_type *type, Dwarf_Die *die)
{
    int line = 0;
    type->file = code_die_file(code, die, DW_AT_decl_file);
    if (type->file && dwarf_decl_line(die, &line) == 0 && line > 0)
        type->line = (uint32_t)line;
}

/* A struct without a name that was reached without its typedef (through a template): look the typedef up. */
static void type_find_alias(struct lwp_arena *arena, struct code_types *types, Dwarf_Die *type, Dwarf_Die *alias)
{
    enum { ALIAS_BUDGET = 2000000 };
    Dwarf_Die unit, target;
    int budget = ALIAS_BUDGET;
    bool fresh;
    if (!dwarf_diecu(type, &unit, NULL, NULL))
        return;
    code_kept_at(&types->aliases, (uintptr_t)unit.addr, &fresh);
    Dwarf_Die none = {0}, first = fresh ? code_die_first(&unit) : none;
    for (Dwarf_Die die = first; die.addr && --budget > 0; die = code_die_after(&die)) {
        if (dwarf_tag(&die) != DW_TAG_typedef || !type_die_of(&die, &target) || dwarf_diename(&target))
            continue;
        Dwarf_Die *copy = lwp_arena_alloc(arena, 1, sizeof *copy);
        *copy = die;
        *code_kept_at(&types->aliases, (uintptr_t)target.addr, NULL) = copy;
    }
    Dwarf_Die *found = *code_kept_at(&types->aliases, (uintptr_t)type->addr, NULL);
    if (found)
        *alias = *found;
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
    if (lwp_types_is_coroutine(type->tag) && strncmp(type->tag, "_Z", 2) == 0)
        type->name = lwp_arena_printf(code->arena, "frame of %s", code_demangle(code, type->tag));
    const char *last = strrchr(type->tag, ':');
    if (last && !strpbrk(type->tag, "<[(&{"))
        type->tag = last + 1;
}

/* NULL: unknown. */
static struct lwp_type *type_read(struct code_module *module, Dwarf_Die *stripped, Dwarf_Die *alias)
{
    struct lwp_code *code = module->code;
    struct lwp_type type = {.is_typedef = true, .die = stripped};
    bool is_struct = code_die_is_struct(stripped);
    if (!type_die_bytes(stripped, &type.bytes) || !type.bytes)
        return NULL;
    if (is_struct && !alias->addr && !dwarf_diename(stripped))
        type_find_alias(code->arena, code_types_of(module), stripped, alias);
    /* A struct that has a name goes by it, whatever else it is called: so all its uses are one type. */
    if (alias->addr && ((is_struct && dwarf_diename(stripped)) || type_alias_is_inner(code, alias)))
        alias->addr = NULL;
    Dwarf_Die *named = alias->addr ? alias : stripped;
    Dwarf_Die unit;
    bool in_unit = dwarf_diecu(stripped, &unit, NULL, NULL) != NULL;
    type_declared_at(code, &type, is_struct ? stripped : named);
    type.language = in_unit ? type_die_language(&unit) : LWP_LANGUAGE_OTHER;
    type.owner = in_unit ? type_die_owner(code, is_struct ? stripped : named, &unit) : LWP_TYPE_OWNER_UNKNOWN;
    type.alignment = type_die_alignment(named);
    type.aligned = (type.language == LWP_LANGUAGE_C || type.language == LWP_LANGUAGE_CXX) && /* Rust says it of all */
                   (dwarf_hasattr(stripped, DW_AT_alignment) || dwarf_hasattr(named, DW_AT_alignment));
    if (is_struct) {
        type.is_typedef = alias->addr || type.language != LWP_LANGUAGE_C;
        type_name_struct(code, &type, named);
        struct code_payload payload = {0};
        if (!code_type_fields(code, &type, stripped, &payload))
            return NULL;
        if (payload.die.addr) {
            type.payload = code_type(module, payload.die);
            type.payload_at = payload.at;
        }
        return type_unique(code, &type);
    }
    int tag = dwarf_tag(stripped);
    bool scalar = tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type || tag == DW_TAG_ptr_to_member_type ||
                  type_die_is_pointer(stripped);
    type.kind = scalar ? LWP_TYPE_SCALAR : LWP_TYPE_OTHER;
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
    bool fresh;
    void **kept = code_kept_at(&types->by_die, key, &fresh);
    if (!fresh)
        return *kept;
    struct lwp_type *read = type_read(module, &stripped, &alias); /* which may keep others: `kept` is elsewhere then */
    return *code_kept_at(&types->by_die, key, NULL) = read;
}
