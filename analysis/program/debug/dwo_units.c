#include "analysis/program/debug/dwo_units.h"

#include "base/search.h"
#include "base/unaligned.h"

#include <stdlib.h>

/* What columns 5, 7 and 8 are depends on the version; macros are left out. */
const char *code_dwo_section_name(uint32_t version, unsigned column)
{
    static const char *const names[] = {".debug_str.dwo",        ".debug_info.dwo", ".debug_types.dwo",
                                        ".debug_abbrev.dwo",     ".debug_line.dwo", ".debug_loc.dwo",
                                        ".debug_str_offsets.dwo"};
    if (version == 5 && column == CODE_DWO_LOC)
        return ".debug_loclists.dwo";
    if (version == 5 && column == CODE_DWO_8)
        return ".debug_rnglists.dwo";
    return column <= CODE_DWO_STR_OFFSETS ? names[column] : NULL;
}

struct code_dwo_part code_dwo_section(Elf *elf, const char *name, unsigned nth)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = code_elf_section(elf, section, SHT_NULL, name, &header));) {
        if (nth--)
            continue;
        if ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (data && data->d_buf)
            return (struct code_dwo_part){data->d_buf, data->d_size};
    }
    return (struct code_dwo_part){0};
}

static bool dwo_index_read(Elf *elf, const char *name, struct code_dwo_index *index)
{
    enum { HEADER = 16 };
    struct code_dwo_part part = code_dwo_section(elf, name, 0);
    if (part.bytes < HEADER)
        return false;
    *index = (struct code_dwo_index){.start = part.data,
                                     .bytes = part.bytes,
                                     .version = lwp_u32_at(part.data) & 0xffff,
                                     .columns = lwp_u32_at(part.data + 4),
                                     .units = lwp_u32_at(part.data + 8),
                                     .slots = lwp_u32_at(part.data + 12)};
    uint64_t need = HEADER + (uint64_t)index->slots * 12 + (uint64_t)index->columns * 4;
    if ((index->version != 2 && index->version != 5) || index->columns > 8 || !index->slots ||
        (index->slots & (index->slots - 1)))
        return false;
    return need + (uint64_t)index->units * index->columns * 8 <= part.bytes;
}

/* Open addressing as the format says. */
uint32_t code_dwo_row(const struct code_dwo_units *units, uint64_t id)
{
    const struct code_dwo_index *index = &units->cu;
    const uint8_t *ids = index->start + 16, *rows = ids + (size_t)index->slots * 8;
    uint32_t mask = index->slots - 1, at = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t tries = 0; tries < index->slots; tries++, at = (at + step) & mask) {
        uint32_t row = lwp_u32_at(rows + (size_t)at * 4);
        if (!row)
            return 0;
        if (lwp_u64_at(ids + (size_t)at * 8) == id)
            return row <= index->units ? row : 0;
    }
    return 0;
}

struct code_dwo_part code_dwo_slice(const struct code_dwo_units *units, const struct code_dwo_index *index,
                                    uint32_t row, unsigned wanted)
{
    const uint8_t *columns = index->start + 16 + (size_t)index->slots * 12;
    const uint8_t *offsets = columns + (size_t)index->columns * 4;
    const uint8_t *sizes = offsets + (size_t)index->units * index->columns * 4;
    for (uint32_t i = 0; i < index->columns; i++) {
        if (lwp_u32_at(columns + (size_t)i * 4) != wanted)
            continue;
        size_t cell = ((size_t)(row - 1) * index->columns + i) * 4;
        uint32_t offset = lwp_u32_at(offsets + cell), bytes = lwp_u32_at(sizes + cell);
        const struct code_dwo_part *section = &units->sections[wanted];
        if (offset <= section->bytes && bytes <= section->bytes - offset)
            return (struct code_dwo_part){section->data + offset, bytes};
    }
    return (struct code_dwo_part){0};
}

static void dwo_types_sort(struct code_dwo_units *units)
{
    size_t capacity = 0;
    for (uint32_t row = 1; units->tu.start && row <= units->tu.units; row++) {
        struct code_dwo_part abbrev = code_dwo_slice(units, &units->tu, row, CODE_DWO_ABBREV);
        if (!abbrev.data)
            continue;
        LWP_GROW(&units->types, units->type_count, &capacity);
        units->types[units->type_count++] = (struct code_dwo_type){abbrev.data, row};
    }
    LWP_SORT(units->types, units->type_count, lwp_by_first_two);
}

bool code_dwo_units_read(Elf *elf, struct code_dwo_units *units)
{
    *units = (struct code_dwo_units){0};
    if (!dwo_index_read(elf, ".debug_cu_index", &units->cu))
        return false;
    if (!dwo_index_read(elf, ".debug_tu_index", &units->tu) || units->tu.version != units->cu.version)
        units->tu = (struct code_dwo_index){0};
    for (unsigned column = 0; column < CODE_DWO_SECTIONS; column++) {
        const char *name = code_dwo_section_name(units->cu.version, column);
        if (name)
            units->sections[column] = code_dwo_section(elf, name, 0);
    }
    dwo_types_sort(units);
    return true;
}

void code_dwo_units_free(struct code_dwo_units *units)
{
    free(units->types);
}
