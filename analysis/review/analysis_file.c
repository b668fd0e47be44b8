#include "analysis/review/review.h"

#include "analysis/json/analyze.h"
#include "analysis/review/tried.h"
#include "base/json_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int lwp_analysis_path(const char *name, char *path, size_t size, struct lwp_error *err)
{
    struct stat info;
    if (stat(name, &info))
        return lwp_error_set(err, LWP_ERR_MISSING, "there is no '%s'; name a folder that 'lwp collect' has written, or an analysis.json",
                             name);
    if (!S_ISDIR(info.st_mode))
        return snprintf(path, size, "%s", name) < (int)size ? LWP_OK : lwp_error_set(err, LWP_ERR_LIMIT, "the path '%s' is too long", name);
    if (snprintf(path, size, "%s/run.json", name) >= (int)size - 8)
        return lwp_error_set(err, LWP_ERR_LIMIT, "the path '%s' is too long", name);
    bool samples = access(path, F_OK) == 0;
    snprintf(path, size, "%s/analysis.json", name);
    if (!samples && access(path, F_OK) == 0)
        return LWP_OK; /* an analysis that came alone */
    return lwp_analyze_directory(name, false, NULL, err);
}

json_t *lwp_analysis_load(const char *name, struct lwp_error *err)
{
    char path[4096];
    json_error_t problem;
    if (lwp_analysis_path(name, path, sizeof path, err))
        return NULL;
    json_t *root = lwp_json_read(path, JSON_ALLOW_NUL, &problem);
    if (!root && strcmp(path, name) == 0)
        lwp_error_set(err, LWP_ERR_FORMAT, "cannot read '%s': it is a file, and no analysis of lwp (%s)", name, problem.text);
    else if (!root)
        lwp_error_set(err, LWP_ERR_FORMAT, "cannot read '%s' (%s); 'lwp analyze --force %s' makes it anew", path, problem.text, name);
    if (root && strcmp(path, name) != 0)
        lwp_tried_attach_from(root, name);
    return root;
}
