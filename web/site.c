/* Routes: / (the report, or the index when there are several results), /r/NAME (one of several), /analysis.json and
 * /r/NAME.json, /report.css, /report.js. A result's page is kept and made anew when its analysis.json has changed;
 * one that was never analysed is analysed when it is first asked for. */
#include "web/site.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "web/page.h"
#include "web/result.h"
#include "web/source.h"

#include "config.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One result; `text` and `json` hold what was last sent. */
struct site_result {
    char *dir, *name;
    bool prepared;
    struct stat seen; /* analysis.json that the page was made of */
    char *page, *json;
    size_t page_length, json_length;
};

struct lwp_site {
    struct lwp_assets assets;
    char *templates; /* a folder to read anew for each page, or NULL */
    struct site_result *results;
    size_t count, capacity;
    bool index;
    char *buffer; /* the index or an error's text */
    size_t buffer_length;
};

static int site_by_name(const void *a, const void *b)
{
    return strcmp(((const struct site_result *)a)->name, ((const struct site_result *)b)->name);
}

static void site_add(struct lwp_site *site, const char *dir, char *name)
{
    LWP_GROW(&site->results, site->count, &site->capacity);
    site->results[site->count++] = (struct site_result){.dir = strdup(dir), .name = name};
}

static int site_scan(struct lwp_site *site, const char *dir, struct lwp_error *err)
{
    DIR *folder = opendir(dir);
    if (!folder)
        return lwp_error_errno(err, "cannot open %s", dir);
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char path[PATH_MAX];
        if (*entry->d_name != '.' && snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) < (int)sizeof path &&
            lwp_result_is(path))
            site_add(site, path, strdup(entry->d_name));
    }
    closedir(folder);
    if (!site->count)
        return lwp_error_set(err, LWP_ERR_MISSING, "%s holds no result; name a folder that 'lwp collect' has written",
                             dir);
    qsort(site->results, site->count, sizeof *site->results, site_by_name);
    return 0;
}

int lwp_site_new(struct lwp_site **made, const char *dir, const char *templates, struct lwp_error *err)
{
    struct lwp_site *site = calloc(1, sizeof *site);
    struct stat info;
    int status = 0;
    *made = NULL;
    if (!site)
        return lwp_error_set(err, LWP_ERR_MEMORY, "no memory");
    if (stat(dir, &info))
        status = lwp_error_errno(err, "cannot open %s", dir);
    else if (!S_ISDIR(info.st_mode))
        status = lwp_error_set(err, LWP_ERR_USAGE, "%s is a file; name the folder that 'lwp collect' has written", dir);
    if (!status)
        status = lwp_assets_load(&site->assets, templates, err);
    if (!status && templates)
        site->templates = strdup(templates);
    if (!status && lwp_result_is(dir)) {
        site_add(site, dir, lwp_result_name(dir));
        status = lwp_result_prepare(dir, err);
        site->results[0].prepared = true;
    } else if (!status) {
        site->index = true;
        status = site_scan(site, dir, err);
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
    for (size_t i = 0; i < site->count; i++) {
        free(site->results[i].dir);
        free(site->results[i].name);
        free(site->results[i].page);
        free(site->results[i].json);
    }
    free(site->results);
    free(site->templates);
    free(site->buffer);
    lwp_assets_free(&site->assets);
    free(site);
}

size_t lwp_site_results(const struct lwp_site *site)
{
    return site->count;
}

static struct lwp_answer site_say(struct lwp_site *site, unsigned status, const char *text)
{
    free(site->buffer);
    site->buffer = NULL;
    if (asprintf(&site->buffer, "%s\n", text) < 0)
        return (struct lwp_answer){status, "text/plain; charset=utf-8", "", 0};
    return (struct lwp_answer){status, "text/plain; charset=utf-8", site->buffer, strlen(site->buffer)};
}

static int site_json_text(const json_t *value, char **text, size_t *length, struct lwp_error *err)
{
    *text = NULL;
    FILE *to = open_memstream(text, length);
    if (!to)
        return lwp_error_set(err, LWP_ERR_MEMORY, "no memory");
    int status = lwp_page_write_json(to, value, err);
    return fclose(to) && !status ? lwp_error_set(err, LWP_ERR_MEMORY, "no memory") : status;
}

static bool site_is_current(const struct lwp_site *site, struct site_result *result)
{
    char path[PATH_MAX];
    struct stat now;
    snprintf(path, sizeof path, "%s/analysis.json", result->dir);
    if (stat(path, &now))
        return false;
    bool same = result->page && !site->templates && now.st_ino == result->seen.st_ino &&
                now.st_size == result->seen.st_size && now.st_mtim.tv_sec == result->seen.st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == result->seen.st_mtim.tv_nsec;
    result->seen = now;
    return same;
}

/* Brings `page` and `json` up to date. */
static int site_refresh(struct lwp_site *site, struct site_result *result, struct lwp_error *err)
{
    json_t *analysis = NULL, *data = NULL;
    int status = 0;
    if (!result->prepared)
        status = lwp_result_prepare(result->dir, err);
    result->prepared = status == 0;
    if (status || site_is_current(site, result))
        return status;
    free(result->page);
    free(result->json);
    result->page = result->json = NULL;
    if (site->templates) {
        struct lwp_assets fresh;
        if ((status = lwp_assets_load(&fresh, site->templates, err)))
            return status;
        lwp_assets_free(&site->assets);
        site->assets = fresh;
    }
    if ((status = lwp_result_load(result->dir, &analysis, err)))
        return status;
    status = site_json_text(analysis, &result->json, &result->json_length, err); /* all of it, other than the page */
    if (!status && !(data = lwp_page_result_data(result->name, LWP_PAGE_SERVED, analysis, LWP_SOURCE_ALL)))
        status = lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the page");
    if (!status)
        status = lwp_page_build(&site->assets, LWP_PAGE_SERVED, lwp_page_title(result->name, analysis), data,
                                &result->page, &result->page_length, err);
    json_decref(data);
    json_decref(analysis);
    return status;
}

static struct lwp_answer site_result(struct lwp_site *site, struct site_result *result, bool json)
{
    struct lwp_error err = {0};
    if (site_refresh(site, result, &err))
        return site_say(site, 500, err.text);
    if (json)
        return (struct lwp_answer){200, "application/json", result->json, result->json_length};
    return (struct lwp_answer){200, "text/html; charset=utf-8", result->page, result->page_length};
}

/* What the index says of one result, without analysing it. */
static json_t *site_summary(const struct site_result *result)
{
    json_t *analysis = NULL, *summary;
    char *clean = lwp_utf8_clean(result->name);
    lwp_result_load(result->dir, &analysis, NULL);
    const json_t *run = json_object_get(analysis, "run"),
                 *first = json_array_get(json_object_get(analysis, "findings"), 0);
    summary = json_pack(
        "{s:s, s:b, s:O?, s:O?, s:O?, s:O?, s:I, s:O?, s:O?}", "name", clean ? clean : "", "analysed", analysis != NULL,
        "command", json_object_get(run, "command"), "started", json_object_get(run, "started"), "engine",
        json_object_get(run, "engine"), "samples", json_object_get(run, "samples"), "findings",
        (json_int_t)json_array_size(json_object_get(analysis, "findings")), "title", json_object_get(first, "title"),
        "expected_speedup", json_object_get(first, "expected_speedup"));
    json_decref(analysis);
    free(clean);
    return summary;
}

static struct lwp_answer site_index(struct lwp_site *site)
{
    struct lwp_error err = {0};
    json_t *results = json_array();
    for (size_t i = 0; i < site->count; i++)
        json_array_append_new(results, site_summary(&site->results[i]));
    json_t *data =
        json_pack("{s:s, s:s, s:s, s:o}", "view", "index", "mode", "served", "lwp", LWP_VERSION, "results", results);
    free(site->buffer);
    site->buffer = NULL;
    int status = data ? lwp_page_build(&site->assets, LWP_PAGE_SERVED, "results", data, &site->buffer,
                                       &site->buffer_length, &err)
                      : lwp_error_set(&err, LWP_ERR_MEMORY, "no memory for the page");
    json_decref(data);
    if (status)
        return site_say(site, 500, err.text);
    return (struct lwp_answer){200, "text/html; charset=utf-8", site->buffer, site->buffer_length};
}

struct lwp_answer lwp_site_get(struct lwp_site *site, const char *path)
{
    if (strcmp(path, "/report.css") == 0)
        return (struct lwp_answer){200, "text/css; charset=utf-8", site->assets.style, strlen(site->assets.style)};
    if (strcmp(path, "/report.js") == 0)
        return (struct lwp_answer){200, "text/javascript; charset=utf-8", site->assets.script,
                                   strlen(site->assets.script)};
    if (strcmp(path, "/") == 0)
        return site->index ? site_index(site) : site_result(site, &site->results[0], false);
    if (!site->index && strcmp(path, "/analysis.json") == 0)
        return site_result(site, &site->results[0], true);
    if (site->index && strncmp(path, "/r/", 3) == 0) {
        const char *name = path + 3;
        size_t length = strlen(name);
        for (size_t i = 0; i < site->count; i++) {
            size_t own = strlen(site->results[i].name);
            if (strncmp(name, site->results[i].name, own) != 0)
                continue;
            if (length == own || strcmp(name + own, ".json") == 0)
                return site_result(site, &site->results[i], length != own);
        }
    }
    return site_say(site, 404, "There is no such page; / is the report.");
}
