#include "web/result.h"

#include "web/file.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool lwp_result_is(const char *directory)
{
    char path[4096];
    lwp_file_join(path, sizeof path, directory, "run.json");
    return access(path, R_OK) == 0;
}

/* `lwp analyze` knows itself whether the file is up to date; the web never looks at samples. */
static int result_analyze(const char *directory, struct lwp_error *err)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return lwp_error_errno(err, "cannot find the lwp program itself");
    self[length] = '\0';
    const char *arguments[] = {"lwp", "analyze", "--quiet", "--", directory, NULL};
    pid_t child;
    int failed = posix_spawn(&child, self, NULL, NULL, (char *const *)arguments, environ);
    if (failed) {
        errno = failed;
        return lwp_error_errno(err, "cannot run lwp analyze");
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return lwp_error_errno(err, "cannot wait for lwp analyze");
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s could not be analysed; see the message above", directory);
    return LWP_OK;
}

int lwp_result_load(const char *directory, json_t **analysis, struct lwp_error *err)
{
    *analysis = NULL;
    if (!lwp_result_is(directory))
        return lwp_error_set(err, LWP_ERR_MISSING,
                             "%s is no result directory (it has no run.json); make one with: lwp collect ./app", directory);
    int status = result_analyze(directory, err);
    if (status)
        return status;
    char path[4096];
    lwp_file_join(path, sizeof path, directory, "analysis.json");
    json_error_t error;
    *analysis = json_load_file(path, 0, &error);
    if (!*analysis)
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is damaged (%s); delete it and try again", path, error.text);
    if (!json_is_object(*analysis) || !json_is_object(json_object_get(*analysis, "run"))) {
        json_decref(*analysis);
        *analysis = NULL;
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is not an analysis of lwp; delete it and try again", path);
    }
    return LWP_OK;
}
