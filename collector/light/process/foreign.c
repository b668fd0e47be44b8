/* The musl C library's loader takes a preloaded library of glibc's and finds no glibc; the loader of a 32-bit program, or of
 * another processor's, complains of one that is not its own, and so does any that cannot open it (in another root); it overruns a
 * small stack; some sanitizers do not start behind any; and a translator (Valgrind) would run it. ldd would list it among the
 * libraries of a program, which others then copy. Static programs ignore
 * LD_PRELOAD and pass it on to those that they start, so it stays. */
#include "collector/light/process/foreign.h"

#include "base/clock.h"
#include "collector/env.h"
#include "collector/light/own/confinement.h"
#include "collector/sanitized.h"
#include "collector/translator.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SCRIPTS_MOST = 5, HEADERS_MOST = 512, HEAD = 256, ROOM_MOST = 4096 };

static const char foreign_variable[] = "LD_PRELOAD=", foreign_library[] = "/liblwp-light.so", foreign_between[] = ": ";
static bool foreign_left;

void lwp_foreign_leave(void)
{
    foreign_left = true;
}

/* ---- the environment ---- */

static bool preload_is(const char *variable)
{
    return strncmp(variable, foreign_variable, sizeof foreign_variable - 1) == 0;
}

/* An entry of LD_PRELOAD, `bytes` long. */
static bool entry_is_ours(const char *entry, size_t bytes)
{
    size_t name = sizeof foreign_library - 1;
    return bytes >= name && memcmp(entry + bytes - name, foreign_library, name) == 0;
}

/* Ours among the entries, `bytes` long. NULL: it is not there. */
static const char *preload_ours(const char *variable, size_t *bytes)
{
    for (const char *entry = variable + sizeof foreign_variable - 1; *entry; entry += *entry != '\0') {
        *bytes = strcspn(entry, foreign_between);
        if (entry_is_ours(entry, *bytes))
            return entry;
        entry += *bytes;
    }
    return NULL;
}

/* In another root (chroot, containers) the loader may not find it, and would say so at each start. */
static bool preload_opens(const char *entry, size_t bytes)
{
    char path[PATH_MAX];
    if (bytes >= sizeof path)
        return false;
    memcpy(path, entry, bytes);
    path[bytes] = '\0';
    return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
}

/* Whether the loader only says what it would load, as ldd wants it. */
static bool preload_is_listed(const char *variable)
{
    static const char lists[] = "LD_TRACE_LOADED_OBJECTS=";
    return strncmp(variable, lists, sizeof lists - 1) == 0 && variable[sizeof lists - 1];
}

/* Whether no program can be started with the library, as things are. */
static bool preload_fails(char *const environment[])
{
    struct rlimit limit;
    size_t bytes;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < LWP_STACK_LEAST)
        return true;
    for (char *const *variable = environment; variable && *variable; variable++) {
        if (preload_is_listed(*variable))
            return true;
        const char *entry = preload_is(*variable) ? preload_ours(*variable, &bytes) : NULL;
        if (entry && !preload_opens(entry, bytes))
            return true;
    }
    return false;
}

static size_t foreign_room(char *const environment[])
{
    size_t room = 1, bytes;
    bool ours = false;
    for (char *const *variable = environment; variable && *variable && room <= ROOM_MOST; variable++, room++)
        if (preload_is(*variable)) {
            ours |= preload_ours(*variable, &bytes) != NULL;
            room += strlen(*variable) / sizeof(char *) + 1;
        }
    return ours && room <= ROOM_MOST ? room : 0;
}

/* Returns the end of the copy; `to` when nothing is left. */
static char *preload_copy(const char *variable, char *to)
{
    char *start = to, *values = to + sizeof foreign_variable - 1;
    memcpy(start, foreign_variable, sizeof foreign_variable);
    to = values;
    for (const char *entry = variable + sizeof foreign_variable - 1; *entry; entry += *entry != '\0') {
        size_t bytes = strcspn(entry, foreign_between);
        if (bytes && !entry_is_ours(entry, bytes)) {
            if (to > values)
                *to++ = ':';
            to = (char *)memcpy(to, entry, bytes) + bytes;
        }
        entry += bytes;
    }
    *to = '\0';
    return to > values ? to + 1 : start;
}

char *const *lwp_foreign_environment(char *const environment[], char **room, size_t count)
{
    char *text = (char *)(room + count), **to = room;
    for (char *const *variable = environment; *variable; variable++) {
        if (!preload_is(*variable)) {
            *to++ = *variable;
            continue;
        }
        text -= (strlen(*variable) / sizeof(char *) + 1) * sizeof(char *);
        if (preload_copy(*variable, text) > text)
            *to++ = text;
    }
    *to = NULL;
    return room;
}

/* ---- the file ---- */

/* Not, where it names no loader: static programs, and loaders run by hand. */
static bool elf_is_foreign(int fd, const Elf64_Ehdr *head)
{
    static const char *const glibc[] = {"ld-linux", "ld-lsb", "ld-2."};
    Elf64_Phdr header;
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_X86_64)
        return true;
    for (unsigned i = 0; i < head->e_phnum && i < HEADERS_MOST; i++) {
        if (pread(fd, &header, sizeof header, (off_t)(head->e_phoff + i * sizeof header)) != sizeof header)
            return false;
        if (header.p_type != PT_INTERP)
            continue;
        char loader[HEAD] = "";
        if (pread(fd, loader, sizeof loader - 1, (off_t)header.p_offset) <= 0)
            return false;
        const char *slash = strrchr(loader, '/'), *name = slash ? slash + 1 : loader;
        for (size_t k = 0; k < sizeof glibc / sizeof *glibc; k++)
            if (strncmp(name, glibc[k], strlen(glibc[k])) == 0)
                return lwp_sanitized(fd) != NULL;
        return true;
    }
    return false;
}

static bool is_executable(int at, const char *path, struct stat *info)
{
    return fstatat(at, path, info, 0) == 0 && S_ISREG(info->st_mode) && faccessat(at, path, X_OK, AT_EACCESS) == 0;
}

/* The file that was read last and is not foreign, as a hash: shells execute the same ones again and again, and a child of vfork leaves
 * what it has learnt to its parent. 0: none, or one that may have changed since without a trace. */
static uint64_t file_last;

static uint64_t file_hash(const struct stat *info)
{
    const uint64_t words[] = {info->st_dev, info->st_ino, (uint64_t)info->st_size, (uint64_t)info->st_ctim.tv_sec,
                              (uint64_t)info->st_ctim.tv_nsec};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u ^ (hash >> 29);
    return hash;
}

static void file_remember(const struct stat *info)
{
    enum { SETTLED_S = 2 };
    /* not time(): the loader binds it to the kernel's page, and the C library would be asked for it anew (own/imports.c) */
    bool settled = (time_t)(lwp_clock(CLOCK_REALTIME) / 1000000000u) - info->st_ctim.tv_sec >= SETTLED_S;
    __atomic_store_n(&file_last, settled ? file_hash(info) : 0, __ATOMIC_RELAXED);
}

static bool file_is_remembered(const struct stat *info)
{
    uint64_t last = __atomic_load_n(&file_last, __ATOMIC_RELAXED);
    return last && last == file_hash(info);
}

/* Follows the interpreters of scripts as the kernel does. */
static bool file_is_foreign(int at, const char *path)
{
    union {
        Elf64_Ehdr elf;
        char text[HEAD];
    } head;
    struct stat info;
    for (int depth = 0; depth <= SCRIPTS_MOST && is_executable(at, path, &info); depth++) {
        if (file_is_remembered(&info))
            return lwp_is_translator(path);
        int fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        ssize_t got = fd < 0 ? -1 : pread(fd, &head, sizeof head - 1, 0);
        bool is_elf = got >= (ssize_t)sizeof head.elf && memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0;
        bool foreign = is_elf && elf_is_foreign(fd, &head.elf);
        if (fd >= 0)
            close(fd);
        if (lwp_is_translator(path))
            return true;
        if (is_elf && !foreign)
            file_remember(&info);
        if (is_elf || got < 2 || head.text[0] != '#' || head.text[1] != '!')
            return foreign;
        head.text[got] = '\0';
        char *interpreter = head.text + 2 + strspn(head.text + 2, " \t");
        interpreter[strcspn(interpreter, " \t\n")] = '\0';
        path = interpreter; /* read over only when it is open */
        at = AT_FDCWD;
    }
    return false;
}

/* By its number, whatever it was opened for. */
static bool open_file_is_foreign(int fd)
{
    char path[32] = "/proc/self/fd/", digits[12];
    size_t length = strlen(path), count = 0;
    for (unsigned rest = (unsigned)fd; !count || rest; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        path[length++] = digits[--count];
    return fd >= 0 && file_is_foreign(AT_FDCWD, path);
}

size_t lwp_foreign(int at, const char *path, int flags, char *const environment[])
{
    size_t room = foreign_left || lwp_confinement_came() || !path ? 0 : foreign_room(environment);
    int saved = errno;
    if (room && !preload_fails(environment) && !(flags & AT_EMPTY_PATH && !*path ? open_file_is_foreign(at) : file_is_foreign(at, path)))
        room = 0;
    errno = saved;
    return room;
}

/* The file that execvp finds first. */
static bool found_is_foreign(const char *file, const char *path)
{
    size_t name = strnlen(file, NAME_MAX + 1), most = strnlen(path, PATH_MAX);
    char candidate[most + name + 2];
    if (name > NAME_MAX || most == PATH_MAX)
        return false;
    for (;; path++) {
        size_t folder = strcspn(path, ":");
        memcpy(candidate, path, folder);
        candidate[folder] = '/';
        memcpy(candidate + folder + (folder > 0), file, name + 1);
        struct stat info;
        if (is_executable(AT_FDCWD, candidate, &info))
            return file_is_foreign(AT_FDCWD, candidate);
        path += folder;
        if (!*path)
            return false;
    }
}

size_t lwp_foreign_in_path(const char *file, char *const environment[])
{
    if (!file || strchr(file, '/'))
        return lwp_foreign(AT_FDCWD, file, 0, environment);
    size_t room = foreign_left || lwp_confinement_came() || !*file ? 0 : foreign_room(environment);
    const char *path = getenv("PATH");
    int saved = errno;
    if (room && !preload_fails(environment) && !found_is_foreign(file, path ? path : "/bin:/usr/bin"))
        room = 0;
    errno = saved;
    return room;
}
