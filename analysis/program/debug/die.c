/* DIEs: their children (without following the cycles of damaged trees), qualified names, and the files they name. */
#include "analysis/program/debug/die.h"

#include "base/order.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

enum { DIE_NAME_DEPTH = 12, DIE_BUDGET = 1000000 };

Dwarf_Die code_die_first(Dwarf_Die *parent)
{
    Dwarf_Die child;
    return dwarf_child(parent, &child) == 0 && (char *)child.addr > (char *)parent->addr ? child : (Dwarf_Die){0};
}

Dwarf_Die code_die_after(Dwarf_Die *die)
{
    Dwarf_Die next;
    return dwarf_siblingof(die, &next) == 0 && (char *)next.addr > (char *)die->addr ? next : (Dwarf_Die){0};
}

bool code_die_named(Dwarf_Die *parent, int tag, const char *name, Dwarf_Die *found)
{
    for (Dwarf_Die child = code_die_first(parent); child.addr; child = code_die_after(&child)) {
        const char *own = dwarf_tag(&child) == tag ? dwarf_diename(&child) : NULL;
        *found = child;
        if (own && !strcmp(own, name))
            return true;
    }
    return false;
}

bool code_die_number(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, value) == 0;
}

bool code_die_bound(Dwarf_Die *die, unsigned name, int64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword with_sign;
    Dwarf_Word bits;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formsdata(&attribute, &with_sign))
        return false;
    unsigned form = dwarf_whatform(&attribute);
    bool small = form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4; /* libdw reads 255 of one byte as -1 */
    *value = with_sign;
    if (small && dwarf_formudata(&attribute, &bits) == 0 && bits != UINT32_MAX)
        *value = (int64_t)bits;
    return true;
}

const char *code_die_label(struct lwp_code *code, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    return name ? code_intern(code, name) : "";
}

bool code_die_is_struct(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* dwz moves what several units share into units that do not say their language. Taken for C unless something in it is
 * not C: in C++ "struct name" is right as well. */
static bool die_unit_looks_c(Dwarf_Die *unit)
{
    enum { LOOKED_AT = 200 };
    int budget = LOOKED_AT;
    for (Dwarf_Die die = code_die_first(unit); die.addr && budget-- > 0; die = code_die_after(&die)) {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
            tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type || tag == DW_TAG_ptr_to_member_type ||
            tag == DW_TAG_imported_declaration)
            return false;
    }
    return true;
}

static bool die_unit_is_shared(Dwarf_Die *unit)
{
    return dwarf_tag(unit) == DW_TAG_partial_unit && !dwarf_hasattr(unit, DW_AT_language);
}

bool code_die_is_c(Dwarf_Die *die)
{
    Dwarf_Die unit;
    if (!dwarf_diecu(die, &unit, NULL, NULL))
        return true;
    if (die_unit_is_shared(&unit))
        return die_unit_looks_c(&unit);
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_ObjC:
    case 0x2c: /* C17 */
    case 0x3e: /* C23 */
        return true;
    default:
        return false;
    }
}

/* The children of a DIE as far as they were asked for: a unit of Rust or C++ has thousands, and is asked for many names. */
struct die_children {
    Dwarf_Die *dies; /* arena */
    size_t count, capacity;
    bool all;
};

static void die_children_grow(struct lwp_code *code, struct die_children *known, Dwarf_Die *parent)
{
    Dwarf_Die next = known->count ? code_die_after(&known->dies[known->count - 1]) : code_die_first(parent);
    known->all = !next.addr || known->count == DIE_BUDGET;
    if (known->all)
        return;
    if (known->count == known->capacity) {
        known->capacity = known->capacity ? 2 * known->capacity : 16;
        Dwarf_Die *dies = lwp_arena_alloc(code->arena, known->capacity, sizeof *dies);
        if (known->count)
            memcpy(dies, known->dies, known->count * sizeof *dies);
        known->dies = dies;
    }
    known->dies[known->count++] = next;
}

/* The last child that does not lie behind `target`; addr NULL: none. */
static Dwarf_Die die_child_at(struct lwp_code *code, Dwarf_Die *parent, const Dwarf_Die *target)
{
    void **kept = code_kept_at(&code->children, (uintptr_t)parent->addr, NULL);
    struct die_children *known = *kept ? *kept : (*kept = lwp_arena_alloc(code->arena, 1, sizeof *known));
    while (!known->all && (!known->count || known->dies[known->count - 1].addr <= target->addr))
        die_children_grow(code, known, parent);
    size_t before = LWP_COUNT_UP_TO(known->dies, known->count, addr, (uintptr_t)target->addr);
    return before ? known->dies[before - 1] : (Dwarf_Die){0};
}

/* The DIEs that enclose `target`, found from its unit downwards: DWARF keeps no links upwards. */
static int die_path(struct lwp_code *code, Dwarf_Die *target, Dwarf_Die *path)
{
    Dwarf_Die at;
    int depth = 0;
    if (!dwarf_diecu(target, &at, NULL, NULL) || at.addr >= target->addr)
        return 0;
    while (depth < DIE_NAME_DEPTH) {
        Dwarf_Die holder = die_child_at(code, &at, target);
        if (!holder.addr || holder.addr == target->addr)
            return depth;
        path[depth++] = at = holder;
    }
    return depth;
}

/* "geo::Grid::Cell" for "Cell". */
static const char *die_whole_name(struct lwp_code *code, Dwarf_Die *die, const char *name)
{
    Dwarf_Die path[DIE_NAME_DEPTH];
    int depth = die_path(code, die, path);
    const char *full = "";
    for (int i = 0; i < depth; i++) {
        int tag = dwarf_tag(&path[i]);
        const char *part = dwarf_diename(&path[i]);
        if (tag == DW_TAG_namespace && !part)
            part = "(anonymous namespace)";
        if ((tag == DW_TAG_namespace || tag == DW_TAG_module || code_die_is_struct(&path[i])) && part &&
            strlen(full) + strlen(part) < 1000)
            full = lwp_arena_printf(code->arena, "%s%s::", full, part);
    }
    return code_intern(code, *full ? lwp_arena_printf(code->arena, "%s%s", full, name) : name);
}

const char *code_die_name(struct lwp_code *code, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    if (!name || !*name)
        return NULL;
    Dwarf_Die unit;
    bool fresh, shared = dwarf_diecu(die, &unit, NULL, NULL) && die_unit_is_shared(&unit);
    if ((!shared && code_die_is_c(die)) || strlen(name) > 1000)
        return code_intern(code, name);
    void **kept = code_kept_at(&code->names, (uintptr_t)die->addr, &fresh); /* fields of a large class name the same types again */
    if (fresh)
        *kept = (void *)die_whole_name(code, die, name);
    return *kept;
}

/* "./" and doubled slashes only: "a/../b" may not be "b" when a is a link. */
const char *code_file_name(struct lwp_code *code, Dwarf_Die *unit, const char *path)
{
    enum { PATH_LIMIT = 4096 };
    char whole[PATH_LIMIT], clean[PATH_LIMIT];
    if (!path || !*path || !strcmp(path, "???"))
        return NULL;
    Dwarf_Attribute attribute;
    const char *folder = NULL;
    if (*path != '/' && dwarf_attr(unit, DW_AT_comp_dir, &attribute))
        folder = dwarf_formstring(&attribute);
    int size = snprintf(whole, sizeof whole, "%s%s%s", folder ? folder : "", folder ? "/" : "", path);
    if (size < 0 || size >= PATH_LIMIT)
        return NULL;
    size_t length = 0;
    for (const char *at = whole; *at;) {
        bool at_start = length == 0 || clean[length - 1] == '/';
        if (at_start && at[0] == '.' && at[1] == '/')
            at += 2;
        else if (*at == '/' && length && clean[length - 1] == '/')
            at++;
        else
            clean[length++] = *at++;
    }
    clean[length] = '\0';
    return length ? code_intern(code, clean) : NULL;
}

/* In .dwo files clang has a table of files for type units only, libdw takes it for all: the unit's own numbers are
 * those of the program's line table. */
static Dwarf_Files *die_files(Dwarf_CU *cu, Dwarf_Die *unit)
{
    Dwarf_Files *files;
    Dwarf_Lines *lines;
    size_t count, line_count;
    uint8_t type;
    Dwarf_Attribute producer;
    if (dwarf_cu_info(cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 && type == DW_UT_split_compile &&
        dwarf_attr(unit, DW_AT_producer, &producer)) {
        const char *name = dwarf_formstring(&producer);
        if (name && strstr(name, "clang") && dwarf_getsrclines(unit, &lines, &line_count) == 0 && line_count &&
            dwarf_line_file(dwarf_onesrcline(lines, 0), &files, &count) == 0)
            return files;
    }
    return dwarf_getsrcfiles(unit, &files, &count) == 0 ? files : NULL;
}

/* Not dwarf_decl_file: it takes number 0, in DWARF 5 the unit's own file, for none. */
const char *code_die_file(struct lwp_code *code, Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    Dwarf_Die unit;
    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &index) ||
        !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
        return NULL;
    return code_file_name(code, &unit, dwarf_filesrc(die_files(attribute.cu, &unit), index, NULL, NULL));
}
