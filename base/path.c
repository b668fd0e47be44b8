#include "base/path.h"

#include "base/arena.h"
#include "config.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool path_of_lwp(char folder[PATH_MAX], struct lwp_error *err)
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length <= 0) {
        lwp_error_errno(err, "cannot read /proc/self/exe (is /proc mounted?)");
        return false;
    }
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    return true;
}

char *lwp_path_installed(const char *name, int mode, struct lwp_error *err)
{
    static const char *const places[] = {"", "/../lib/lwp", LWP_LIBDIR "/lwp"};
    enum { PLACES = sizeof places / sizeof *places };
    char folder[PATH_MAX];
    if (!path_of_lwp(folder, err))
        return NULL;
    for (int i = 0; i < PLACES; i++) {
        char *candidate = lwp_format("%s%s/%s", i < PLACES - 1 ? folder : "", places[i], name);
        char *found = access(candidate, mode) == 0 ? realpath(candidate, NULL) : NULL;
        free(candidate);
        if (found)
            return found;
    }
    lwp_error_set(err, LWP_ERR_MISSING, "%s is neither in %s nor in %s/../lib/lwp; run 'make', or install lwp again", name,
                  folder, folder);
    return NULL;
}

bool lwp_path_work_tree(char *folder)
{
    char git[PATH_MAX];
    for (size_t length = strlen(folder); length > 1; length--)
        if ((!folder[length] || folder[length] == '/') &&
            snprintf(git, sizeof git, "%.*s/.git", (int)length, folder) < (int)sizeof git && access(git, F_OK) == 0) {
            folder[length] = '\0';
            return true;
        }
    return false;
}

int lwp_path_replace(const char *path, const char *text, struct lwp_error *err)
{
    char aside[PATH_MAX];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    /* a name of its own: ranks of one job write the same file at the same time, perhaps on several hosts */
    if (snprintf(aside, sizeof aside, "%s.%d.%09ld.new", path, (int)getpid(), now.tv_nsec) >= (int)sizeof aside)
        return lwp_error_set(err, LWP_ERR_LIMIT, "%s: the path is too long", path);
    FILE *file = fopen(aside, "we");
    if (!file)
        return lwp_error_errno(err, "cannot write %s", aside);
    bool written = fputs(text, file) >= 0;
    written = fclose(file) == 0 && written;
    if (written && rename(aside, path) == 0)
        return LWP_OK;
    int status = lwp_error_errno(err, "cannot write %s", path);
    unlink(aside);
    return status;
}

bool lwp_path_is_system(const char *path)
{
    static const char *const folders[] = {"/usr/", "/lib/", "/lib64/", "/rustc/", "/rust/deps/", "/opt/", "/nix/store/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return strncmp(path, "/usr/src/", 9) != 0 && strncmp(path, "/usr/local/src/", 15) != 0;
    return strstr(path, "/.cargo/registry/") != NULL;
}

bool lwp_path_is_system_library(const char *path)
{
    return strstr(path, ".so") && lwp_path_is_system(path);
}
