#include "analysis/review/tried.h"

#include "analysis/statistics/speedup.h"
#include "base/arena.h"
#include "base/json_file.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

static const json_t *tried_end(const json_t *entry, size_t index)
{
    return json_array_get(json_object_get(entry, "interval"), index);
}

static bool tried_is_measured(const json_t *entry)
{
    double speedup = json_number_value(json_object_get(entry, "speedup")), low = json_number_value(tried_end(entry, 0)),
           high = json_number_value(tried_end(entry, 1));
    return json_is_string(json_object_get(entry, "command")) && json_array_size(json_object_get(entry, "interval")) == 2 && low > 0 &&
           low <= speedup && speedup <= high && high < 1e6 && json_is_integer(json_object_get(entry, "pairs")) &&
           json_is_integer(json_object_get(entry, "placements"));
}

void lwp_tried_attach(json_t *root, const json_t *tried)
{
    static const char *const patch[] = {"root", "patch"}, *const trial[] = {"command", "speedup", "interval", "pairs", "placements"};
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(root, "findings"), i, finding) {
        const char *id = json_string_value(json_object_get(finding, "id"));
        const json_t *entry = id ? json_object_get(tried, id) : NULL;
        json_t *shown = json_object();
        if (json_is_string(json_object_get(entry, "patch")) && json_is_string(json_object_get(entry, "root")))
            for (size_t k = 0; k < sizeof patch / sizeof *patch; k++)
                json_object_set(shown, patch[k], json_object_get(entry, patch[k]));
        if (tried_is_measured(entry))
            for (size_t k = 0; k < sizeof trial / sizeof *trial; k++)
                json_object_set(shown, trial[k], json_object_get(entry, trial[k]));
        if (json_object_size(shown))
            json_object_set(finding, "tried", shown);
        json_decref(shown);
    }
}

void lwp_tried_attach_from(json_t *root, const char *directory)
{
    char *path = lwp_format("%s/" LWP_TRIED_FILE, directory);
    json_t *tried = lwp_json_read(path, 0, NULL);
    lwp_tried_attach(root, tried);
    json_decref(tried);
    free(path);
}

int lwp_tried_keep(const char *directory, const char *finding, json_t *members, struct lwp_error *err)
{
    char *path = lwp_format("%s/" LWP_TRIED_FILE, directory);
    json_t *root = lwp_json_read(path, 0, NULL);
    if (!json_is_object(root)) {
        json_decref(root);
        root = json_object();
    }
    json_t *entry = json_object_get(root, finding);
    if (!json_is_object(entry))
        json_object_set_new(root, finding, entry = json_object());
    json_object_update(entry, members);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    int status = text ? lwp_path_replace(path, text, err) : lwp_error_set(err, LWP_ERR_SYSTEM, "cannot write %s", path);
    free(text);
    json_decref(root);
    free(path);
    return status;
}

char *lwp_tried_text(const json_t *finding)
{
    const json_t *tried = json_object_get(finding, "tried");
    if (!tried_is_measured(tried))
        return NULL;
    const double speedup = json_number_value(json_object_get(tried, "speedup")), low = json_number_value(tried_end(tried, 0)),
                 high = json_number_value(tried_end(tried, 1));
    return lwp_format("%.*fx (%.*f-%.*f)", LWP_SPEEDUP(speedup), LWP_SPEEDUP(low), LWP_SPEEDUP(high));
}
