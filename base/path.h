/* Parts of path names. */
#ifndef LWP_BASE_PATH_H
#define LWP_BASE_PATH_H

#include <string.h>

/* What comes after the last slash, in `path` itself; NULL of NULL. */
static inline const char *lwp_path_last(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

#endif
