#include "base/command.h"

#include "base/log.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* By when the run ended: analyses and pages change the folder later. */
static bool operand_newest(char *newest, size_t room)
{
    static const char run[] = "/run.json";
    struct stat best = {0}, found;
    glob_t all;
    bool any = false;
    if (glob("lwp-*/run.json", GLOB_NOSORT, NULL, &all))
        return false;
    for (size_t i = 0; i < all.gl_pathc; i++) {
        size_t length = strlen(all.gl_pathv[i]) - (sizeof run - 1);
        if (stat(all.gl_pathv[i], &found) || length >= room || (any && !is_newer(&found, &best)))
            continue;
        snprintf(newest, room, "%.*s", (int)length, all.gl_pathv[i]);
        best = found;
        any = true;
    }
    globfree(&all);
    return any;
}

const char *lwp_result_operand(const char *command, int count, char **operands)
{
    static char newest[PATH_MAX];
    if (count == 1)
        return operands[0];
    if (count == 0 && operand_newest(newest, sizeof newest)) {
        lwp_log(LWP_LOG_NOTE, "%s: %s, the newest result here", command, newest);
        return newest;
    }
    lwp_log(LWP_LOG_ERROR, "%s: %s: lwp %s DIR", command,
            count ? "name the one folder that 'lwp collect' has written"
                  : "there is no result (lwp-*) here; name the folder that 'lwp collect' has written",
            command);
    return NULL;
}
