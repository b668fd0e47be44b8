/* Compile units by address. .debug_aranges is optional (clang leaves it out), so each unit's own ranges are read, once;
 * a unit's line table and its list of functions only when an address falls into it. */
#include "analysis/program/debug/units.h"

#include "analysis/program/binary/debug_files.h"
#include "analysis/program/debug/definitions.h"
#include "analysis/program/debug/dwo.h"
#include "base/order.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <stdlib.h>

enum { UNIT_LIMIT = 1000000, UNIT_RANGE_LIMIT = 1000000, DEBUG_FOLDER_MAX = 4096 };

struct unit_range {
    uint64_t low, unit, high; /* sorted by the first two */
};

struct code_debug {
    Dwarf *dwarf, *alternate;
    Elf *alternate_elf;
    int alternate_fd;
    struct code_package *package; /* of .dwo files */
    struct code_unit *units;
    size_t unit_count;
    struct unit_range *ranges;
    size_t range_count, range_capacity;
};

static void debug_take_ranges(struct code_debug *debug, struct code_unit *unit, uint32_t index)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t offset = 0;
    for (int i = 0; i < UNIT_RANGE_LIMIT; i++) {
        offset = dwarf_ranges(&unit->line_die, offset, &base, &low, &high);
        if (offset <= 0)
            break;
        if (low == 0 || high <= low) /* functions that the linker dropped have address 0 */
            continue;
        LWP_GROW(&debug->ranges, debug->range_count, &debug->range_capacity);
        debug->ranges[debug->range_count++] = (struct unit_range){low, index, high};
    }
}

/* The file that dwz moved shared parts to. */
static void debug_find_alternate(struct code_debug *debug, struct code_module *module, const char *folder)
{
    const char *name;
    const void *id;
    ssize_t id_bytes = dwelf_dwarf_gnu_debugaltlink(debug->dwarf, &name, &id);
    if (id_bytes <= 0)
        return;
    debug->alternate_elf = code_debug_alternate_find(folder, name, id, (size_t)id_bytes, &debug->alternate_fd);
    if (debug->alternate_elf)
        debug->alternate = dwarf_begin_elf(debug->alternate_elf, DWARF_C_READ, NULL);
    if (debug->alternate)
        dwarf_setalt(debug->dwarf, debug->alternate);
    else
        module->info.missing = code_intern(module->code, name);
}

static void debug_list_units(struct code_debug *debug)
{
    size_t capacity = 0;
    Dwarf_CU *cu = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die die;
    while (debug->unit_count < UNIT_LIMIT && dwarf_get_units(debug->dwarf, cu, &cu, &version, &type, &die, NULL) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
            continue;
        LWP_GROW(&debug->units, debug->unit_count, &capacity);
        debug->units[debug->unit_count++] = (struct code_unit){
            .line_die = die,
            .die = die,
            .is_skeleton = type == DW_UT_skeleton,
        };
    }
}

/* Whether one of the first .dwo files is of the kind that libdw cannot read as it is. */
static bool debug_is_scattered(const struct code_debug *debug, const char *folder)
{
    enum { LOOKED_AT = 100 };
    int looked = 0;
    for (size_t i = 0; i < debug->unit_count && looked < LOOKED_AT; i++) {
        Dwarf_Die skeleton = debug->units[i].line_die;
        if (debug->units[i].is_skeleton && ++looked && code_dwo_scattered(&skeleton, folder))
            return true;
    }
    return false;
}

static void debug_begin(struct code_debug *debug, struct code_module *module, struct code_package *package)
{
    debug->package = package;
    debug->dwarf = dwarf_begin_elf(module->debug_elf, DWARF_C_READ, NULL);
    if (package)
        code_package_ready(package);
    if (debug->dwarf)
        debug_list_units(debug);
}

static struct code_debug *debug_of(struct code_module *module)
{
    if (module->debug)
        return module->debug;
    code_elf_complete(module);
    struct code_debug *debug = module->debug = lwp_zeroed(1, sizeof *debug);
    if (module->info.debug_info != LWP_DEBUG_FULL)
        return debug;
    char folder[DEBUG_FOLDER_MAX];
    code_debug_folder(module, folder, sizeof folder);
    debug_begin(debug, module, code_package_open(module));
    if (debug->dwarf && !debug->package && debug_is_scattered(debug, folder)) {
        dwarf_end(debug->dwarf);
        free(debug->units);
        *debug = (struct code_debug){0};
        debug_begin(debug, module, code_package_empty(module));
    }
    if (!debug->dwarf)
        return debug;
    debug_find_alternate(debug, module, folder);
    for (size_t i = 0; i < debug->unit_count; i++)
        debug_take_ranges(debug, &debug->units[i], (uint32_t)i);
    LWP_SORT(debug->ranges, debug->range_count, lwp_by_first_two);
    return debug;
}

Dwarf *code_dwarf(struct code_module *module)
{
    return debug_of(module)->dwarf;
}

static struct code_unit *unit_open(struct code_module *module, struct code_unit *unit)
{
    Dwarf_Die split;
    if (unit->is_skeleton && code_dwo_open(module, module->debug->package, &unit->line_die, &split))
        unit->die = split;
    unit->is_skeleton = false;
    return unit;
}

struct code_unit *code_unit_find(struct code_module *module, uint64_t address)
{
    struct code_debug *debug = debug_of(module);
    size_t count = LWP_COUNT_UP_TO(debug->ranges, debug->range_count, low, address);
    if (!count || address >= debug->ranges[count - 1].high) // NOLINT(clang-analyzer-core.NullDereference): those of a count
        return NULL;
    return unit_open(module, &debug->units[debug->ranges[count - 1].unit]);
}

bool code_unit_at(struct code_module *module, uint64_t address, Dwarf_Die *unit)
{
    struct code_unit *found = code_unit_find(module, address);
    if (found)
        *unit = found->die;
    return found;
}

bool code_unit(struct code_module *module, size_t index, Dwarf_Die *unit)
{
    if (index >= debug_of(module)->unit_count)
        return false;
    *unit = unit_open(module, &module->debug->units[index])->die;
    return true;
}

void code_debug_free(struct code_debug *debug)
{
    if (!debug)
        return;
    for (size_t i = 0; i < debug->unit_count; i++)
        free(debug->units[i].functions);
    free(debug->units);
    free(debug->ranges);
    code_definitions_forget(debug->dwarf);
    code_definitions_forget(debug->alternate);
    if (debug->dwarf)
        dwarf_end(debug->dwarf);
    if (debug->alternate)
        dwarf_end(debug->alternate);
    if (debug->alternate_elf)
        code_elf_file_close(debug->alternate_elf, debug->alternate_fd);
    code_package_close(debug->package);
    free(debug);
}

/* The first row at `start` or behind it: libdw keeps to itself where its rows are. */
static size_t line_first_row(Dwarf_Lines *lines, size_t count, uint64_t start)
{
    Dwarf_Addr address;
    return LWP_PARTITION_POINT(i, 0, count, dwarf_lineaddr(dwarf_onesrcline(lines, i), &address) == 0 && address < start);
}

void code_statements(struct code_module *module, uint64_t low, uint64_t high, code_statement *take, void *to)
{
    struct code_unit *unit = code_unit_find(module, low);
    Dwarf_Lines *lines;
    size_t count;
    Dwarf_Addr address;
    if (!unit || dwarf_getsrclines(&unit->line_die, &lines, &count))
        return;
    for (size_t i = line_first_row(lines, count, low); i < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(lines, i);
        bool begins = false, ends = true;
        int line = 0;
        if (dwarf_lineaddr(row, &address) || address >= high)
            break;
        if (dwarf_linebeginstatement(row, &begins) == 0 && begins && dwarf_lineendsequence(row, &ends) == 0 && !ends &&
            dwarf_lineno(row, &line) == 0 && line > 0)
            take(to, address, code_file_name(module->code, &unit->line_die, dwarf_linesrc(row, NULL, NULL)), (uint32_t)line);
    }
}

/* Of the rows at a function's first address the first is for the function itself, the last for its first statement. */
uint32_t code_line_opening(struct code_module *module, uint64_t start)
{
    struct code_unit *unit = code_unit_find(module, start);
    Dwarf_Lines *lines;
    size_t count;
    Dwarf_Addr address;
    if (!unit || dwarf_getsrclines(&unit->line_die, &lines, &count))
        return 0;
    for (size_t i = line_first_row(lines, count, start); i < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(lines, i);
        bool ends = true;
        int line;
        if (dwarf_lineaddr(row, &address) || address != start || dwarf_lineendsequence(row, &ends))
            break;
        if (!ends && dwarf_lineno(row, &line) == 0 && line > 0)
            return (uint32_t)line;
    }
    return 0;
}

static Dwarf_Line *line_row(struct code_module *module, uint64_t address, struct code_unit **unit)
{
    *unit = code_unit_find(module, address);
    return *unit ? dwarf_getsrc_die(&(*unit)->line_die, address) : NULL;
}

uint32_t code_column_at(struct code_module *module, uint64_t address)
{
    struct code_unit *unit;
    Dwarf_Line *found = line_row(module, address, &unit);
    int column = 0;
    return found && dwarf_linecol(found, &column) == 0 && column > 0 ? (uint32_t)column : 0;
}

/* Of several rows at one address the last counts. */
void code_line_at(struct code_module *module, uint64_t address, const char **file, uint32_t *line, uint64_t *row)
{
    struct code_unit *unit;
    Dwarf_Line *found = line_row(module, address, &unit);
    Dwarf_Addr start = address;
    int number = 0;
    *file = NULL;
    *line = 0;
    if (found && dwarf_lineno(found, &number) == 0 && dwarf_lineaddr(found, &start) == 0) {
        *file = code_file_name(module->code, &unit->line_die, dwarf_linesrc(found, NULL, NULL));
        *line = number > 0 ? (uint32_t)number : 0;
    }
    if (row)
        *row = start;
}
