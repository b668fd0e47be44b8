#include "base/work_tree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool lwp_work_tree(char *folder)
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
