/* Routes: / (the report, or the index when there are several results), /r/NAME (one of several), /analysis.json and
 * /r/NAME.json, /progress and /progress/NAME (of a result that is being written), /report.css, /report.js. A result's page is
 * kept and made anew when its analysis.json has changed; one that was never analysed is analysed when it is first asked
 * for, but not while it is written: then its page tells how far it is. */
#include "web/site.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "web/live.h"
#include "web/page.h"
#include "web/result.h"
#include "web/sha256.h"

#include "config.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

enum { SITE_TAG_BYTES = 50, SITE_PACKED_LEAST = 1024 };

/* What is sent, and made only when it changes. */
struct site_text {
    char *body, *packed;
    size_t length, packed_length;
    char tag[SITE_TAG_BYTES];
};

struct site_result {
    char *dir, *name;
    bool prepared;
    struct stat seen; /* analysis.json that page and json were made of */
    struct site_text page, json;
    json_t *summary; /* for the index; of analysis.json as it was at `summed` */
    struct stat summed;
    struct lwp_live live;
};

struct lwp_site {
    struct lwp_assets assets;
    struct site_text style, script;
    char *templates; /* a folder to read anew for each page, or NULL */
    char *folder;    /* of several results, or NULL */
    struct site_result *results;
    size_t count, capacity;
    struct site_text buffer; /* the index or an error's text */
};

static void site_text_free(struct site_text *text)
{
    free(text->body);
    free(text->packed);
    *text = (struct site_text){0};
}

/* Takes `body`. */
static void site_text_set(struct site_text *text, char *body, size_t length)
{
    char digest[45];
    site_text_free(text);
    text->body = body;
    text->length = length;
    lwp_sha256_base64(body, length, digest);
    snprintf(text->tag, sizeof text->tag, "W/\"%s\"", digest);
    size_t room = ZSTD_compressBound(length);
    if (length < SITE_PACKED_LEAST || !(text->packed = malloc(room)))
        return;
    text->packed_length = ZSTD_compress(text->packed, room, body, length, 3);
    if (ZSTD_isError(text->packed_length)) {
        free(text->packed);
        text->packed = NULL;
    }
}

static struct lwp_answer site_answer(const struct site_text *text, const char *type)
{
    return (struct lwp_answer){200, type, text->body, text->length, text->packed, text->packed_length, text->tag};
}

static bool site_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Takes the templates in `fresh`. */
static void site_take_assets(struct lwp_site *site, struct lwp_assets fresh)
{
    lwp_assets_free(&site->assets);
    site->assets = fresh;
    site_text_set(&site->style, strdup(fresh.style), strlen(fresh.style));
    site_text_set(&site->script, strdup(fresh.script), strlen(fresh.script));
}

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
        bool known = false;
        for (size_t i = 0; i < site->count && !known; i++)
            known = strcmp(site->results[i].name, entry->d_name) == 0;
        if (!known && *entry->d_name != '.' && snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) < (int)sizeof path &&
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
    struct lwp_assets assets;
    if (!status && !(status = lwp_assets_load(&assets, templates, err)))
        site_take_assets(site, assets);
    if (!status && templates)
        site->templates = strdup(templates);
    if (!status && lwp_result_is(dir)) {
        site_add(site, dir, lwp_result_name(dir));
        site->results[0].prepared = !lwp_live_is(dir);
        if (site->results[0].prepared)
            status = lwp_result_prepare(dir, err);
    } else if (!status) {
        site->folder = strdup(dir);
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
        site_text_free(&site->results[i].page);
        site_text_free(&site->results[i].json);
        json_decref(site->results[i].summary);
        lwp_live_free(&site->results[i].live);
    }
    free(site->results);
    free(site->templates);
    free(site->folder);
    site_text_free(&site->buffer);
    site_text_free(&site->style);
    site_text_free(&site->script);
    lwp_assets_free(&site->assets);
    free(site);
}

size_t lwp_site_results(const struct lwp_site *site)
{
    return site->count;
}

static struct lwp_answer site_say(struct lwp_site *site, unsigned status, const char *text)
{
    static const char type[] = "text/plain; charset=utf-8";
    site_text_free(&site->buffer);
    if (asprintf(&site->buffer.body, "%s\n", text) < 0) {
        site->buffer.body = NULL;
        return (struct lwp_answer){.status = status, .type = type, .body = ""};
    }
    return (struct lwp_answer){.status = status, .type = type, .body = site->buffer.body, .length = strlen(site->buffer.body)};
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
    bool same = result->page.body && !site->templates && site_same_file(&now, &result->seen);
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
    site_text_free(&result->page);
    site_text_free(&result->json);
    if (site->templates) {
        struct lwp_assets fresh;
        if ((status = lwp_assets_load(&fresh, site->templates, err)))
            return status;
        site_take_assets(site, fresh);
    }
    if ((status = lwp_result_load(result->dir, &analysis, err)))
        return status;
    char *text = NULL;
    size_t length;
    status = site_json_text(analysis, &text, &length, err); /* all of it, other than the page */
    if (!status)
        site_text_set(&result->json, text, length);
    if (!status && !(data = lwp_page_result_data(result->name, LWP_PAGE_SERVED, analysis, LWP_SOURCE_ALL)))
        status = lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the page");
    if (!status)
        status = lwp_page_build(&site->assets, LWP_PAGE_SERVED, lwp_page_title(result->name, analysis), data, &text,
                                &length, err);
    if (!status)
        site_text_set(&result->page, text, length);
    json_decref(data);
    json_decref(analysis);
    return status;
}

/* The page of a result that is being written. The same until it has ended, so that its tag tells the end. */
static struct lwp_answer site_live(struct lwp_site *site, struct site_result *result)
{
    struct lwp_error err = {0};
    char *path = NULL, *text = NULL;
    size_t length;
    if (asprintf(&path, "/progress%s%s", site->folder ? "/" : "", site->folder ? result->name : "") < 0)
        return site_say(site, 500, "no memory");
    json_t *data = lwp_live_page(result->name, result->dir, path);
    int status = lwp_page_build(&site->assets, LWP_PAGE_SERVED, lwp_page_title(result->name, json_object_get(data, "analysis")),
                                data, &text, &length, &err);
    json_decref(data);
    free(path);
    if (status)
        return site_say(site, 500, err.text);
    site_text_set(&site->buffer, text, length);
    return site_answer(&site->buffer, "text/html; charset=utf-8");
}

static struct lwp_answer site_progress(struct lwp_site *site, struct site_result *result)
{
    json_t *progress = lwp_live_json(&result->live, result->dir);
    char *text = json_dumps(progress, 0);
    json_decref(progress);
    if (!text)
        return site_say(site, 500, "no memory");
    site_text_set(&site->buffer, text, strlen(text));
    return site_answer(&site->buffer, "application/json");
}

static struct lwp_answer site_result(struct lwp_site *site, struct site_result *result, bool json)
{
    struct lwp_error err = {0};
    if (lwp_live_is(result->dir)) {
        result->prepared = false;
        return json ? site_say(site, 503, "The run is not over; its analysis comes at the end.") : site_live(site, result);
    }
    if (site_refresh(site, result, &err))
        return site_say(site, 500, err.text);
    return json ? site_answer(&result->json, "application/json") : site_answer(&result->page, "text/html; charset=utf-8");
}

/* What the index says of one result, without analysing it; borrowed. */
static json_t *site_summary(struct site_result *result)
{
    char path[PATH_MAX];
    struct stat now = {0};
    snprintf(path, sizeof path, "%s/analysis.json", result->dir);
    bool there = stat(path, &now) == 0;
    json_object_set_new(result->summary, "running", json_boolean(lwp_live_is(result->dir)));
    if (result->summary && site_same_file(&now, &result->summed))
        return result->summary;
    json_t *analysis = NULL, *summary;
    char *clean = lwp_utf8_clean(result->name);
    if (there)
        lwp_result_load(result->dir, &analysis, NULL);
    const json_t *run = json_object_get(analysis, "run"),
                 *first = json_array_get(json_object_get(analysis, "findings"), 0);
    summary = json_pack(
        "{s:s, s:b, s:b, s:O?, s:O?, s:O?, s:O?, s:I, s:O?, s:O?}", "name", clean ? clean : "", "analysed", analysis != NULL,
        "running", lwp_live_is(result->dir), "command", json_object_get(run, "command"), "started", json_object_get(run, "started"), "engine",
        json_object_get(run, "engine"), "samples", json_object_get(run, "samples"), "findings",
        (json_int_t)json_array_size(json_object_get(analysis, "findings")), "title", json_object_get(first, "title"),
        "expected_speedup", json_object_get(first, "expected_speedup"));
    json_decref(analysis);
    free(clean);
    json_decref(result->summary);
    result->summary = summary;
    result->summed = now;
    return summary;
}

static struct lwp_answer site_index(struct lwp_site *site)
{
    struct lwp_error err = {0};
    json_t *results = json_array();
    site_scan(site, site->folder, &err); /* some may have come since */
    for (size_t i = 0; i < site->count; i++)
        json_array_append(results, site_summary(&site->results[i]));
    json_t *data =
        json_pack("{s:s, s:s, s:s, s:o}", "view", "index", "mode", "served", "lwp", LWP_VERSION, "results", results);
    char *text = NULL;
    size_t length;
    int status = data ? lwp_page_build(&site->assets, LWP_PAGE_SERVED, "results", data, &text, &length, &err)
                      : lwp_error_set(&err, LWP_ERR_MEMORY, "no memory for the page");
    json_decref(data);
    if (status)
        return site_say(site, 500, err.text);
    site_text_set(&site->buffer, text, length);
    return site_answer(&site->buffer, "text/html; charset=utf-8");
}

static struct site_result *site_find(struct lwp_site *site, const char *name)
{
    for (size_t i = 0; i < site->count; i++)
        if (strcmp(name, site->results[i].name) == 0)
            return &site->results[i];
    return NULL;
}

/* NAME, or *json: NAME.json. Looks into the folder again for one that has come since. */
static struct site_result *site_named(struct lwp_site *site, const char *name, bool *json)
{
    size_t length = strlen(name);
    char *stem = length > 5 && strcmp(name + length - 5, ".json") == 0 ? strndup(name, length - 5) : NULL;
    struct site_result *result = NULL;
    for (int again = 0; !result && again < 2; again++) {
        if (again)
            site_scan(site, site->folder, NULL);
        result = site_find(site, name);
        *json = !result && stem && (result = site_find(site, stem));
    }
    free(stem);
    return result;
}

struct lwp_answer lwp_site_get(struct lwp_site *site, const char *path)
{
    if (strcmp(path, "/report.css") == 0)
        return site_answer(&site->style, "text/css; charset=utf-8");
    if (strcmp(path, "/report.js") == 0)
        return site_answer(&site->script, "text/javascript; charset=utf-8");
    if (strcmp(path, "/") == 0)
        return site->folder ? site_index(site) : site_result(site, &site->results[0], false);
    if (!site->folder && strcmp(path, "/analysis.json") == 0)
        return site_result(site, &site->results[0], true);
    if (!site->folder && strcmp(path, "/progress") == 0)
        return site_progress(site, &site->results[0]);
    struct site_result *result = NULL;
    bool json = false;
    if (site->folder && strncmp(path, "/progress/", 10) == 0 && (result = site_find(site, path + 10)))
        return site_progress(site, result);
    if (site->folder && strncmp(path, "/r/", 3) == 0 && (result = site_named(site, path + 3, &json)))
        return site_result(site, result, json);
    return site_say(site, 404, "There is no such page; / is the report.");
}
