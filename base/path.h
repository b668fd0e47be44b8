/* Names of files, and where files are. */
#ifndef LWP_BASE_PATH_H
#define LWP_BASE_PATH_H

#include "base/error.h"

#include <stdbool.h>
#include <string.h>

/* What comes after the last slash, in `path` itself; NULL of NULL. */
static inline const char *lwp_path_last(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* What of `path` comes after `folder` and the slash, "" if it is the folder itself; NULL: it is not below. Both are
 * absolute and normal, no slash at the end but in "/". */
static inline const char *lwp_path_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    if (!length || strncmp(path, folder, length) != 0)
        return NULL;
    if (path[length] == '/')
        return path + length + 1;
    return !path[length] || folder[length - 1] == '/' ? path + length : NULL;
}

/* Whether `path` is `folder` or below it; both as for lwp_path_below(), without symbolic links. */
static inline bool lwp_path_is_below(const char *path, const char *folder)
{
    return lwp_path_below(path, folder) != NULL;
}

/* Headers and libraries of the system or the tool chain, by where they are. */
bool lwp_path_is_system(const char *path);

/* A library of the system: nobody's to change. */
bool lwp_path_is_system_library(const char *path);

/* A file of lwp's own: the first `name` beside the executable (a build folder), in ../lib/lwp (installed, wherever it was
 * moved to), or in configure's library folder, that access() grants `mode` (R_OK, X_OK) for. Owned; or NULL and why. */
char *lwp_path_installed(const char *name, int mode, struct lwp_error *err);

/* Writes `text` to PATH.<pid>.<time>.new and renames that, so that there is always a whole file. */
int lwp_path_replace(const char *path, const char *text, struct lwp_error *err);

/* Cuts the absolute `folder` down to the nearest one above with .git; false: there is none (never "/"), and it stays. */
bool lwp_path_work_tree(char *folder);

#endif
