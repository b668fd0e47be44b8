#include "collector/outside/process/jit_files.h"

#include "base/arena.h"
#include "base/path.h"
#include "collector/outside/process/mappings.h"
#include "collector/outside/process/tasks.h"

#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_MOST = 64 << 20 };

/* With its fraction: a file is often written within milliseconds of its process's start. */
static double jit_file_seconds(const struct timespec *time)
{
    return (double)time->tv_sec + (double)time->tv_nsec / 1e9;
}

double lwp_jit_files_process_began(pid_t pid)
{
    char text[LWP_TASKS_STAT];
    uint64_t ticks;
    struct timespec wall, since_boot;
    const char *stat = lwp_tasks_stat(pid, text);
    if (!stat || sscanf(stat, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64, &ticks) != 1)
        return 0;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    return jit_file_seconds(&wall) - jit_file_seconds(&since_boot) + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* The process's owner, or root, wrote it: what others put there is not looked at. Clocks of files are up to a second coarse. */
static bool jit_file_is_its(int fd, double not_before)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0 || geteuid() == 0) &&
           jit_file_seconds(&st.st_mtim) + 1 >= not_before;
}

/* False: there is none at `from`. */
static bool jit_file_copy(const char *from, const char *folder, const char *name, double not_before)
{
    char block[1 << 16];
    char *to = lwp_format("%s/%s", folder, name);
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    bool good = in >= 0 && jit_file_is_its(in, not_before);
    int out = good ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666) : -1;
    ssize_t got = 0;
    for (size_t kept = 0; out >= 0 && kept < KEPT_MOST && (got = read(in, block, sizeof block)) > 0; kept += (size_t)got)
        if (write(out, block, (size_t)got) != got)
            break; /* the disk is full: the start is of use, too */
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    free(to);
    return good;
}

/* By the number that it has for itself, and in its own root. */
static void jit_map_keep(const char *folder, pid_t pid, double not_before)
{
    char path[96];
    pid_t own = lwp_tasks_own_number(pid);
    snprintf(path, sizeof path, "/proc/%d/root/tmp/perf-%d.map", (int)pid, (int)(own ? own : pid));
    if (own && jit_file_copy(path, folder, "perf.map", not_before))
        return;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
    jit_file_copy(path, folder, "perf.map", not_before);
}

/* A process that lives has a page of its dump mapped, which is there for perf to find it by. */
static bool jit_dump_of_living(const char *folder, pid_t pid, double not_before)
{
    struct lwp_mappings mappings = {0};
    bool found = false;
    if (!lwp_mappings_read(&mappings, pid))
        return false;
    for (size_t i = 0; i < mappings.count && !found; i++) {
        const char *path = mappings.items[i].path, *name = lwp_path_last(path);
        size_t length = strlen(name);
        if (!mappings.items[i].file || strncmp(name, "jit-", 4) || length < 10 || strcmp(name + length - 5, ".dump"))
            continue;
        char *from = lwp_format("/proc/%d/root%s", (int)pid, path);
        found = jit_file_copy(from, folder, "jit.dump", not_before);
        free(from);
    }
    lwp_mappings_free(&mappings);
    return found;
}

static void jit_dump_keep(const char *folder, pid_t pid, double not_before)
{
    const char *home = getenv("HOME"), *dumps = getenv("JITDUMPDIR");
    const char *const places[] = {".", "/tmp", NULL};
    if (jit_dump_of_living(folder, pid, not_before))
        return;
    for (const char *const *place = places; *place; place++) {
        char path[64];
        snprintf(path, sizeof path, "%s/jit-%d.dump", *place, (int)pid);
        if (jit_file_copy(path, folder, "jit.dump", not_before))
            return;
    }
    glob_t all = {0};
    char *pattern = lwp_format("%s/.debug/jit/*/jit-%d.dump", dumps ? dumps : home ? home : "", (int)pid);
    if (glob(pattern, GLOB_NOSORT, NULL, &all) == 0)
        for (size_t i = 0; i < all.gl_pathc && !jit_file_copy(all.gl_pathv[i], folder, "jit.dump", not_before); i++)
            ;
    globfree(&all);
    free(pattern);
}

void lwp_jit_files_keep(const char *folder, pid_t pid, double not_before)
{
    jit_map_keep(folder, pid, not_before);
    jit_dump_keep(folder, pid, not_before);
}
