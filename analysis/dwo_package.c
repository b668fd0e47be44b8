/* libdw before 0.191 knows .dwo files but not packages of them, and takes a .dwo file from two places only: the folder
 * of the program and the one it was compiled in. So a unit that is needed is cut out of the package into a .dwo file in
 * a temporary folder, which libdw is made to take for the program's: the descriptor of the program's file, mapped by
 * then, is swapped for one of a file there. The .dwo file is removed as soon as libdw has mapped it.
 * The same is done for .dwo files with several sections of one name (gcc -fdebug-types-section), of which libdw reads
 * only one. Not done: units whose .dwo name is absolute or leads upwards, and type units that another .dwo file
 * contributed. */
#include "analysis/dwo_package.h"

#include "analysis/debug_files.h"
#include "base/unaligned.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKAGE_PATH_MAX = 4096, PACKAGE_SECTIONS = 9, PACKAGE_STRINGS = 1 << 22 };

/* The numbers of the index's columns. */
enum { COLUMN_INFO = 1, COLUMN_TYPES, COLUMN_ABBREV, COLUMN_LINE, COLUMN_LOC, COLUMN_STR_OFFSETS, COLUMN_7, COLUMN_8 };

struct package_part {
    const uint8_t *data;
    size_t bytes;
};

struct package_index {
    const uint8_t *start;
    size_t bytes;
    uint32_t version, columns, units, slots;
};

/* A type unit, by where its abbreviations are: what came from one .dwo file is together. */
struct package_type {
    const uint8_t *abbrev;
    uint32_t row;
};

struct code_package {
    Elf *elf;
    int fd;
    char folder[64], anchor[80], program_folder[PACKAGE_PATH_MAX];
    struct package_index cu, tu;
    struct package_part sections[PACKAGE_SECTIONS]; /* by column; 0: .debug_str.dwo */
    struct package_type *types;
    size_t type_count;
};

/* What columns 5, 7 and 8 are depends on the version; macros are left out. */
static const char *package_section_name(uint32_t version, unsigned column)
{
    static const char *const names[] = {".debug_str.dwo",        ".debug_info.dwo", ".debug_types.dwo",
                                        ".debug_abbrev.dwo",     ".debug_line.dwo", ".debug_loc.dwo",
                                        ".debug_str_offsets.dwo"};
    if (version == 5 && column == COLUMN_LOC)
        return ".debug_loclists.dwo";
    if (version == 5 && column == COLUMN_8)
        return ".debug_rnglists.dwo";
    return column <= COLUMN_STR_OFFSETS ? names[column] : NULL;
}

/* The nth section of the name. */
static struct package_part package_find(Elf *elf, const char *name, unsigned nth)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names))
        return (struct package_part){0};
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *found = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!found || strcmp(found, name) || header.sh_type == SHT_NOBITS || nth--)
            continue;
        if ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (data && data->d_buf)
            return (struct package_part){data->d_buf, data->d_size};
    }
    return (struct package_part){0};
}

static bool package_index_read(Elf *elf, const char *name, struct package_index *index)
{
    enum { HEADER = 16 };
    struct package_part part = package_find(elf, name, 0);
    if (part.bytes < HEADER)
        return false;
    *index = (struct package_index){.start = part.data,
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

/* The row of the id, from 1; 0: not there. Open addressing as the format says. */
static uint32_t package_row(const struct package_index *index, uint64_t id)
{
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

/* The row's part of a section. */
static struct package_part package_slice(const struct code_package *package, const struct package_index *index,
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
        const struct package_part *section = &package->sections[wanted];
        if (offset <= section->bytes && bytes <= section->bytes - offset)
            return (struct package_part){section->data + offset, bytes};
    }
    return (struct package_part){0};
}

static int package_type_compare(const void *a, const void *b)
{
    const struct package_type *x = a, *y = b;
    if (x->abbrev != y->abbrev)
        return x->abbrev < y->abbrev ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void package_types_sort(struct code_package *package)
{
    size_t capacity = 0;
    for (uint32_t row = 1; package->tu.start && row <= package->tu.units; row++) {
        struct package_part abbrev = package_slice(package, &package->tu, row, COLUMN_ABBREV);
        if (!abbrev.data)
            continue;
        LWP_GROW(&package->types, package->type_count, &capacity);
        package->types[package->type_count++] = (struct package_type){abbrev.data, row};
    }
    if (package->type_count)
        qsort(package->types, package->type_count, sizeof *package->types, package_type_compare);
}

/* ---- writing a .dwo file ---- */

struct dwo_file {
    uint8_t *data;
    size_t bytes, room;
    Elf64_Shdr headers[PACKAGE_SECTIONS + 2];
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
static size_t dwo_string(const struct package_part *all, uint32_t offset, uint32_t used)
{
    size_t length = offset < all->bytes ? strnlen((const char *)all->data + offset, all->bytes - offset) : 0;
    uint64_t end = (uint64_t)used + length + 1;
    return end <= UINT32_MAX && end <= 8 * (uint64_t)all->bytes + 8 ? length : 0;
}

/* The unit's strings alone: those of the whole program may be a gigabyte. */
static void dwo_strings(struct dwo_file *file, const struct code_package *package, struct package_part offsets,
                        uint32_t version)
{
    size_t header = version == 5 ? 8 : 0;
    const struct package_part *all = &package->sections[0];
    if (offsets.bytes < header || offsets.bytes / 4 > PACKAGE_STRINGS)
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
static void dwo_type_units(struct dwo_file *file, const struct code_package *package, uint32_t row, unsigned column)
{
    struct package_part own = package_slice(package, &package->cu, row, COLUMN_ABBREV);
    size_t low = 0, high = package->type_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (package->types[middle].abbrev < own.data)
            low = middle + 1;
        else
            high = middle;
    }
    size_t most = file->bytes + package->sections[column].bytes; /* more only when parts overlap */
    for (; own.data && low < package->type_count && package->types[low].abbrev == own.data; low++) {
        struct package_part unit = package_slice(package, &package->tu, package->types[low].row, column);
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

/* What a .dwo file has in several sections of one name, put together. */
static bool dwo_gather(struct dwo_file *file, Elf *elf)
{
    static const char *const names[] = {".debug_info.dwo",        ".debug_types.dwo",    ".debug_abbrev.dwo",
                                        ".debug_line.dwo",        ".debug_loc.dwo",      ".debug_loclists.dwo",
                                        ".debug_str_offsets.dwo", ".debug_rnglists.dwo", ".debug_str.dwo"};
    dwo_begin(file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct package_part part;
        dwo_begin_section(file, names[i], SHT_PROGBITS);
        for (unsigned nth = 0; (part = package_find(elf, names[i], nth)).data; nth++)
            dwo_append(file, part.data, part.bytes);
        dwo_end_section(file);
        if (!file->headers[file->count].sh_size) /* an empty one counts as there */
            file->names_bytes -= strlen(names[i]) + 1, file->count--;
    }
    if (!file->count)
        return false;
    dwo_finish(file);
    return true;
}

static void dwo_build(struct dwo_file *file, const struct code_package *package, uint32_t row)
{
    uint32_t version = package->cu.version;
    dwo_begin(file);
    for (unsigned column = COLUMN_INFO; column <= COLUMN_8; column++) {
        const char *name = package_section_name(version, column);
        struct package_part part = package_slice(package, &package->cu, row, column);
        if (!name || column == COLUMN_STR_OFFSETS || (!part.data && column != COLUMN_TYPES))
            continue;
        dwo_begin_section(file, name, SHT_PROGBITS);
        dwo_append(file, part.data, part.bytes);
        if ((version == 5 && column == COLUMN_INFO) || (version == 2 && column == COLUMN_TYPES))
            dwo_type_units(file, package, row, column);
        dwo_end_section(file);
    }
    dwo_strings(file, package, package_slice(package, &package->cu, row, COLUMN_STR_OFFSETS), version);
    dwo_finish(file);
}

/* ---- the folder ---- */

/* Nothing that leads out of the folder. */
static bool package_name_fits(const char *name)
{
    size_t length = strlen(name);
    return *name && *name != '/' && name[length - 1] != '/' && length < PACKAGE_PATH_MAX - 100 && strcmp(name, "..") &&
           strncmp(name, "../", 3) && !strstr(name, "/../") && !strstr(name, "//");
}

static bool package_write(struct code_package *package, const char *name, const struct dwo_file *file)
{
    char path[PACKAGE_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", package->folder, name);
    for (char *slash = path + strlen(package->folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0700);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, file->data, file->bytes) == (ssize_t)file->bytes;
    if (fd >= 0)
        close(fd);
    if (!written)
        code_package_remove(package, name);
    return written;
}

bool code_package_unpack(struct code_package *package, uint64_t id, const char *name)
{
    uint32_t row = package->elf ? package_row(&package->cu, id) : 0;
    if (!row || !package_name_fits(name))
        return false;
    struct dwo_file file = {0};
    dwo_build(&file, package, row);
    bool written = package_write(package, name, &file);
    free(file.data);
    return written;
}

bool code_package_gather(struct code_package *package, const char *source, const char *name)
{
    int fd;
    enum lwp_module_file reason;
    Elf *elf = package_name_fits(name) ? code_elf_file_open(source, &fd, &reason) : NULL;
    if (!elf)
        return false;
    struct dwo_file file = {0};
    bool gathered = code_elf_unpacks_well(elf) && dwo_gather(&file, elf) && package_write(package, name, &file);
    free(file.data);
    code_elf_file_close(elf, fd);
    return gathered;
}

void code_package_remove(struct code_package *package, const char *name)
{
    char path[PACKAGE_PATH_MAX];
    if (!package_name_fits(name))
        return;
    snprintf(path, sizeof path, "%s/%s", package->folder, name);
    unlink(path);
    for (char *slash; (slash = strrchr(path, '/')) > path + strlen(package->folder);) {
        *slash = '\0';
        if (rmdir(path))
            return;
    }
}

/* Makes the temporary folder the one where libdw takes the program to be. */
static struct code_package *package_install(const struct code_package *package, const struct code_module *module)
{
    struct code_package *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *package;
    code_debug_folder(module, copy->program_folder, sizeof copy->program_folder);
    snprintf(copy->folder, sizeof copy->folder, "/tmp/lwp-dwo-XXXXXX");
    if (!mkdtemp(copy->folder))
        copy->folder[0] = '\0';
    snprintf(copy->anchor, sizeof copy->anchor, "%s/.program", copy->folder);
    int fd = module->debug_elf == module->elf ? module->fd : module->debug_fd;
    int anchor = *copy->folder ? open(copy->anchor, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    bool swapped = anchor >= 0 && dup3(anchor, fd, O_CLOEXEC) == fd;
    if (anchor >= 0)
        close(anchor);
    if (swapped)
        return copy;
    code_package_close(copy);
    return NULL;
}

struct code_package *code_package_open(struct code_module *module)
{
    char path[PACKAGE_PATH_MAX];
    enum lwp_module_file reason;
    struct code_package package = {.fd = -1};
    if (!code_debug_package_path(module, path, sizeof path))
        return NULL;
    package.elf = code_elf_file_open(path, &package.fd, &reason);
    if (!package.elf || !code_elf_unpacks_well(package.elf) ||
        !package_index_read(package.elf, ".debug_cu_index", &package.cu)) {
        code_elf_file_close(package.elf, package.fd);
        return NULL;
    }
    if (!package_index_read(package.elf, ".debug_tu_index", &package.tu) || package.tu.version != package.cu.version)
        package.tu = (struct package_index){0};
    for (unsigned column = 0; column < PACKAGE_SECTIONS; column++) {
        const char *name = package_section_name(package.cu.version, column);
        if (name)
            package.sections[column] = package_find(package.elf, name, 0);
    }
    package_types_sort(&package);
    return package_install(&package, module);
}

struct code_package *code_package_empty(struct code_module *module)
{
    return package_install(&(struct code_package){.fd = -1}, module);
}

bool code_package_scattered(const char *dwo_path)
{
    int fd;
    enum lwp_module_file reason;
    Elf *elf = code_elf_file_open(dwo_path, &fd, &reason);
    bool scattered = elf && code_elf_unpacks_well(elf) &&
                     (package_find(elf, ".debug_info.dwo", 1).data || package_find(elf, ".debug_types.dwo", 1).data);
    code_elf_file_close(elf, fd);
    return scattered;
}

const char *code_package_program_folder(const struct code_package *package)
{
    return package->program_folder;
}

void code_package_ready(struct code_package *package)
{
    unlink(package->anchor);
}

const char *code_package_folder(const struct code_package *package)
{
    return package->folder;
}

void code_package_close(struct code_package *package)
{
    if (!package)
        return;
    if (*package->folder) {
        unlink(package->anchor);
        rmdir(package->folder);
    }
    code_elf_file_close(package->elf, package->fd);
    free(package->types);
    free(package);
}
