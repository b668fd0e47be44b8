/* Puts one .dwo file together: of a unit of a package, or of a .dwo file with several sections of one name. */
#include "analysis/program/debug/dwo_units.h"

#include "base/search.h"
#include "base/unaligned.h"

#include <string.h>

enum { STRINGS_MOST = 1 << 22 };

struct dwo_file {
    uint8_t *data;
    size_t bytes, room;
    Elf64_Shdr headers[CODE_DWO_SECTIONS + 2];
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
static size_t dwo_string(const struct code_dwo_part *all, uint32_t offset, uint32_t used)
{
    size_t length = offset < all->bytes ? strnlen((const char *)all->data + offset, all->bytes - offset) : 0;
    uint64_t end = (uint64_t)used + length + 1;
    return end <= UINT32_MAX && end <= 8 * (uint64_t)all->bytes + 8 ? length : 0;
}

/* The unit's strings alone: those of the whole program may be a gigabyte. */
static void dwo_strings(struct dwo_file *file, const struct code_dwo_units *units, struct code_dwo_part offsets,
                        uint32_t version)
{
    size_t header = version == 5 ? 8 : 0;
    const struct code_dwo_part *all = &units->sections[CODE_DWO_STR];
    if (offsets.bytes < header || offsets.bytes / 4 > STRINGS_MOST)
        return;
    uint32_t used = 1;
    dwo_begin_section(file, ".debug_str_offsets.dwo", SHT_PROGBITS);
    dwo_append(file, offsets.data, header);
    for (size_t at = header; at + 4 <= offsets.bytes; at += 4) {
        size_t length = dwo_string(all, lwp_u32_at(offsets.data + at), used);
        uint32_t to = length ? used : 0;
        used += length ? (uint32_t)length + 1 : 0;
        dwo_append(file, &to, sizeof to);
    }
    dwo_end_section(file);
    dwo_begin_section(file, ".debug_str.dwo", SHT_PROGBITS);
    dwo_append(file, "", 1);
    used = 1;
    for (size_t at = header; at + 4 <= offsets.bytes; at += 4) {
        uint32_t from = lwp_u32_at(offsets.data + at);
        size_t length = dwo_string(all, from, used);
        used += length ? (uint32_t)length + 1 : 0;
        if (length)
            dwo_append(file, all->data + from, length);
        if (length)
            dwo_append(file, "", 1);
    }
    dwo_end_section(file);
}

/* The type units that came from the same .dwo file as the unit: they share its abbreviations and strings. */
static void dwo_type_units(struct dwo_file *file, const struct code_dwo_units *units, uint32_t row, unsigned column)
{
    struct code_dwo_part own = code_dwo_slice(units, &units->cu, row, CODE_DWO_ABBREV);
    size_t at = LWP_COUNT_UP_TO(units->types, units->type_count, abbrev, (uintptr_t)own.data - 1);
    size_t most = file->bytes + units->sections[column].bytes; /* more only when parts overlap */
    for (; own.data && at < units->type_count && units->types[at].abbrev == own.data; at++) {
        struct code_dwo_part unit = code_dwo_slice(units, &units->tu, (uint32_t)units->types[at].row, column);
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

void code_dwo_file_unit(const struct code_dwo_units *units, uint32_t row, uint8_t **data, size_t *bytes)
{
    struct dwo_file file = {0};
    uint32_t version = units->cu.version;
    dwo_begin(&file);
    for (unsigned column = CODE_DWO_INFO; column <= CODE_DWO_8; column++) {
        const char *name = code_dwo_section_name(version, column);
        struct code_dwo_part part = code_dwo_slice(units, &units->cu, row, column);
        if (!name || column == CODE_DWO_STR_OFFSETS || (!part.data && column != CODE_DWO_TYPES))
            continue;
        dwo_begin_section(&file, name, SHT_PROGBITS);
        dwo_append(&file, part.data, part.bytes);
        if ((version == 5 && column == CODE_DWO_INFO) || (version == 2 && column == CODE_DWO_TYPES))
            dwo_type_units(&file, units, row, column);
        dwo_end_section(&file);
    }
    dwo_strings(&file, units, code_dwo_slice(units, &units->cu, row, CODE_DWO_STR_OFFSETS), version);
    dwo_finish(&file);
    *data = file.data;
    *bytes = file.bytes;
}

bool code_dwo_file_join(Elf *elf, uint8_t **data, size_t *bytes)
{
    struct dwo_file file = {0};
    static const char *const names[] = {".debug_info.dwo",        ".debug_types.dwo",    ".debug_abbrev.dwo",
                                        ".debug_line.dwo",        ".debug_loc.dwo",      ".debug_loclists.dwo",
                                        ".debug_str_offsets.dwo", ".debug_rnglists.dwo", ".debug_str.dwo"};
    dwo_begin(&file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct code_dwo_part part;
        dwo_begin_section(&file, names[i], SHT_PROGBITS);
        for (unsigned nth = 0; (part = code_dwo_section(elf, names[i], nth)).data; nth++)
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
