/* A hostile result could name any file of this user's as source, to have it in a page that is sent back. So source is only read
 * below the folders that `lwp collect` noted in run.json, and only if this user's lwp wrote that file on this machine: the
 * user owns it, and its st_ctime, which nobody can set, is the time it says it was written. A file that was copied,
 * downloaded or unpacked has another. */
#include "web/source.h"

#include "base/log.h"
#include "web/result.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITTEN_WITHIN_S = 10, MERGED_MOST = 10000 };

static bool roots_are_ours(const json_t *run, const struct stat *info)
{
    const json_t *written = json_object_get(run, "written_s");
    return json_is_integer(written) && info->st_uid == geteuid() && json_integer_value(written) >= info->st_ctim.tv_sec - WRITTEN_WITHIN_S &&
           json_integer_value(written) <= info->st_ctim.tv_sec + WRITTEN_WITHIN_S;
}

/* Adds those of a result; false: it is not ours, or one of those merged in it is not. */
static bool roots_of(const char *dir, bool may_be_merged, json_t *roots)
{
    struct stat info;
    json_t *run = lwp_result_run(dir, &info), *one;
    bool ours = run && roots_are_ours(run, &info);
    size_t i;
    json_array_foreach(json_object_get(run, "source_roots"), i, one)
    {
        if (ours && json_is_string(one) && json_array_append(roots, one))
            ours = false;
    }
    json_array_foreach(json_object_get(run, "merged"), i, one)
    {
        ours = ours && may_be_merged && i < MERGED_MOST && json_is_string(one) && roots_of(json_string_value(one), false, roots);
    }
    json_decref(run);
    return ours;
}

json_t *lwp_source_roots(const char *dir, const char *given)
{
    json_t *roots = json_array();
    char real[PATH_MAX];
    if (roots && !roots_of(dir, true, roots)) {
        json_array_clear(roots);
        if (!given)
            lwp_log(LWP_LOG_WARNING, "%s was not made here by this user, or was copied since: no source is read; if you trust it, "
                                     "--root FOLDER says where its source is", dir);
    }
    if (roots && given && realpath(given, real))
        json_array_append_new(roots, json_string(real));
    return roots;
}
