/* Finds the file of a command and checks that lwp can profile it. LD_PRELOAD has no effect on static programs, on programs
 * that gain privileges (setuid, setgid, file capabilities) and on those for other processors or C libraries, and breaks some
 * sanitizers; Valgrind runs no program for another processor or marked to gain privileges. Child processes are not
 * checked: those that cannot be profiled are missing in the result. */
#include "collector/launch/target.h"

#include "base/arena.h"
#include "base/path.h"
#include "collector/env.h"
#include "collector/launch/launch.h"
#include "collector/sanitized.h"
#include "collector/translator.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { TARGET_SCRIPTS_MAX = 4, TARGET_HEAD = 256, TARGET_HEADERS_MAX = 512 };

enum { EXIT_LWP = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

static int target_missing(struct lwp_target *target, const char *name, struct lwp_error *err)
{
    target->exit_status = EXIT_NOT_FOUND;
    if (!strchr(name, '/') && access(name, F_OK) == 0)
        return lwp_error_set(err, LWP_ERR_MISSING, "'%s' is not in PATH; for the one in this folder type ./%s", name,
                             name);
    return lwp_error_set(err, LWP_ERR_MISSING, "program '%s' was not found%s", name,
                         strchr(name, '/') ? "" : " in PATH");
}

/* 0: `path` can be executed; otherwise the errno that says why not. */
static int target_executable(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (!S_ISREG(st.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

static int target_lookup(struct lwp_target *target, const char *name, struct lwp_error *err)
{
    int why = ENOENT;
    if (strchr(name, '/')) {
        why = target_executable(name);
        target->path = strdup(name);
    } else if (*name) {
        const char *path = getenv("PATH");
        for (path = path ? path : "/bin:/usr/bin";;) {
            size_t length = strcspn(path, ":");
            char *candidate = lwp_format("%.*s%s%s", (int)length, path, length ? "/" : "./", name);
            int now = access(candidate, F_OK) ? ENOENT : target_executable(candidate); /* nobody knows what a closed folder holds */
            if (now == 0) {
                target->path = candidate;
                return LWP_OK;
            }
            if (now == EACCES || now == EISDIR)
                why = now == EISDIR && why != ENOENT ? why : now;
            free(candidate);
            if (path[length] == '\0')
                break;
            path += length + 1;
        }
        if (why == EISDIR) /* a folder of that name in PATH is no program */
            why = ENOENT;
    }
    if (why == 0)
        return LWP_OK;
    if (why == ENOENT || why == ENOTDIR)
        return target_missing(target, name, err);
    target->exit_status = EXIT_NOT_EXECUTABLE;
    if (why == EISDIR)
        return lwp_error_set(err, LWP_ERR_USAGE, "cannot execute '%s': it is a folder", name);
    if (why == EACCES)
        return lwp_error_set(err, LWP_ERR_USAGE, "cannot execute '%s': not permitted (chmod +x it?)", name);
    return lwp_error_set(err, LWP_ERR_SYSTEM, "cannot execute '%s': %s", name, strerror(why));
}

/* Whether the kernel would start it in secure mode, where the loader ignores preload libraries with a path. */
static const char *target_gains(int fd)
{
    struct stat st;
    struct statvfs fs;
    if (fstat(fd, &st) || fstatvfs(fd, &fs) || fs.f_flag & ST_NOSUID)
        return NULL;
    if (st.st_mode & S_ISUID && st.st_uid != getuid())
        return "is setuid";
    if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid())
        return "is setgid";
    if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return "has file capabilities";
    return NULL;
}

/* Valgrind asks what the file is marked as, not whether this user gains anything. */
static const char *target_marked(int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID))
        return st.st_mode & S_ISUID ? "is setuid" : "is setgid";
    return fgetxattr(fd, "security.capability", NULL, 0) > 0 ? "has file capabilities" : NULL;
}

static int target_check_processor(const char *path, const unsigned char *head, size_t size, struct lwp_error *err)
{
    uint16_t machine = 0;
    if (size >= 20)
        memcpy(&machine, head + 18, sizeof machine);
    if (size <= EI_CLASS || (head[EI_CLASS] == ELFCLASS64 && machine == EM_X86_64))
        return LWP_OK;
    bool is_32 = head[EI_CLASS] == ELFCLASS32 && (machine == EM_386 || machine == EM_X86_64);
    return lwp_error_set(err, LWP_ERR_USAGE, "'%s' is %s program; lwp profiles 64-bit x86 programs: build it for x86-64%s", path,
                         is_32 ? "a 32-bit" : "another processor's", is_32 ? " (without -m32 or -mx32)" : "");
}

static int target_check_traced(const char *path, int fd, struct lwp_error *err)
{
    const char *marked = target_marked(fd);
    if (!marked)
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_USAGE,
                         "'%s' %s, and Valgrind runs no such program; profile a copy without that right (cp '%s' /tmp and run it "
                         "from there)",
                         path, marked, path);
}

/* What the program headers say of how it is linked. */
struct target_linking {
    bool dynamic, interpreter, musl;
};

/* False: the headers are damaged. */
static bool target_read_linking(int fd, const Elf64_Ehdr *ehdr, struct target_linking *linking)
{
    *linking = (struct target_linking){0};
    if (ehdr->e_phentsize != sizeof(Elf64_Phdr) || ehdr->e_phnum == 0 || ehdr->e_phnum > TARGET_HEADERS_MAX)
        return false;
    for (unsigned i = 0; i < ehdr->e_phnum; i++) {
        Elf64_Phdr phdr;
        if (pread(fd, &phdr, sizeof phdr, (off_t)(ehdr->e_phoff + i * sizeof phdr)) != (ssize_t)sizeof phdr)
            return false;
        linking->dynamic |= phdr.p_type == PT_DYNAMIC;
        if (phdr.p_type == PT_INTERP) {
            char loader[TARGET_HEAD] = "";
            linking->interpreter = pread(fd, loader, sizeof loader - 1, (off_t)phdr.p_offset) > 0;
            linking->musl = strstr(loader, "ld-musl") != NULL;
        }
    }
    return true;
}

/* Why it cannot load lwp's library; NULL: it can. */
static const char *target_closed(const char *path, const struct target_linking *linking)
{
    /* The loader itself can be run by hand (ld.so PROGRAM): dynamic without an interpreter, and it heeds LD_PRELOAD. */
    bool loader_itself = linking->dynamic && strncmp(lwp_path_last(path), "ld", 2) == 0 && strstr(path, ".so");
    if (!linking->interpreter && !loader_itself)
        return "is statically linked";
    return linking->musl ? "is linked with the musl C library" : NULL;
}

static int target_check_preloaded(struct lwp_target *target, const char *path, int fd, struct lwp_error *err)
{
    const char *sanitized = target->closed ? NULL : lwp_sanitized(fd);
    if (sanitized)
        return lwp_error_set(err, LWP_ERR_USAGE,
                             "'%s' was built with %s, which works with no preloaded library; profile a build without it", path,
                             sanitized);
    const char *gains = target_gains(fd);
    if (gains)
        return lwp_error_set(err, LWP_ERR_USAGE,
                             "'%s' %s, so the loader ignores lwp's library; profile a copy without that right "
                             "(cp '%s' /tmp and run it from there), or run lwp as the user it becomes",
                             path, gains, path);
    return LWP_OK;
}

static int target_check_elf(struct lwp_target *target, const char *path, int fd, const unsigned char *head, size_t size,
                            struct lwp_error *err)
{
    Elf64_Ehdr ehdr;
    struct target_linking linking;
    int status = target_check_processor(path, head, size, err);
    if (status)
        return status;
    if (size >= sizeof ehdr) {
        if (target->traced)
            return target_check_traced(path, fd, err);
        memcpy(&ehdr, head, sizeof ehdr);
        if (target_read_linking(fd, &ehdr, &linking)) {
            target->closed = target_closed(path, &linking);
            return target_check_preloaded(target, path, fd, err);
        }
    }
    target->exit_status = EXIT_NOT_EXECUTABLE;
    return lwp_error_set(err, LWP_ERR_USAGE, "cannot execute '%s': its ELF header is damaged", path);
}

/* A zero byte in the first line, as shells ask. */
static bool target_is_binary(const unsigned char *head, ssize_t size)
{
    for (ssize_t i = 0; i < size && head[i] != '\n'; i++)
        if (head[i] == '\0')
            return true;
    return false;
}

static int target_check(struct lwp_target *target, const char *path, int depth, struct lwp_error *err)
{
    unsigned char head[TARGET_HEAD + 1] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == EACCES)
            return LWP_OK; /* executable but not readable: the kernel may run it, we cannot look */
        target->exit_status = depth ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND;
        return lwp_error_errno(err, "cannot open %s'%s'", depth ? "the script's interpreter " : "", path);
    }
    ssize_t got = read(fd, head, TARGET_HEAD);
    int status = LWP_OK;
    if (got >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) {
        status = target_check_elf(target, path, fd, head, (size_t)got, err);
    } else if (got >= 2 && head[0] == '#' && head[1] == '!') {
        char *interpreter = (char *)head + 2;
        interpreter += strspn(interpreter, " \t");
        interpreter[strcspn(interpreter, " \t\n")] = '\0';
        if (depth < TARGET_SCRIPTS_MAX && *interpreter)
            status = target_check(target, interpreter, depth + 1, err);
    } else if (target_is_binary(head, got)) {
        target->exit_status = EXIT_NOT_EXECUTABLE;
        status = lwp_error_set(err, LWP_ERR_USAGE, "cannot execute '%s': it is neither a program nor a script", path);
    } else if (depth == 0) {
        target->by_shell = true;
    }
    close(fd);
    return status;
}

/* The loader itself overruns smaller ones when it has a library to preload. */
static int target_check_stack(struct lwp_error *err)
{
    const rlim_t limit = lwp_launch_stack();
    if (limit >= LWP_STACK_LEAST)
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_USAGE,
                         "collect: the stack is limited to %u KiB, too little for a preloaded library; "
                         "raise the limit with 'ulimit -s', or use -e exact",
                         (unsigned)(limit >> 10));
}

int lwp_target_find(struct lwp_target *target, const char *name, bool traced, struct lwp_error *err)
{
    *target = (struct lwp_target){.traced = traced, .exit_status = EXIT_LWP};
    int status = target_lookup(target, name, err);
    if (!status && lwp_is_translator(target->path))
        status = lwp_error_set(err, LWP_ERR_USAGE,
                               "'%s' translates the program that it runs, which lwp cannot look into; run lwp collect on that program itself "
                               "(-e exact traces it under Valgrind)", target->path);
    if (!status && !traced)
        status = target_check_stack(err);
    return status ? status : target_check(target, target->path, 0, err);
}

void lwp_target_fini(struct lwp_target *target)
{
    free(target->path);
    target->path = NULL;
}
