/* Functions and what was inlined into them, from DWARF. A unit's functions are listed when an address falls into it;
 * a function's scopes are laid out as "from this address on, this scope is innermost", so that thousands of
 * instructions of one function cost one binary search each. Bounded in depth and number. */
#include "analysis/program/debug/scopes.h"

#include "analysis/program/debug/units.h"
#include "base/order.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { SCOPE_DEPTH = 200, SCOPE_LIMIT = 200000, SCOPE_RANGE_LIMIT = 20000, FUNCTION_LIMIT = 2000000, FRAME_LIMIT = 64 };

struct function_list {
    struct code_function *items;
    size_t count, capacity;
    bool deep; /* look inside functions too (nested functions of Fortran, GNU C, Rust) */
};

static void functions_take(struct function_list *list, Dwarf_Die *die)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t offset = 0;
    for (int i = 0; i < SCOPE_RANGE_LIMIT && list->count < FUNCTION_LIMIT; i++) {
        offset = dwarf_ranges(die, offset, &base, &low, &high);
        if (offset <= 0)
            return;
        if (low == 0 || high <= low)
            continue;
        LWP_GROW(&list->items, list->count, &list->capacity);
        list->items[list->count++] = (struct code_function){low, high, *die};
    }
}

uint64_t code_scopes_entry(const struct code_scopes *scopes)
{
    Dwarf_Die die = scopes->items[0].die;
    Dwarf_Addr base, low, high;
    if (dwarf_entrypc(&die, &low) == 0 || dwarf_ranges(&die, 0, &base, &low, &high) > 0)
        return low;
    return 0;
}

/* False: nested deeper than any compiler does. The walk ends then, since skipping over each level costs what is in it.
 */
static bool functions_walk(struct function_list *list, Dwarf_Die *parent, int depth)
{
    if (depth > SCOPE_DEPTH)
        return false;
    for (Dwarf_Die die = code_die_first(parent); die.addr; die = code_die_after(&die)) {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram)
            functions_take(list, &die);
        bool inside = tag == DW_TAG_namespace || tag == DW_TAG_module || code_die_is_struct(&die) ||
                      (list->deep && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block));
        if (inside && !functions_walk(list, &die, depth + 1))
            return false;
    }
    return true;
}

static void unit_read_functions(struct code_unit *unit, bool deep)
{
    struct function_list list = {.deep = deep};
    functions_walk(&list, &unit->die, 0);
    LWP_SORT(list.items, list.count, lwp_by_first);
    free(unit->functions);
    unit->functions = list.items;
    unit->function_count = list.count;
    unit->functions_read = true;
    unit->functions_deep = deep;
}

static struct code_function *unit_function(struct code_unit *unit, uint64_t address)
{
    size_t count = LWP_COUNT_UP_TO(unit->functions, unit->function_count, low, address);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): those of a count
    return count && address < unit->functions[count - 1].high ? &unit->functions[count - 1] : NULL;
}

struct scope_build {
    struct code_scopes *scopes;
    size_t capacity;
    struct scope_range {
        uint64_t low, high;
        uint32_t scope;
    } * ranges;
    size_t range_count, range_capacity;
};

/* The DIE of the source function: behind the inlined call or the copy, and the class's own declaration of it. */
static Dwarf_Die scope_source(Dwarf_Die *die)
{
    enum { ORIGIN_STEPS = 16 };
    Dwarf_Attribute attribute;
    Dwarf_Die origin = *die, found;
    for (int i = 0; i < ORIGIN_STEPS; i++) {
        if (!dwarf_attr(&origin, DW_AT_abstract_origin, &attribute) &&
            !dwarf_attr(&origin, DW_AT_specification, &attribute))
            break;
        if (!dwarf_formref_die(&attribute, &found))
            break;
        origin = found;
    }
    return origin;
}

static void scope_call(struct code_scopes *scopes, struct code_scope *scope)
{
    uint64_t value;
    if (code_die_number(&scope->die, DW_AT_call_line, &value))
        scope->call_line = value <= INT32_MAX ? (uint32_t)value : 0;
    scope->call_file = code_die_file(scopes->module->code, &scope->die, DW_AT_call_file);
}

static uint32_t scope_add(struct scope_build *build, Dwarf_Die *die, uint32_t parent, bool is_function)
{
    struct code_scopes *scopes = build->scopes;
    uint32_t index = scopes->count;
    LWP_GROW(&scopes->items, scopes->count, &build->capacity);
    struct code_scope *scope = &scopes->items[scopes->count++];
    *scope = (struct code_scope){.die = *die, .parent = parent};
    scope->function = is_function ? index : scopes->items[parent].function;
    if (is_function)
        scope->origin = (uint64_t)(uintptr_t)scope_source(die).addr;
    if (dwarf_tag(die) == DW_TAG_inlined_subroutine)
        scope_call(scopes, scope);
    Dwarf_Addr base, low, high;
    ptrdiff_t offset = 0;
    for (int i = 0; i < SCOPE_RANGE_LIMIT; i++) {
        offset = dwarf_ranges(die, offset, &base, &low, &high);
        if (offset <= 0)
            break;
        if (high <= low)
            continue;
        LWP_GROW(&build->ranges, build->range_count, &build->range_capacity);
        build->ranges[build->range_count++] = (struct scope_range){low, high, index};
    }
    return index;
}

static bool scope_walk(struct scope_build *build, Dwarf_Die *parent_die, uint32_t parent, int depth)
{
    if (depth > SCOPE_DEPTH)
        return false;
    for (Dwarf_Die die = code_die_first(parent_die); die.addr; die = code_die_after(&die)) {
        if (build->scopes->count >= SCOPE_LIMIT)
            return false;
        int tag = dwarf_tag(&die);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
            continue;
        uint32_t scope = scope_add(build, &die, parent, tag == DW_TAG_inlined_subroutine);
        if (!scope_walk(build, &die, scope, depth + 1))
            return false;
    }
    return true;
}

/* Cuts the function at every bound of every scope, then lets each scope claim its pieces; a child comes after its
 * parent and so claims over it. Ranges that would make this quadratic (hostile) stop it. */
static void scopes_paint(struct scope_build *build)
{
    enum { PAINT_LIMIT = 20 * 1000 * 1000 };
    struct code_scopes *scopes = build->scopes;
    struct code_scope_start *starts = lwp_zeroed(build->range_count * 2, sizeof *starts);
    uint32_t count = 0;
    for (size_t i = 0; i < build->range_count; i++) {
        starts[count++] = (struct code_scope_start){build->ranges[i].low, LWP_NONE};
        starts[count++] = (struct code_scope_start){build->ranges[i].high, LWP_NONE};
    }
    qsort(starts, count, sizeof *starts, lwp_by_first);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!kept || starts[kept - 1].address != starts[i].address)
            starts[kept++] = starts[i];
    size_t work = 0;
    for (size_t i = 0; i < build->range_count && work < PAINT_LIMIT; i++) {
        const struct scope_range *range = &build->ranges[i];
        size_t at = LWP_COUNT_UP_TO(starts, kept, address, range->low) - 1;
        for (; at < kept && starts[at].address < range->high; at++, work++)
            starts[at].scope = range->scope;
    }
    scopes->starts = starts;
    scopes->start_count = kept;
}

static struct code_scopes *scopes_build(struct code_module *module, Dwarf_Die *function)
{
    struct code_scopes *scopes = lwp_zeroed(1, sizeof *scopes);
    scopes->module = module;
    struct scope_build build = {.scopes = scopes};
    scope_add(&build, function, LWP_NONE, true);
    size_t own_ranges = build.range_count;
    if (!scope_walk(&build, function, 0, 0)) { /* then the function is all that is believed */
        scopes->count = 1;
        build.range_count = own_ranges;
    }
    scopes_paint(&build);
    free(build.ranges);
    return scopes;
}

struct code_scopes *code_scopes_at(struct code_module *module, uint64_t address)
{
    struct code_unit *unit = code_unit_find(module, address);
    if (!unit)
        return NULL;
    if (!unit->functions_read)
        unit_read_functions(unit, false);
    struct code_function *function = unit_function(unit, address);
    if (!function && !unit->functions_deep) { /* a nested one? */
        unit_read_functions(unit, true);
        function = unit_function(unit, address);
    }
    if (!function)
        return NULL;
    void **kept = code_kept_at(&module->scopes, (uintptr_t)function->die.addr, NULL);
    if (!*kept)
        *kept = scopes_build(module, &function->die);
    return *kept;
}

void code_scopes_free(struct code_kept *kept)
{
    for (size_t i = 0; i < kept->count; i++) {
        struct code_scopes *scopes = kept->items[i];
        for (uint32_t k = 0; k < scopes->count; k++)
            free(scopes->items[k].variables);
        free(scopes->items);
        free(scopes->starts);
        free(scopes);
    }
    code_kept_free(kept);
}

uint32_t code_scope_find(const struct code_scopes *scopes, uint64_t address)
{
    size_t count = LWP_COUNT_UP_TO(scopes->starts, scopes->start_count, address, address);
    return !count || scopes->starts[count - 1].scope == LWP_NONE ? 0 : scopes->starts[count - 1].scope;
}

bool code_scope_holds(const struct code_scopes *scopes, uint32_t outer, uint32_t scope)
{
    while (scope != LWP_NONE && scope > outer) /* parents have smaller numbers */
        scope = scopes->items[scope].parent;
    return scope == outer;
}

uint32_t code_scope_common(const struct code_scopes *scopes, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b)
            a = scopes->items[a].parent;
        else
            b = scopes->items[b].parent;
    }
    return a;
}

const char *code_scope_name(struct code_scopes *scopes, uint32_t index)
{
    struct code_scope *scope = &scopes->items[scopes->items[index].function];
    if (scope->name)
        return scope->name;
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(&scope->die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(&scope->die, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    if (name && strncmp(name, "_R", 2) && !code_die_is_c(&scope->die)) {
        scope->name = code_demangle(scopes->module->code, name);
    } else { /* C, where the linkage name is the library's own business (__GI_qsort), and Rust's newer scheme, which
                DWARF's own names spare us */
        Dwarf_Die source = scope_source(&scope->die);
        const char *own = dwarf_diename(&source);
        bool outlined = own && strchr(own, '.'); /* main._omp_fn.0, __bodies_MOD_kinetic._omp_fn.0: of the linker's name */
        scope->name = outlined ? code_demangle(scopes->module->code, own) : code_die_name(scopes->module->code, &source);
    }
    return scope->name;
}

uint32_t code_scope_declared(const struct code_scopes *scopes, uint32_t scope, const char *file)
{
    Dwarf_Die *die = &scopes->items[scopes->items[scope].function].die;
    Dwarf_Attribute attribute;
    Dwarf_Word line;
    if (code_die_file(scopes->module->code, die, DW_AT_decl_file) != file || !dwarf_attr_integrate(die, DW_AT_decl_line, &attribute) ||
        dwarf_formudata(&attribute, &line) || line > INT32_MAX)
        return 0;
    return (uint32_t)line;
}

const struct lwp_frame *code_frames(struct code_module *module, uint64_t address, uint32_t *count)
{
    struct code_scopes *scopes = code_scopes_at(module, address);
    if (!scopes)
        return NULL;
    struct lwp_frame frames[FRAME_LIMIT];
    const char *file;
    uint32_t line, used = 0;
    code_line_at(module, address, &file, &line, NULL);
    uint32_t scope = scopes->items[code_scope_find(scopes, address)].function;
    for (;;) {
        const struct code_scope *item = &scopes->items[scope];
        frames[used++] = (struct lwp_frame){.function = code_scope_name(scopes, scope),
                                            .file = file,
                                            .line = line,
                                            .inlined = item->parent != LWP_NONE};
        if (item->parent == LWP_NONE || used == FRAME_LIMIT)
            break;
        file = item->call_file;
        line = item->call_line;
        scope = scopes->items[item->parent].function;
    }
    struct lwp_frame *copy = lwp_arena_alloc(module->code->arena, used, sizeof *copy);
    memcpy(copy, frames, used * sizeof *copy);
    *count = used;
    return copy;
}
