/* Finds separate debug info: by build-id or .gnu_debuglink (its CRC checked) beside the module, in its .debug folder
 * and in the folders of LWP_DEBUG_PATH (several, with colons) and /usr/lib/debug; at last from debuginfod servers, but
 * only for modules that ran and when DEBUGINFOD_URLS names some. Each root is laid out as /usr/lib/debug is, or holds
 * the files themselves.
 * libdwfl has such a search too. Its own asks the servers about every module that is loaded, waits for ever at a FIFO,
 * and takes files that unpack to more than the memory. */
#include "analysis/program/binary/debug_files.h"

#include "base/log.h"
#include "base/path.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ELF_SECTION_LIMIT = 100000, DEBUG_PATH_MAX = 4096, BUILD_ID_MAX = 64 };
#define DEBUG_ROOT "/usr/lib/debug"

Elf *code_elf_file_open(const char *path, int *fd, enum lwp_module_file *reason)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *reason = *fd >= 0 ? LWP_FILE_NONE : errno == EACCES || errno == EPERM ? LWP_FILE_UNREADABLE : LWP_FILE_GONE;
    if (*fd < 0)
        return NULL;
    struct stat status;
    Elf *elf = NULL;
    if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode)) {
        *reason = LWP_FILE_ODD;
        elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
    }
    GElf_Ehdr header;
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64 &&
        header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB) {
        *reason = LWP_FILE_READ;
        return elf;
    }
    code_elf_file_close(elf, *fd);
    *fd = -1;
    return NULL;
}

void code_elf_file_close(Elf *elf, int fd)
{
    elf_end(elf);
    if (fd >= 0)
        close(fd);
}

Elf_Scn *code_elf_section(Elf *elf, Elf_Scn *previous, uint32_t type, const char *name, GElf_Shdr *header)
{
    size_t names;
    if (name && elf_getshdrstrndx(elf, &names))
        return NULL;
    for (Elf_Scn *at = previous; (at = elf_nextscn(elf, at)) && elf_ndxscn(at) <= ELF_SECTION_LIMIT;) {
        if (!gelf_getshdr(at, header) || (type && header->sh_type != type))
            continue;
        const char *own = name && header->sh_type != SHT_NOBITS ? elf_strptr(elf, names, header->sh_name) : NULL;
        if (!name || (own && !strcmp(own, name)))
            return at;
    }
    return NULL;
}

bool code_elf_has_section(Elf *elf, const char *name)
{
    GElf_Shdr header;
    return code_elf_section(elf, NULL, SHT_NULL, name, &header);
}

/* What the file's compressed sections say they unpack to; libdw unpacks all of them at once. Debug info gets four to
 * ten times smaller, much more than that is an attack. */
bool code_elf_unpacks_well(Elf *elf)
{
    enum { UNPACK_FACTOR = 32 };
    size_t names, bytes = 0;
    uint64_t total = 0;
    GElf_Shdr header;
    elf_rawfile(elf, &bytes);
    if (elf_getshdrstrndx(elf, &names))
        return true;
    for (Elf_Scn *section = NULL; (section = code_elf_section(elf, section, SHT_NULL, NULL, &header));) {
        GElf_Chdr packed;
        Elf_Data *data;
        uint64_t unpacked = 0;
        if (header.sh_type == SHT_NOBITS)
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (header.sh_flags & SHF_COMPRESSED) {
            unpacked = gelf_getchdr(section, &packed) ? packed.ch_size : 0;
        } else if (name && !strncmp(name, ".zdebug", 7) && (data = elf_rawdata(section, NULL)) && data->d_size >= 12) {
            memcpy(&unpacked, (const char *)data->d_buf + 4, sizeof unpacked);
            unpacked = __builtin_bswap64(unpacked);
        }
        if (__builtin_add_overflow(total, unpacked, &total))
            return false;
    }
    return total / UNPACK_FACTOR <= bytes;
}

bool code_elf_has_dwarf(Elf *elf)
{
    if (!code_elf_unpacks_well(elf))
        return false;
    return code_elf_has_section(elf, ".debug_info") || code_elf_has_section(elf, ".zdebug_info");
}

bool code_elf_same_build(Elf *elf, const void *build_id, size_t bytes)
{
    const void *own;
    ssize_t own_bytes = dwelf_elf_gnu_build_id(elf, &own);
    return own_bytes > 0 && (size_t)own_bytes == bytes && !memcmp(own, build_id, bytes);
}

/* What a separate file must agree with. */
struct debug_wanted {
    const void *id;
    size_t id_bytes; /* 0: the module has none, the CRC decides */
    uint32_t crc;
    char id_path[16 + BUILD_ID_MAX * 2 + 8]; /* ".build-id/xx/yyyy.debug"; "": none */
};

static struct debug_wanted debug_want(const void *id, ssize_t bytes)
{
    struct debug_wanted wanted = {.id = id};
    if (bytes <= 2 || bytes > BUILD_ID_MAX)
        return wanted;
    wanted.id_bytes = (size_t)bytes;
    const uint8_t *at = id;
    int used = snprintf(wanted.id_path, sizeof wanted.id_path, ".build-id/%02x/", at[0]);
    for (ssize_t i = 1; i < bytes; i++)
        used += snprintf(wanted.id_path + used, sizeof wanted.id_path - (size_t)used, "%02x", at[i]);
    snprintf(wanted.id_path + used, sizeof wanted.id_path - (size_t)used, ".debug");
    return wanted;
}

static Elf *debug_try(const char *path, const struct debug_wanted *wanted, int *fd)
{
    enum lwp_module_file reason;
    Elf *elf = code_elf_file_open(path, fd, &reason);
    if (!elf)
        return NULL;
    bool right;
    if (wanted->id_bytes) {
        right = code_elf_same_build(elf, wanted->id, wanted->id_bytes);
    } else {
        size_t bytes;
        const char *raw = elf_rawfile(elf, &bytes);
        right = raw && lzma_crc32((const uint8_t *)raw, bytes, 0) == wanted->crc; /* the same CRC-32 */
    }
    if (right && (code_elf_has_dwarf(elf) || code_elf_has_section(elf, ".symtab")))
        return elf;
    code_elf_file_close(elf, *fd);
    *fd = -1;
    return NULL;
}

/* The folders of LWP_DEBUG_PATH and /usr/lib/debug, for debug_next_root(). */
static char *debug_roots(char roots[DEBUG_PATH_MAX])
{
    const char *given = getenv("LWP_DEBUG_PATH");
    if (!given || snprintf(roots, DEBUG_PATH_MAX, "%s:" DEBUG_ROOT, given) >= DEBUG_PATH_MAX)
        memcpy(roots, DEBUG_ROOT, sizeof DEBUG_ROOT);
    return roots;
}

static char *debug_next_root(char **at)
{
    char *root = strsep(at, ":");
    while (root && !*root)
        root = strsep(at, ":");
    return root;
}

__attribute__((format(printf, 4, 5))) static Elf *debug_try_at(const struct debug_wanted *wanted, int *fd,
                                                               const char *not_this, const char *format, ...)
{
    char path[DEBUG_PATH_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    if (length <= 0 || (size_t)length >= sizeof path || !strcmp(path, not_this))
        return NULL;
    return debug_try(path, wanted, fd);
}

static Elf *debug_find(const char *module_path, const struct debug_wanted *wanted, const char *link, int *fd)
{
    char roots[DEBUG_PATH_MAX], *root;
    Elf *elf = NULL;
    for (char *at = debug_roots(roots); wanted->id_path[0] && (root = debug_next_root(&at));)
        if ((elf = debug_try_at(wanted, fd, module_path, "%s/%s", root, wanted->id_path)))
            return elf;
    const char *slash = strrchr(module_path, '/');
    int folder = slash ? (int)(slash - module_path) : 0;
    if (link && *link && !strchr(link, '/')) {
        if ((elf = debug_try_at(wanted, fd, module_path, "%.*s/%s", folder, module_path, link)) ||
            (elf = debug_try_at(wanted, fd, module_path, "%.*s/.debug/%s", folder, module_path, link)))
            return elf;
        for (char *at = debug_roots(roots); (root = debug_next_root(&at));)
            if ((elf = debug_try_at(wanted, fd, module_path, "%s%.*s/%s", root, folder, module_path, link)) ||
                (elf = debug_try_at(wanted, fd, module_path, "%s/%s", root, link)))
                return elf;
    }
    return NULL;
}

static bool debug_take(struct code_module *module, Elf *elf, int fd)
{
    if (elf) {
        module->debug_elf = elf;
        module->debug_fd = fd;
    }
    return elf;
}

/* Asks the servers, through the library that elfutils loads for it. May take as long as a download does. */
bool code_debug_download(struct code_module *module)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    const void *id = NULL;
    ssize_t id_bytes = dwelf_elf_gnu_build_id(module->elf, &id);
    struct debug_wanted wanted = debug_want(id, id_bytes);
    if (!servers || !*servers || !wanted.id_bytes)
        return false;
    lwp_log_progress("asking for the debug info of %s", module->info.path);
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = dwfl_standard_find_debuginfo,
                                             .find_elf = dwfl_build_id_find_elf};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    int own = dwfl ? open(module->info.path, O_RDONLY | O_CLOEXEC) : -1;
    Dwfl_Module *reported = own >= 0 ? dwfl_report_elf(dwfl, "module", module->info.path, own, 0, false) : NULL;
    char *path = NULL;
    Elf *elf = NULL;
    int fd = -1;
    if (reported) {
        int found = dwfl_standard_find_debuginfo(reported, NULL, "module", 0, module->info.path, NULL, 0, &path);
        if (found >= 0)
            elf = debug_try_at(&wanted, &fd, "", "/proc/self/fd/%d", found);
        if (found >= 0)
            close(found);
        free(path);
    } else if (own >= 0) {
        close(own);
    }
    if (dwfl)
        dwfl_end(dwfl);
    return debug_take(module, elf, fd);
}

void code_debug_file_find(struct code_module *module)
{
    const void *id = NULL;
    ssize_t id_bytes = dwelf_elf_gnu_build_id(module->elf, &id);
    struct debug_wanted wanted = debug_want(id, id_bytes);
    GElf_Word crc = 0;
    const char *link = dwelf_elf_gnu_debuglink(module->elf, &crc);
    wanted.crc = crc;
    if (!wanted.id_bytes && !link)
        return;
    int fd = -1;
    Elf *elf = debug_find(module->info.path, &wanted, link, &fd);
    debug_take(module, elf, fd);
}

Elf *code_debug_alternate_find(const char *folder, const char *name, const void *id, size_t id_bytes, int *fd)
{
    struct debug_wanted wanted = debug_want(id, (ssize_t)id_bytes);
    char roots[DEBUG_PATH_MAX], *root;
    const char *file = lwp_path_last(name);
    Elf *elf = NULL;
    if (!wanted.id_bytes)
        return NULL;
    elf =
        *name == '/' ? debug_try_at(&wanted, fd, "", "%s", name) : debug_try_at(&wanted, fd, "", "%s/%s", folder, name);
    for (char *at = debug_roots(roots); !elf && (root = debug_next_root(&at));) {
        elf = debug_try_at(&wanted, fd, "", "%s/%s", root, wanted.id_path);
        if (!elf)
            elf = debug_try_at(&wanted, fd, "", "%s/.dwz/%s", root, file);
    }
    return elf;
}

/* Where the open file with the DWARF really is. */
static void debug_path(const struct code_module *module, char *path, size_t room)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", module->debug_elf == module->elf ? module->fd : module->debug_fd);
    ssize_t length = readlink(link, path, room - 1);
    path[length > 0 ? length : 0] = '\0';
}

void code_debug_folder(const struct code_module *module, char *folder, size_t room)
{
    debug_path(module, folder, room);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

static bool debug_is_package(char *path, size_t room, const char *folder, const char *name)
{
    int length = snprintf(path, room, "%s%s.dwp", folder, name);
    return length > 0 && (size_t)length < room && access(path, R_OK) == 0;
}

bool code_debug_package_path(const struct code_module *module, char *path, size_t room)
{
    const char *name = strrchr(module->info.path, '/');
    char roots[DEBUG_PATH_MAX], *root;
    debug_path(module, roots, sizeof roots);
    bool found =
        (*roots && debug_is_package(path, room, roots, "")) || debug_is_package(path, room, module->info.path, "");
    for (char *at = debug_roots(roots); !found && name && (root = debug_next_root(&at));)
        found = debug_is_package(path, room, root, name);
    return found;
}
