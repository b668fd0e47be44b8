#include "collector/launch/beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool lwp_beside_folder(char folder[PATH_MAX], struct lwp_error *err)
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

char *lwp_beside_find(const char *folder, const char *const *places, size_t count, const char *name, int mode)
{
    for (size_t i = 0; i < count; i++) {
        char *candidate;
        if (asprintf(&candidate, "%s/%s/%s", folder, places[i], name) < 0)
            return NULL;
        char *found = access(candidate, mode) == 0 ? realpath(candidate, NULL) : NULL;
        free(candidate);
        if (found)
            return found;
    }
    return NULL;
}
