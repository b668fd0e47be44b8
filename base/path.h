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

/* Whether `path` is `folder` or below it; both absolute and without links, no slash at the end but in "/". */
static inline bool lwp_path_is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return length && strncmp(path, folder, length) == 0 && (!path[length] || path[length] == '/' || folder[length - 1] == '/');
}

#endif
