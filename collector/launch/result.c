/* DIR/run.json, DIR/analysis.json, DIR/p<PID>[.<n>]/{process,t<TID>}.lwps, and of parallel jobs DIR/job,
 * DIR/run.<RANK>.json, DIR/r<RANK>/{run.json,p<PID>[.<n>]}: nothing else is ever taken for lwp's. */
#include "collector/launch/result.h"

#include "base/arena.h"
#include "base/busy.h"
#include "base/path.h"
#include "collector/keeper.h"
#include "collector/launch/exact.h"
#include "collector/outside/process/jit_files.h"
#include "collector/phases/phases.h"
#include "format/reader.h"
#include "format/seal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *result_digits(const char *text)
{
    const char *end = text + strspn(text, "0123456789");
    return end > text && end - text <= 10 ? end : NULL;
}

bool lwp_result_is_process(const char *name)
{
    const char *end = *name == 'p' ? result_digits(name + 1) : NULL;
    if (end && *end == '.')
        end = result_digits(end + 1);
    return end && *end == '\0';
}

bool lwp_result_is_rank(const char *name)
{
    const char *end = *name == 'r' ? result_digits(name + 1) : NULL;
    return end && *end == '\0';
}

/* process.lwps, t<TID>.lwps or t<TID>.<n>.lwps; sealing writes beside them, with something after ".lwps". */
static bool result_is_samples(const char *name, bool aside)
{
    const char *end = NULL;
    if (strncmp(name, "process", 7) == 0)
        end = name + 7;
    else if (*name == 't')
        end = result_digits(name + 1);
    if (end && *end == '.' && result_digits(end + 1))
        end = result_digits(end + 1);
    if (aside && (strcmp(name, "perf.map") == 0 || strcmp(name, "jit.dump") == 0)) /* collector/outside/process/jit_files.h */
        return true;
    if (!end || strncmp(end, ".lwps", 5))
        return false;
    return end[5] == '\0' || (aside && end[5] == '.');
}

static bool result_is_top(const char *name)
{
    static const char *const names[] = {"run.json", "analysis.json", "job"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    const char *end = strncmp(name, "run.", 4) == 0 ? result_digits(name + 4) : NULL;
    size_t length = strlen(name);
    bool aside = length > 4 && strcmp(name + length - 4, ".new") == 0; /* lwp_path_replace's, of a collector that was killed */
    return (end && strcmp(end, ".json") == 0) || (aside && (strncmp(name, "run.", 4) == 0 || strncmp(name, "job.", 4) == 0)) ||
           strncmp(name, "analysis.json.", 14) == 0 || strncmp(name, LWP_EXACT_LOG, strlen(LWP_EXACT_LOG)) == 0;
}

static DIR *result_open(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !folder)
        close(fd);
    return folder;
}

enum result_depth { RESULT_TOP, RESULT_RANK, RESULT_PROCESS };

/* Goes through a result; with `take` takes away what is lwp's. Returns false, with its name in `foreign`, when there
 * is something else. */
static bool result_clear(int at, enum result_depth depth, bool take, char *foreign, size_t size)
{
    DIR *folder = result_open(at, ".");
    if (!folder) {
        snprintf(foreign, size, "a part that cannot be read");
        return false;
    }
    bool ours = true;
    for (struct dirent *entry; ours && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        struct stat st;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (fstatat(dirfd(folder), name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        bool process = depth != RESULT_PROCESS && lwp_result_is_process(name);
        if (S_ISDIR(st.st_mode) && (process || (depth == RESULT_TOP && lwp_result_is_rank(name)))) {
            int fd = openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            ours = fd >= 0 && result_clear(fd, process ? RESULT_PROCESS : RESULT_RANK, take, foreign, size);
            if (fd >= 0)
                close(fd);
            else
                snprintf(foreign, size, "%s", name);
            if (ours && take)
                unlinkat(dirfd(folder), name, AT_REMOVEDIR);
            continue;
        }
        bool left =
            S_ISSOCK(st.st_mode) && depth != RESULT_PROCESS && strcmp(name, LWP_PHASES_SOCKET) == 0; /* by a collector that was killed */
        ours = left || (S_ISREG(st.st_mode) && (depth == RESULT_PROCESS ? result_is_samples(name, true) : result_is_top(name)));
        if (!ours)
            snprintf(foreign, size, "%s", name);
        else if (take)
            unlinkat(dirfd(folder), name, 0);
    }
    closedir(folder);
    return ours;
}

char *lwp_result_default(const char *app, const char *suffix)
{
    char *dir = lwp_format("lwp-%.100s%s%.100s", lwp_path_last(app), *suffix ? "." : "", suffix);
    for (char *c = dir; *c; c++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-", *c))
            *c = '_';
    return dir;
}

/* Whether DIR/p<PID>[.<n>] is of a program that the process has left by exec. */
static bool result_is_left(const char *dir, const char *process)
{
    size_t digits = strspn(process + 1, "0123456789");
    char *later =
        lwp_format("%s/%.*s.%ld", dir, (int)digits + 1, process, process[digits + 1] ? strtol(process + digits + 2, NULL, 10) + 1 : 1);
    bool left = access(later, F_OK) == 0;
    free(later);
    return left;
}

/* Whether the process of DIR/p<PID>[.<n>] still has the memory that it records to. */
static bool result_runs(const char *dir, const char *process)
{
    char path[64], memory[64], *line = NULL;
    size_t room = 0, digits = strspn(process + 1, "0123456789");
    struct stat st;
    if (stat(dir, &st))
        return false;
    snprintf(memory, sizeof memory, LWP_KEEPER_MEMORY " ", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
    snprintf(path, sizeof path, "/proc/%.*s/maps", (int)digits, process + 1);
    FILE *maps = result_is_left(dir, process) ? NULL : fopen(path, "re");
    if (!maps)
        return false;
    bool runs = false;
    while (!runs && getline(&line, &room, maps) > 0)
        runs = strstr(line, memory) != NULL;
    free(line);
    fclose(maps);
    return runs;
}

/* A process that outlived the run, 0: none. */
static unsigned result_writer(const char *dir)
{
    DIR *folder = opendir(dir);
    char *absolute = realpath(dir, NULL);
    unsigned writer = 0;
    for (struct dirent *entry; !writer && folder && absolute && (entry = readdir(folder));)
        if (lwp_result_is_process(entry->d_name) && result_runs(absolute, entry->d_name))
            writer = (unsigned)strtoul(entry->d_name + 1, NULL, 10);
    if (folder)
        closedir(folder);
    free(absolute);
    return writer;
}

static int result_refuse(const char *dir, struct lwp_error *err)
{
    return lwp_error_set(err, LWP_ERR_USAGE,
                         "%s is not replaced: a run is still being written there; wait for its end, or choose another -o", dir);
}

/* With a mark on it. */
static int result_replace(const char *dir, struct lwp_error *err)
{
    unsigned writer = result_writer(dir);
    if (writer)
        return lwp_error_set(err, LWP_ERR_USAGE,
                             "%s is not replaced: process %u of an earlier run still writes there; end it, or choose another -o", dir, writer);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return lwp_error_errno(err, "cannot replace %s", dir);
    char foreign[NAME_MAX + 1] = "";
    int status = LWP_OK;
    if (!result_clear(fd, RESULT_TOP, false, foreign, sizeof foreign))
        status = lwp_error_set(err, LWP_ERR_USAGE,
                               "%s is not replaced: it holds '%s', which lwp did not write; choose another -o", dir,
                               foreign);
    else if (!result_clear(fd, RESULT_TOP, true, foreign, sizeof foreign))
        status = lwp_error_set(err, LWP_ERR_SYSTEM, "cannot replace %s: '%s' cannot be removed", dir, foreign);
    close(fd);
    return status;
}

/* Another run that replaces results may find the new folder before it is marked: then it is that one's, also when it is over. */
static int result_own(const char *dir, int *busy, struct lwp_error *err)
{
    struct dirent **entries = NULL;
    bool taken = lwp_busy_take(dir, busy);
    int count = taken ? scandir(dir, &entries, NULL, NULL) : 0;
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    if (taken && count <= 2) /* . and .. */
        return LWP_OK;
    return result_refuse(dir, err);
}

int lwp_result_create(const char *dir, bool force, int *busy, struct lwp_error *err)
{
    int status;
    *busy = -1;
    if (mkdir(dir, 0777) == 0)
        status = result_own(dir, busy, err);
    else if (errno != EEXIST)
        status = lwp_error_errno(err, "cannot make the result directory %s", dir);
    else if (!force)
        status = lwp_error_set(err, LWP_ERR_USAGE, "%s exists already; choose another with -o, or --force to replace it", dir);
    else
        status = lwp_busy_take(dir, busy) ? result_replace(dir, err) : result_refuse(dir, err);
    if (status && *busy >= 0) {
        close(*busy);
        *busy = -1;
    }
    return status;
}

void lwp_result_discard(const char *dir)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/run.json", dir) < sizeof path)
        unlink(path);
    rmdir(dir); /* fails, as it should, when a program has written there */
}

struct result_process {
    struct lwp_result *result;
    struct lwps_totals totals;
    bool has_totals;
    uint64_t samples, samples_with_address; /* counted one by one, where the totals are missing or stale */
};

static int result_on_file(void *to, const struct lwps_file *file)
{
    struct result_process *process = to;
    process->result->lost_records += file->lost_records;
    return 0;
}

static int result_on_totals(void *to, const struct lwps_totals *totals)
{
    struct result_process *process = to;
    process->totals = *totals;
    process->has_totals = true;
    return 0;
}

static int result_on_note(void *to, const struct lwps_note *note)
{
    struct result_process *process = to;
    if (!process->result->note[0])
        snprintf(process->result->note, sizeof process->result->note, "%s", note->text);
    return 0;
}

static int result_on_sample(void *to, const struct lwps_sample *sample)
{
    struct result_process *process = to;
    bool known = false;
    for (unsigned i = 0; i < sample->access_count; i++)
        known |= (sample->access[i].flags & LWPS_ACCESS_KNOWN) != 0;
    process->samples++;
    process->samples_with_address += known;
    return 0;
}

static void result_problem(struct lwp_result *result, const struct lwp_error *err)
{
    if (!result->problem[0])
        snprintf(result->problem, sizeof result->problem, "%s", err->text);
}

static void result_file(struct lwp_result *result, struct result_process *process, const char *path, bool runs)
{
    static const struct lwps_visitor visitor = {.file = result_on_file,
                                                .totals = result_on_totals,
                                                .note = result_on_note,
                                                .sample = result_on_sample};
    struct lwp_error err;
    struct lwps_damage damage;
    if (!runs && lwps_seal(path, &err)) {
        result->unsealed++;
        result_problem(result, &err);
    }
    if (lwps_read(path, &visitor, process, &damage, &err) && !runs) { /* a live file may be half made */
        result->unreadable++;
        result_problem(result, &err);
    }
}

static void result_process(struct lwp_result *result, const char *dir, int at, const char *name)
{
    struct result_process process = {.result = result};
    DIR *folder = result_open(at, name);
    if (!folder)
        return;
    bool runs = result_runs(dir, name);
    result->processes++;
    if (runs) {
        result->running++;
        result->running_pid = (uint32_t)strtoul(name + 1, NULL, 10);
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!result_is_samples(entry->d_name, false))
            continue;
        char *path = lwp_format("%s/%s/%s", dir, name, entry->d_name);
        result->threads += entry->d_name[0] == 't' && strncmp(entry->d_name, "t0.", 3) != 0; /* of no thread */
        result_file(result, &process, path, runs);
        free(path);
    }
    closedir(folder);
    result->samples += process.samples;
    result->samples_with_address += process.samples_with_address;
    if (process.has_totals) {
        result->samples_lost += process.totals.samples_lost;
        result->cpu_ns += process.totals.user_ns + process.totals.system_ns;
        result->own_ns += process.totals.own_ns;
    }
}

void lwp_result_keep_jit_files(const char *dir, double began)
{
    DIR *folder = opendir(dir);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!lwp_result_is_process(entry->d_name) || result_is_left(dir, entry->d_name))
            continue;
        char *path = lwp_format("%s/%s", dir, entry->d_name);
        lwp_jit_files_keep(path, (pid_t)strtol(entry->d_name + 1, NULL, 10), began);
        free(path);
    }
    if (folder)
        closedir(folder);
}

void lwp_result_finish(const char *dir, struct lwp_result *result)
{
    *result = (struct lwp_result){.overhead_percent = -1};
    DIR *folder = opendir(dir);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (lwp_result_is_process(entry->d_name))
            result_process(result, dir, dirfd(folder), entry->d_name);
    closedir(folder);
}
