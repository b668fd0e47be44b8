/* Finds the file a module was loaded from, makes sure it is the build that ran, and finds its debug info: in the file,
 * or in a separate file named by build-id or .gnu_debuglink. Only regular files are opened. Not looked for:
 * debuginfod servers and the compressed mini symbol table of Fedora (.gnu_debugdata). */
#include "analysis/code_internal.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ELF_SECTION_LIMIT = 100000, ELF_SEGMENT_LIMIT = 10000 };

static Elf *elf_file_open(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return NULL;
    struct stat status;
    Elf *elf = NULL;
    if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode))
        elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
    GElf_Ehdr header;
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64 &&
        header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB)
        return elf;
    elf_end(elf);
    close(*fd);
    *fd = -1;
    return NULL;
}

static void elf_file_close(Elf *elf, int fd)
{
    elf_end(elf);
    if (fd >= 0)
        close(fd);
}

static bool elf_has_section(Elf *elf, const char *name)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names))
        return false;
    int seen = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) && seen++ < ELF_SECTION_LIMIT;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *found = elf_strptr(elf, names, header.sh_name);
        if (found && !strcmp(found, name))
            return true;
    }
    return false;
}

static bool elf_has_dwarf(Elf *elf)
{
    return elf_has_section(elf, ".debug_info") || elf_has_section(elf, ".zdebug_info");
}

/* Any symbol that names something of this file itself, not only imports. */
static bool elf_has_symbols(Elf *elf)
{
    int seen = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) && seen++ < ELF_SECTION_LIMIT;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
        for (size_t i = 0; i < count; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx != SHN_UNDEF &&
                (GELF_ST_TYPE(symbol.st_info) == STT_FUNC || GELF_ST_TYPE(symbol.st_info) == STT_OBJECT))
                return true;
        }
    }
    return false;
}

static bool elf_same_build(Elf *elf, const void *build_id, size_t bytes)
{
    const void *own;
    ssize_t own_bytes = dwelf_elf_gnu_build_id(elf, &own);
    return own_bytes > 0 && (size_t)own_bytes == bytes && !memcmp(own, build_id, bytes);
}

/* The CRC-32 of .gnu_debuglink (IEEE polynomial, reflected), four bits at a time. */
static uint32_t elf_link_crc(const uint8_t *data, size_t bytes)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < bytes; i++) {
        crc = table[(crc ^ data[i]) & 15] ^ crc >> 4;
        crc = table[(crc ^ data[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

/* Takes the file as the module's debug file when it belongs to it. */
static bool elf_try_debug(struct code_module *module, const char *path, const void *build_id, ssize_t build_id_bytes,
                          uint32_t crc)
{
    int fd;
    Elf *elf = elf_file_open(path, &fd);
    if (!elf)
        return false;
    bool right;
    if (build_id_bytes > 0) {
        right = elf_same_build(elf, build_id, (size_t)build_id_bytes);
    } else {
        size_t bytes;
        const char *raw = elf_rawfile(elf, &bytes);
        right = raw && elf_link_crc((const uint8_t *)raw, bytes) == crc;
    }
    if (!right || (!elf_has_dwarf(elf) && !elf_has_section(elf, ".symtab"))) {
        elf_file_close(elf, fd);
        return false;
    }
    module->debug_elf = elf;
    module->debug_fd = fd;
    return true;
}

static void elf_find_debug(struct code_module *module)
{
    const void *id = NULL;
    ssize_t id_bytes = dwelf_elf_gnu_build_id(module->elf, &id);
    char path[4096];
    if (id_bytes > 2 && id_bytes <= 64) {
        const uint8_t *bytes = id;
        int used = snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%02x/", bytes[0]);
        for (ssize_t i = 1; i < id_bytes; i++)
            used += snprintf(path + used, sizeof path - (size_t)used, "%02x", bytes[i]);
        snprintf(path + used, sizeof path - (size_t)used, ".debug");
        if (elf_try_debug(module, path, id, id_bytes, 0))
            return;
    }
    GElf_Word crc = 0;
    const char *link = dwelf_elf_gnu_debuglink(module->elf, &crc);
    if (!link || strchr(link, '/'))
        return;
    const char *slash = strrchr(module->info.path, '/');
    int folder = slash ? (int)(slash - module->info.path) : 0;
    static const struct {
        const char *above, *below;
    } places[] = {{"", ""}, {"", "/.debug"}, {"/usr/lib/debug", ""}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int length = snprintf(path, sizeof path, "%s%.*s%s/%s", places[i].above, folder, module->info.path,
                              places[i].below, link);
        if (length > 0 && (size_t)length < sizeof path && strcmp(path, module->info.path) &&
            elf_try_debug(module, path, id, id_bytes, crc))
            return;
    }
}

static void elf_read_layout(struct code_module *module)
{
    size_t capacity = 0, bytes = 0;
    int seen = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(module->elf, section)) && seen++ < ELF_SECTION_LIMIT;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) || (header.sh_flags & SHF_TLS) ||
            header.sh_addr + header.sh_size < header.sh_addr)
            continue;
        LWP_GROW(&module->sections, module->section_count, &capacity);
        module->sections[module->section_count++] = (struct code_section){
            .start = header.sh_addr,
            .end = header.sh_addr + header.sh_size,
            .executable = header.sh_flags & SHF_EXECINSTR,
        };
    }
    const uint8_t *raw = (const uint8_t *)elf_rawfile(module->elf, &bytes);
    size_t segments = 0;
    if (!raw || elf_getphdrnum(module->elf, &segments))
        return;
    capacity = 0;
    for (size_t i = 0; i < segments && i < ELF_SEGMENT_LIMIT; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(module->elf, (int)i, &header) || header.p_type != PT_LOAD || header.p_offset >= bytes)
            continue;
        uint64_t size = header.p_filesz;
        if (size > bytes - header.p_offset)
            size = bytes - header.p_offset;
        if (header.p_vaddr + size < header.p_vaddr)
            continue;
        LWP_GROW(&module->segments, module->segment_count, &capacity);
        module->segments[module->segment_count++] =
            (struct code_segment){.start = header.p_vaddr, .bytes = size, .data = raw + header.p_offset};
    }
}

void code_elf_open(struct code_module *module, const uint8_t *build_id, size_t build_id_bytes)
{
    module->fd = module->debug_fd = -1;
    module->elf = elf_file_open(module->info.path, &module->fd);
    if (!module->elf)
        return;
    if (build_id_bytes && !elf_same_build(module->elf, build_id, build_id_bytes)) {
        module->info.debug_info = LWP_DEBUG_REPLACED;
        elf_file_close(module->elf, module->fd);
        module->elf = NULL;
        module->fd = -1;
        return;
    }
    elf_read_layout(module);
    if (!elf_has_dwarf(module->elf))
        elf_find_debug(module);
    if (!module->debug_elf)
        module->debug_elf = module->elf;
    if (elf_has_dwarf(module->debug_elf))
        module->info.debug_info = LWP_DEBUG_FULL;
    else if (elf_has_symbols(module->debug_elf) || elf_has_symbols(module->elf))
        module->info.debug_info = LWP_DEBUG_SYMBOLS;
}

void code_elf_close(struct code_module *module)
{
    if (module->debug_elf && module->debug_elf != module->elf)
        elf_file_close(module->debug_elf, module->debug_fd);
    if (module->elf)
        elf_file_close(module->elf, module->fd);
    module->elf = module->debug_elf = NULL;
}

const uint8_t *code_bytes(const struct code_module *module, uint64_t address, size_t *available)
{
    for (size_t i = 0; i < module->segment_count; i++) {
        const struct code_segment *segment = &module->segments[i];
        if (address >= segment->start && address - segment->start < segment->bytes) {
            *available = segment->bytes - (address - segment->start);
            return segment->data + (address - segment->start);
        }
    }
    *available = 0;
    return NULL;
}

const struct code_section *code_section_at(const struct code_module *module, uint64_t address)
{
    for (size_t i = 0; i < module->section_count; i++)
        if (address >= module->sections[i].start && address < module->sections[i].end)
            return &module->sections[i];
    return NULL;
}
