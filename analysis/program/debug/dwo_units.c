/* Packages of .dwo files (.dwp): their sections and, by the format's index, each unit's parts of them. From such parts,
 * or from the sections of a .dwo file that has several of one name, one plain .dwo file is put together. */
#include "analysis/program/debug/dwo_units.h"

#include "analysis/program/binary/debug_files.h"
#include "base/order.h"
#include "base/unaligned.h"

#include <string.h>

enum { STRINGS_MOST = 1 << 22 };

/* The numbers of the index's columns; section 0 are the strings. */
enum { DWO_STR, DWO_INFO, DWO_TYPES, DWO_ABBREV, DWO_LINE, DWO_LOC, DWO_STR_OFFSETS, DWO_7, DWO_8, DWO_SECTIONS };

/* Bytes of the file, which they live as long as; NULL: none. */
struct dwo_part {
    const uint8_t *data;
    size_t bytes;
};

struct dwo_index {
    const uint8_t *start;
    size_t bytes;
    uint32_t version, columns, units, slots;
};

/* A type unit, by where its abbreviations are: what came from one .dwo file is together. */
struct dwo_type {
    const uint8_t *abbrev;
    uint64_t row;
};

struct code_dwo_units {
    struct dwo_index cu, tu;
    struct dwo_part sections[DWO_SECTIONS];
    struct dwo_type *types;
    size_t type_count;
};

/* ---- the package ---- */

/* What columns 5, 7 and 8 are depends on the version; macros are left out. */
static const char *dwo_section_name(uint32_t version, unsigned column)
{
    static const char *const names[] = {".debug_str.dwo",        ".debug_info.dwo", ".debug_types.dwo",
                                        ".debug_abbrev.dwo",     ".debug_line.dwo", ".debug_loc.dwo",
                                        ".debug_str_offsets.dwo"};
    if (version == 5 && column == DWO_LOC)
        return ".debug_loclists.dwo";
    if (version == 5 && column == DWO_8)
        return ".debug_rnglists.dwo";
    return column <= DWO_STR_OFFSETS ? names[column] : NULL;
}

/* The nth section of the name in any ELF file, unpacked. */
static struct dwo_part dwo_section(Elf *elf, const char *name, unsigned nth)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = code_elf_section(elf, section, SHT_NULL, name, &header));) {
        if (nth--)
            continue;
        if ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (data && data->d_buf)
            return (struct dwo_part){data->d_buf, data->d_size};
    }
    return (struct dwo_part){0};
}

static bool dwo_index_read(Elf *elf, const char *name, struct dwo_index *index)
{
    enum { HEADER = 16 };
    struct dwo_part part = dwo_section(elf, name, 0);
    if (part.bytes < HEADER)
        return false;
    *index = (struct dwo_index){.start = part.data,
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

/* The row of a compilation unit, from 1; 0: not there. Open addressing as the format says. */
static uint32_t dwo_row(const struct code_dwo_units *units, uint64_t id)
{
    const struct dwo_index *index = &units->cu;
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

/* A unit's part of a section. */
static struct dwo_part dwo_slice(const struct code_dwo_units *units, const struct dwo_index *index, uint32_t row,
                                 unsigned wanted)
{
    const uint8_t *columns = index->start + 16 + (size_t)index->slots * 12;
    const uint8_t *offsets = columns + (size_t)index->columns * 4;
    const uint8_t *sizes = offsets + (size_t)index->units * index->columns * 4;
    for (uint32_t i = 0; i < index->columns; i++) {
        if (lwp_u32_at(columns + (size_t)i * 4) != wanted)
            continue;
        size_t cell = ((size_t)(row - 1) * index->columns + i) * 4;
        uint32_t offset = lwp_u32_at(offsets + cell), bytes = lwp_u32_at(sizes + cell);
        const struct dwo_part *section = &units->sections[wanted];
        if (offset <= section->bytes && bytes <= section->bytes - offset)
            return (struct dwo_part){section->data + offset, bytes};
    }
    return (struct dwo_part){0};
}

static void dwo_types_sort(struct code_dwo_units *units)
{
    size_t capacity = 0;
    for (uint32_t row = 1; units->tu.start && row <= units->tu.units; row++) {
        struct dwo_part abbrev = dwo_slice(units, &units->tu, row, DWO_ABBREV);
        if (!abbrev.data)
            continue;
        LWP_GROW(&units->types, units->type_count, &capacity);
        units->types[units->type_count++] = (struct dwo_type){abbrev.data, row};
    }
    LWP_SORT(units->types, units->type_count, lwp_by_first_two);
}

struct code_dwo_units *code_dwo_units_read(Elf *elf)
{
    struct code_dwo_units *units = lwp_zeroed(1, sizeof *units);
    if (!dwo_index_read(elf, ".debug_cu_index", &units->cu)) {
        free(units);
        return NULL;
    }
    if (!dwo_index_read(elf, ".debug_tu_index", &units->tu) || units->tu.version != units->cu.version)
        units->tu = (struct dwo_index){0};
    for (unsigned column = 0; column < DWO_SECTIONS; column++) {
        const char *name = dwo_section_name(units->cu.version, column);
        if (name)
            units->sections[column] = dwo_section(elf, name, 0);
    }
    dwo_types_sort(units);
    return units;
}

void code_dwo_units_free(struct code_dwo_units *units)
{
    if (units)
        free(units->types);
    free(units);
}

/* ---- one .dwo file ---- */

struct dwo_file {
    uint8_t *data;
    size_t bytes, room;
    Elf64_Shdr headers[DWO_SECTIONS + 2];
    char names[512];
    size_t names_bytes;
    uint16_t count;
};

static void dwo_append(struct dwo_file *file, const void *data, size_t bytes)
{
    while (file->room - file->bytes < bytes)
        file->data = lwp_grow(file->data, file->room, &file->room, 1);
    if (bytes)
        memcpy(file->data + file->bytes, data, bytes);
    file->bytes += bytes;
}

static void dwo_begin_section(struct dwo_file *file, const char *name, uint32_t type)
{
    size_t length = strlen(name) + 1;
    file->headers[++file->count] = (Elf64_Shdr){
        .sh_name = (uint32_t)file->names_bytes, .sh_type = type, .sh_offset = file->bytes, .sh_addralign = 1};
    memcpy(file->names + file->names_bytes, name, length);
    file->names_bytes += length;
}

static void dwo_end_section(struct dwo_file *file)
{
    file->headers[file->count].sh_size = file->bytes - file->headers[file->count].sh_offset;
}

/* The string at an offset; its length 0: none. Strings may end alike and then share bytes, but together they do not get
 * many times longer than all that there are. */
static size_t dwo_string(const struct dwo_part *all, uint32_t offset, uint32_t used)
{
    size_t length = offset < all->bytes ? strnlen((const char *)all->data + offset, all->bytes - offset) : 0;
    uint64_t end = (uint64_t)used + length + 1;
    return end <= UINT32_MAX && end <= 8 * (uint64_t)all->bytes + 8 ? length : 0;
}

/* The unit's strings alone: those of the whole program may be a gigabyte. */
static void dwo_strings(struct dwo_file *file, const struct code_dwo_units *units, struct dwo_part offsets,
                        uint32_t version)
{
    size_t header = version == 5 ? 8 : 0;
    const struct dwo_part *all = &units->sections[DWO_STR];
    if (offsets.bytes < header || offsets.bytes / 4 > STRINGS_MOST)
        return;
    for (int texts = 0; texts < 2; texts++) { /* first where they will be, then they themselves */
        uint32_t used = 1;
        dwo_begin_section(file, texts ? ".debug_str.dwo" : ".debug_str_offsets.dwo", SHT_PROGBITS);
        dwo_append(file, texts ? (const uint8_t *)"" : offsets.data, texts ? 1 : header);
        for (size_t at = header; at + 4 <= offsets.bytes; at += 4) {
            uint32_t from = lwp_u32_at(offsets.data + at);
            size_t length = dwo_string(all, from, used);
            uint32_t to = length ? used : 0;
            used += length ? (uint32_t)length + 1 : 0;
            if (!texts)
                dwo_append(file, &to, sizeof to);
            else if (length)
                dwo_append(file, all->data + from, length);
            if (texts && length)
                dwo_append(file, "", 1);
        }
        dwo_end_section(file);
    }
}

/* The type units that came from the same .dwo file as the unit: they share its abbreviations and strings. */
static void dwo_type_units(struct dwo_file *file, const struct code_dwo_units *units, uint32_t row, unsigned column)
{
    struct dwo_part own = dwo_slice(units, &units->cu, row, DWO_ABBREV);
    size_t at = LWP_COUNT_UP_TO(units->types, units->type_count, abbrev, (uintptr_t)own.data - 1);
    size_t most = file->bytes + units->sections[column].bytes; /* more only when parts overlap */
    for (; own.data && at < units->type_count && units->types[at].abbrev == own.data; at++) {
        struct dwo_part unit = dwo_slice(units, &units->tu, (uint32_t)units->types[at].row, column);
        if (unit.data && file->bytes + unit.bytes <= most)
            dwo_append(file, unit.data, unit.bytes);
    }
}

static void dwo_begin(struct dwo_file *file)
{
    dwo_append(file, &(Elf64_Ehdr){0}, sizeof(Elf64_Ehdr));
    file->names_bytes = 1;
}

static void dwo_finish(struct dwo_file *file)
{
    dwo_begin_section(file, ".shstrtab", SHT_STRTAB);
    dwo_append(file, file->names, file->names_bytes);
    dwo_end_section(file);
    while (file->bytes % 8)
        dwo_append(file, "", 1);
    Elf64_Ehdr header = {.e_type = ET_REL,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_shoff = file->bytes,
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (uint16_t)(file->count + 1),
                         .e_shstrndx = file->count};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    dwo_append(file, file->headers, (file->count + 1u) * sizeof(Elf64_Shdr));
    memcpy(file->data, &header, sizeof header);
}

bool code_dwo_file_unit(const struct code_dwo_units *units, uint64_t id, uint8_t **data, size_t *bytes)
{
    struct dwo_file file = {0};
    uint32_t version = units->cu.version, row = dwo_row(units, id);
    if (!row)
        return false;
    dwo_begin(&file);
    for (unsigned column = DWO_INFO; column <= DWO_8; column++) {
        const char *name = dwo_section_name(version, column);
        struct dwo_part part = dwo_slice(units, &units->cu, row, column);
        if (!name || column == DWO_STR_OFFSETS || (!part.data && column != DWO_TYPES))
            continue;
        dwo_begin_section(&file, name, SHT_PROGBITS);
        dwo_append(&file, part.data, part.bytes);
        if ((version == 5 && column == DWO_INFO) || (version == 2 && column == DWO_TYPES))
            dwo_type_units(&file, units, row, column);
        dwo_end_section(&file);
    }
    dwo_strings(&file, units, dwo_slice(units, &units->cu, row, DWO_STR_OFFSETS), version);
    dwo_finish(&file);
    *data = file.data;
    *bytes = file.bytes;
    return true;
}

bool code_dwo_file_scattered(Elf *elf)
{
    return dwo_section(elf, ".debug_info.dwo", 1).data || dwo_section(elf, ".debug_types.dwo", 1).data;
}

bool code_dwo_file_join(Elf *elf, uint8_t **data, size_t *bytes)
{
    struct dwo_file file = {0};
    static const char *const names[] = {".debug_info.dwo",        ".debug_types.dwo",    ".debug_abbrev.dwo",
                                        ".debug_line.dwo",        ".debug_loc.dwo",      ".debug_loclists.dwo",
                                        ".debug_str_offsets.dwo", ".debug_rnglists.dwo", ".debug_str.dwo"};
    dwo_begin(&file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct dwo_part part;
        dwo_begin_section(&file, names[i], SHT_PROGBITS);
        for (unsigned nth = 0; (part = dwo_section(elf, names[i], nth)).data; nth++)
            dwo_append(&file, part.data, part.bytes);
        dwo_end_section(&file);
        if (!file.headers[file.count].sh_size) /* an empty one counts as there */
            file.names_bytes -= strlen(names[i]) + 1, file.count--;
    }
    if (file.count)
        dwo_finish(&file);
    *data = file.data;
    *bytes = file.bytes;
    return file.count > 0;
}
