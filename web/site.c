/* Routes: / (the report, or the index when there are several results), /r/NAME (one of several), /diff/BEFORE/AFTER (two of
 * them), /analysis.json and /r/NAME.json, /progress and /progress/NAME (of a result that is being written), /report.css, /report.js. Pages
 * name each other relative to themselves, so that the site can stand below any path. */
#include "web/site.h"

#include "base/arena.h"
#include "web/entry.h"
#include "web/page.h"
#include "web/result.h"

#include "config.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct lwp_site {
    struct lwp_assets assets;
    struct lwp_text *style, *script;
    char *templates; /* a folder to read anew for each page, or NULL */
    char *root;      /* as for lwp_source_roots */
    char *folder;    /* of several results, or NULL */
    struct lwp_entry **entries; /* by name */
    size_t count, capacity;
    struct lwp_text *index; /* NULL: to be made */
    struct lwp_text *pair;  /* the last two that were compared, or NULL */
    const struct lwp_entry *paired[2];
    struct lwp_entry_pair seen;
};

/* Takes the templates in `fresh`. */
static void site_take_assets(struct lwp_site *site, struct lwp_assets fresh)
{
    lwp_assets_free(&site->assets);
    lwp_text_drop(site->style);
    lwp_text_drop(site->script);
    site->assets = fresh;
    site->style = lwp_text_new("text/css; charset=utf-8", strdup(fresh.style), strlen(fresh.style));
    site->script = lwp_text_new("text/javascript; charset=utf-8", strdup(fresh.script), strlen(fresh.script));
}

static int site_by_name(const void *a, const void *b)
{
    return strcmp(lwp_entry_name(*(struct lwp_entry *const *)a), lwp_entry_name(*(struct lwp_entry *const *)b));
}

static int site_compare_name(const void *name, const void *entry)
{
    return strcmp(name, lwp_entry_name(*(struct lwp_entry *const *)entry));
}

/* The first `count` entries are sorted. */
static struct lwp_entry *site_find(const struct lwp_site *site, const char *name, size_t count)
{
    struct lwp_entry **found = count ? bsearch(name, site->entries, count, sizeof *site->entries, site_compare_name) : NULL;
    return found ? *found : NULL;
}

static void site_add(struct lwp_site *site, const char *dir, const char *name)
{
    LWP_GROW(&site->entries, site->count, &site->capacity);
    site->entries[site->count++] = lwp_entry_new(dir, name, site->root);
    lwp_text_drop(site->index);
    site->index = NULL;
}

/* Finds the results that have come since. */
static int site_scan(struct lwp_site *site, struct lwp_error *err)
{
    DIR *folder = site->folder ? opendir(site->folder) : NULL;
    size_t known = site->count;
    if (!folder)
        return lwp_error_errno(err, "cannot open %s", site->folder);
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char path[PATH_MAX];
        if (*entry->d_name != '.' && !site_find(site, entry->d_name, known) &&
            snprintf(path, sizeof path, "%s/%s", site->folder, entry->d_name) < (int)sizeof path &&
            lwp_result_is_within(site->folder, entry->d_name))
            site_add(site, path, entry->d_name);
    }
    closedir(folder);
    if (site->count > known)
        qsort(site->entries, site->count, sizeof *site->entries, site_by_name);
    if (!site->count)
        return lwp_error_set(err, LWP_ERR_MISSING, "%s holds no result; name a folder that 'lwp collect' has written",
                             site->folder);
    return 0;
}

/* With --templates: what may have been edited since. */
static int site_edited(struct lwp_site *site, struct lwp_error *err)
{
    struct lwp_assets fresh;
    int status = site->templates ? lwp_assets_load(&fresh, site->templates, err) : 0;
    if (site->templates && !status)
        site_take_assets(site, fresh);
    return status;
}

static struct lwp_answer site_page(struct lwp_site *site, struct lwp_entry *entry)
{
    struct lwp_error err = {0};
    if (site_edited(site, &err))
        return lwp_answer_say(500, err.text);
    return lwp_entry_page(entry, &site->assets, site->templates != NULL);
}

/* {"view": "index", "results": what lwp_entry_summary says of each}; *changed: something is new. */
static json_t *site_index_data(struct lwp_site *site, bool *changed)
{
    json_t *results = json_array();
    for (size_t i = 0; i < site->count; i++)
        json_array_append(results, lwp_entry_summary(site->entries[i], changed));
    return json_pack("{s:s, s:s, s:s, s:o}", "view", "index", "mode", "served", "lwp", LWP_VERSION, "results", results);
}

static struct lwp_answer site_index(struct lwp_site *site)
{
    struct lwp_error err = {0};
    bool changed = site->templates != NULL;
    char *html = NULL;
    size_t length;
    site_scan(site, NULL);
    int status = site_edited(site, &err);
    json_t *data = site_index_data(site, &changed);
    if (!status && (changed || !site->index)) {
        lwp_text_drop(site->index);
        site->index = NULL;
        status = data ? lwp_page_build(&site->assets, "", "results", data, &html, &length, &err)
                      : lwp_error_set(&err, LWP_ERR_MEMORY, "no memory for the page");
        if (!status)
            site->index = lwp_text_new("text/html; charset=utf-8", html, length);
    }
    json_decref(data);
    return status ? lwp_answer_say(500, err.text) : (struct lwp_answer){200, lwp_text_hold(site->index)};
}

int lwp_site_new(struct lwp_site **made, const char *dir, const char *templates, const char *root, struct lwp_error *err)
{
    struct lwp_site *site = lwp_allocated(calloc(1, sizeof *site));
    struct stat info;
    int status = 0;
    *made = NULL;
    if (stat(dir, &info))
        status = lwp_error_errno(err, "cannot open %s", dir);
    else if (!S_ISDIR(info.st_mode))
        status = lwp_error_set(err, LWP_ERR_USAGE, "%s is a file; name the folder that 'lwp collect' has written", dir);
    struct lwp_assets assets;
    if (!status && !(status = lwp_assets_load(&assets, templates, err)))
        site_take_assets(site, assets);
    site->templates = templates ? lwp_allocated(strdup(templates)) : NULL;
    site->root = root ? lwp_allocated(strdup(root)) : NULL;
    if (!status && lwp_result_is(dir)) {
        site_add(site, dir, NULL);
        if (!(status = lwp_entry_prepare(site->entries[0], err)))
            lwp_text_drop(lwp_entry_page(site->entries[0], &site->assets, false).text); /* so that the first reader has it at once */
    } else if (!status) {
        site->folder = lwp_allocated(strdup(dir));
        if (!(status = site_scan(site, err)))
            lwp_text_drop(site_index(site).text);
    }
    if (status)
        lwp_site_free(site);
    else
        *made = site;
    return status;
}

void lwp_site_free(struct lwp_site *site)
{
    if (!site)
        return;
    for (size_t i = 0; i < site->count; i++)
        lwp_entry_free(site->entries[i]);
    free(site->entries);
    free(site->templates);
    free(site->root);
    free(site->folder);
    lwp_text_drop(site->index);
    lwp_text_drop(site->pair);
    lwp_text_drop(site->style);
    lwp_text_drop(site->script);
    lwp_assets_free(&site->assets);
    free(site);
}

size_t lwp_site_results(const struct lwp_site *site)
{
    return site->count;
}

/* Looks into the folder again for one that has come since. */
static struct lwp_entry *site_named(struct lwp_site *site, const char *name)
{
    struct lwp_entry *entry = site_find(site, name, site->count);
    if (!entry && *name && !strchr(name, '/') && site_scan(site, NULL) == 0)
        entry = site_find(site, name, site->count);
    return entry;
}

/* What is below /r/: NAME or NAME.json. */
static struct lwp_answer site_result(struct lwp_site *site, const char *name)
{
    size_t length = strlen(name);
    struct lwp_entry *entry = site_named(site, name);
    if (entry)
        return site_page(site, entry);
    char *stem = length > 5 && strcmp(name + length - 5, ".json") == 0 ? strndup(name, length - 5) : NULL;
    entry = stem ? site_find(site, stem, site->count) : NULL;
    free(stem);
    return entry ? lwp_entry_json(entry, &site->assets) : lwp_answer_say(404, "There is no such result.");
}

/* What is below /diff/: BEFORE/AFTER. Kept, as a page in a browser asks again and again whether it has changed. */
static struct lwp_answer site_compare(struct lwp_site *site, const char *names)
{
    size_t length = strcspn(names, "/");
    char *name = lwp_allocated(strndup(names, length));
    struct lwp_entry *before = site_named(site, name), *after = names[length] ? site_named(site, names + length + 1) : NULL;
    struct lwp_error err = {0};
    free(name);
    if (!before || !after)
        return lwp_answer_say(404, "There is no such result: /diff/BEFORE/AFTER takes the names of two.");
    bool changed = lwp_entry_pair_changed(before, after, &site->seen);
    if (site->pair && !changed && !site->templates && site->paired[0] == before && site->paired[1] == after)
        return (struct lwp_answer){200, lwp_text_hold(site->pair)};
    lwp_text_drop(site->pair);
    site->pair = NULL;
    if (site_edited(site, &err))
        return lwp_answer_say(500, err.text);
    struct lwp_answer answer = lwp_entry_compare(before, after, &site->assets, "../../");
    bool analysed = !lwp_entry_pair_changed(before, after, &site->seen);
    if (answer.status == 200 && analysed) {
        site->pair = lwp_text_hold(answer.text);
        site->paired[0] = before;
        site->paired[1] = after;
    }
    return answer;
}

struct lwp_answer lwp_site_get(struct lwp_site *site, const char *path)
{
    struct lwp_entry *entry = site->folder ? NULL : site->entries[0];
    if (strcmp(path, "/report.css") == 0)
        return (struct lwp_answer){200, lwp_text_hold(site->style)};
    if (strcmp(path, "/report.js") == 0)
        return (struct lwp_answer){200, lwp_text_hold(site->script)};
    if (strcmp(path, "/") == 0)
        return entry ? site_page(site, entry) : site_index(site);
    if (entry && strcmp(path, "/analysis.json") == 0)
        return lwp_entry_json(entry, &site->assets);
    if (entry && strcmp(path, "/progress") == 0)
        return lwp_entry_progress(entry);
    if (!entry && strncmp(path, "/r/", 3) == 0)
        return site_result(site, path + 3);
    if (!entry && strncmp(path, "/diff/", 6) == 0)
        return site_compare(site, path + 6);
    if (!entry && strncmp(path, "/progress/", 10) == 0 && (entry = site_find(site, path + 10, site->count)))
        return lwp_entry_progress(entry);
    return lwp_answer_say(404, "There is no such page; / is the report.");
}
