/* Parts of path names. */
#ifndef LWP_BASE_PATH_H
#define LWP_BASE_PATH_H

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

/* Whether `path` is `folder` or below it; both as for lwp_path_below(), and without links. */
static inline bool lwp_path_is_below(const char *path, const char *folder)
{
    return lwp_path_below(path, folder) != NULL;
}

#endif
