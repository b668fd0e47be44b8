/* web/ reads analysis.json and never sample files: lwp analyze runs as another process. */
#include "web/result.h"

#include "analysis/review/tried.h"
#include "base/json_file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Opens a file below `dir`; no symbolic link may lead out of it, as results are untrusted. Kernels before 5.6 cannot check
 * that; there the last part must not be a link. */
static int result_open_below(const char *dir, const char *name, int flags)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return -1;
    if (flags & O_PATH)
        how.flags = (unsigned)(flags | O_CLOEXEC);
    int fd = (int)syscall(SYS_openat2, at, name, &how, sizeof how);
    if (fd < 0 && errno == ENOSYS)
        fd = openat(at, name, (int)how.flags | O_NOFOLLOW);
    int why = errno;
    close(at);
    errno = why;
    return fd;
}

static bool result_has(const char *dir, const char *file)
{
    struct stat info;
    int fd = result_open_below(dir, file, O_PATH);
    bool has = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (fd >= 0)
        close(fd);
    return has;
}

bool lwp_result_is(const char *dir)
{
    return result_has(dir, "run.json") || result_has(dir, "analysis.json");
}

bool lwp_result_is_within(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int fd = result_open_below(folder, name, O_PATH | O_DIRECTORY);
    if (fd < 0)
        return false;
    close(fd);
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && lwp_result_is(path);
}

/* Starts this program with other arguments and its output on `stream` (1 or 2) as *from (NULL: none). Returns its id or -1. */
static pid_t result_start(const char *const argv[], int stream, FILE **from)
{
    int pipe_ends[2];
    pid_t pid = -1;
    *from = NULL;
    if (pipe2(pipe_ends, O_CLOEXEC))
        return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], stream);
    if (posix_spawn(&pid, "/proc/self/exe", &actions, NULL, (char *const *)(uintptr_t)argv, environ))
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    *from = fdopen(pipe_ends[0], "r");
    if (!*from)
        close(pipe_ends[0]);
    return pid;
}

/* Its exit status or -1. */
static int result_end(pid_t pid, FILE *from)
{
    int status = -1;
    if (from)
        fclose(from);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The last line of what it says on stderr goes to `said`. Returns its exit status or -1. */
static int result_run(const char *const argv[], char *said, size_t said_bytes)
{
    FILE *from;
    pid_t pid = result_start(argv, STDERR_FILENO, &from);
    char line[LWP_ERROR_TEXT];
    *said = '\0';
    while (from && fgets(line, sizeof line, from)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            snprintf(said, said_bytes, "%s", strncmp(line, "lwp: ", 5) == 0 ? line + 5 : line);
    }
    return result_end(pid, from);
}

/* What it prints as JSON, or NULL. */
static json_t *result_ask(const char *const argv[])
{
    FILE *from;
    pid_t pid = result_start(argv, STDOUT_FILENO, &from);
    json_t *said = from ? lwp_json_stream(from, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL) : NULL;
    if (result_end(pid, from) == 0 && said)
        return said;
    json_decref(said);
    return NULL;
}

int lwp_result_diff(const char *before, const char *after, json_t **diff, struct lwp_error *err)
{
    /* "--" keeps a folder named -x from being an option */
    *diff = result_ask((const char *const[]){"lwp", "diff", "--json", "--", before, after, NULL});
    return *diff ? 0 : lwp_error_set(err, LWP_ERR_MISSING, "%s and %s could not be compared", before, after);
}

int lwp_result_counts(const char *dir, json_t **counts, struct lwp_error *err)
{
    *counts = result_ask((const char *const[]){"lwp", "dump", "--progress", dir, NULL});
    return *counts ? 0 : lwp_error_set(err, LWP_ERR_MISSING, "what is in %s could not be counted", dir);
}

int lwp_result_prepare(const char *dir, struct lwp_error *err)
{
    struct stat info;
    if (stat(dir, &info))
        return lwp_error_errno(err, "cannot open %s", dir);
    if (!S_ISDIR(info.st_mode))
        return lwp_error_set(err, LWP_ERR_USAGE, "%s is a file; name the folder that 'lwp collect' has written", dir);
    if (!lwp_result_is(dir))
        return lwp_error_set(err, LWP_ERR_MISSING, "%s holds no result; name a folder that 'lwp collect' has written",
                             dir);
    if (!result_has(dir, "run.json"))
        return 0; /* an analysis that came alone: nothing to make it anew from */
    char said[LWP_ERROR_TEXT], path[PATH_MAX];
    /* "./" keeps a folder named -x from being an option */
    if (snprintf(path, sizeof path, "%s%s", *dir == '-' ? "./" : "", dir) >= (int)sizeof path)
        return lwp_error_set(err, LWP_ERR_LIMIT, "the path of the result is too long");
    int status = result_run((const char *const[]){"lwp", "analyze", "--quiet", path, NULL}, said, sizeof said);
    if (status == 0)
        return 0;
    if (result_has(dir, "analysis.json")) {
        lwp_log(LWP_LOG_WARNING, "showing the older analysis of %s: %s", dir, *said ? said : "'lwp analyze' failed");
        return 0;
    }
    return lwp_error_set(err, LWP_ERR_MISSING, "%s", *said ? said : "'lwp analyze' failed");
}

/* Reads JSON from `fd`, which it closes; *root is NULL where the text is damaged at `where`. `shown`: its path. */
static int result_json(int fd, const char *shown, size_t flags, json_t **root, json_error_t *where, struct lwp_error *err)
{
    struct stat info;
    *root = NULL;
    if (fd < 0)
        return errno == EXDEV || errno == ELOOP ? lwp_error_set(err, LWP_ERR_FORMAT, "%s is a link that leads out of the result", shown)
                                                : lwp_error_errno(err, "cannot read %s", shown);
    bool plain = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= LWP_JSON_TEXT_MAX;
    FILE *from = plain ? fdopen(fd, "r") : NULL;
    if (from) {
        *root = lwp_json_stream(from, flags, where);
        fclose(from);
        return 0;
    }
    close(fd);
    return lwp_error_set(err, LWP_ERR_LIMIT, "%s is no plain file of at most 256 MiB", shown);
}

int lwp_result_load(const char *dir, json_t **analysis, struct lwp_error *err)
{
    static const char file[] = "analysis.json";
    char path[PATH_MAX];
    struct stat info;
    *analysis = NULL;
    bool folder = stat(dir, &info) || S_ISDIR(info.st_mode);
    if (snprintf(path, sizeof path, "%s%s%s", dir, folder ? "/" : "", folder ? file : "") >= (int)sizeof path)
        return lwp_error_set(err, LWP_ERR_LIMIT, "the path of the result is too long");
    int fd = folder ? result_open_below(dir, file, O_RDONLY) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    json_error_t where;
    json_t *root;
    int status = result_json(fd, path, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &root, &where, err);
    if (status)
        return status;
    if (!root)
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is damaged (line %d: %s); 'lwp analyze --force %s' makes it anew",
                             path, where.line, where.text, dir);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const char *version = json_string_value(json_object_get(root, "version"));
    if (!schema || strcmp(schema, "lwp-analysis") != 0 || !version)
        status = lwp_error_set(err, LWP_ERR_FORMAT, "%s is no analysis of lwp", path);
    else if (strncmp(version, "1.", 2) != 0)
        status = lwp_error_set(err, LWP_ERR_NEWER, "%s is of version %s; this lwp reads version 1", path, version);
    if (status)
        json_decref(root);
    else
        *analysis = root;
    int tried = status || !folder ? -1 : result_open_below(dir, LWP_TRIED_FILE, O_RDONLY);
    json_t *made = NULL;
    if (tried >= 0 && !result_json(tried, path, JSON_REJECT_DUPLICATES, &made, &where, &(struct lwp_error){0}))
        lwp_tried_attach(root, made);
    json_decref(made);
    return status;
}

/* Into a folder of its own, on one processor and without measuring: the program is still at work. */
int lwp_result_interim(const char *dir, json_t **analysis, struct lwp_error *err)
{
    const char *tmp = getenv("TMPDIR");
    char folder[PATH_MAX], file[PATH_MAX + 16], said[LWP_ERROR_TEXT];
    *analysis = NULL;
    if (snprintf(folder, sizeof folder, "%s/lwp-interim.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp") >= (int)sizeof folder ||
        !mkdtemp(folder))
        return lwp_error_errno(err, "cannot make a folder for the analysis so far");
    snprintf(file, sizeof file, "%s/analysis.json", folder);
    int status = result_run((const char *const[]){"lwp", "analyze", "--quiet", "--no-measure", "--jobs=1", "-o", file, "--", dir, NULL},
                            said, sizeof said)
                     ? lwp_error_set(err, LWP_ERR_MISSING, "%s", *said ? said : "'lwp analyze' failed")
                     : lwp_result_load(folder, analysis, err);
    unlink(file);
    rmdir(folder);
    return status;
}

json_t *lwp_result_run(const char *dir, struct stat *info)
{
    json_error_t where;
    json_t *run = NULL;
    int fd = result_open_below(dir, "run.json", O_RDONLY);
    if (fd >= 0 && fstat(fd, info) == 0)
        result_json(fd, "run.json", JSON_REJECT_DUPLICATES, &run, &where, NULL);
    return run;
}

char *lwp_result_name(const char *dir)
{
    char real[PATH_MAX];
    size_t length = strlen(dir);
    while (length > 1 && dir[length - 1] == '/')
        length--;
    size_t start = length;
    while (start > 0 && dir[start - 1] != '/')
        start--;
    if ((length - start <= 2 && strspn(dir + start, ".") >= length - start) || length == start) {
        if (!realpath(dir, real))
            return strdup("result");
        const char *slash = strrchr(real, '/');
        return strdup(slash && slash[1] ? slash + 1 : "result");
    }
    return strndup(dir + start, length - start);
}
