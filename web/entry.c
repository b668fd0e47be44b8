/* A page is built on the first request and cached: later requests cost a stat(). A result without an analysis is analyzed in
 * the background, so that readers of other results do not wait for it. */
#include "web/entry.h"

#include "analysis/review/tried.h"
#include "base/arena.h"
#include "base/text.h"
#include "web/live.h"
#include "web/page.h"
#include "web/preparing.h"
#include "web/result.h"
#include "web/source.h"

#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An analysis that is up to date is known to be within that time: then nobody needs to look at its progress. */
enum { ENTRY_PATIENCE_MS = 300 };

struct lwp_entry {
    char *dir, *name;
    char *address;       /* the name in a URL; NULL: alone, at the root */
    char *root;          /* where the reader says that source is; NULL: nowhere */
    bool prepared;
    struct lwp_preparing *preparing; /* NULL: no analysis is on its way */
    struct stat seen;    /* analysis.json that page and json were made of */
    struct lwp_text *page, *json; /* NULL: to be made */
    json_t *summary;     /* of analysis.json as it was at `summed` */
    struct stat summed;
    struct lwp_live live;
};

/* What is not a letter or digit of ASCII as %XX. The caller frees it. */
static char *entry_escaped(const char *name)
{
    char *escaped = lwp_allocated(malloc(3 * strlen(name) + 1)), *to = escaped;
    for (; *name; name++) {
        bool plain = (*name >= '0' && *name <= '9') || ((*name | 32) >= 'a' && (*name | 32) <= 'z') || strchr("-_.~", *name);
        to += plain ? sprintf(to, "%c", *name) : sprintf(to, "%%%02X", (unsigned char)*name);
    }
    *to = '\0';
    return escaped;
}

struct lwp_entry *lwp_entry_new(const char *dir, const char *name, const char *root)
{
    struct lwp_entry *entry = lwp_allocated(calloc(1, sizeof *entry));
    entry->dir = lwp_allocated(strdup(dir));
    entry->name = lwp_allocated(name ? strdup(name) : lwp_result_name(dir));
    entry->address = name ? entry_escaped(name) : NULL;
    entry->root = root ? lwp_allocated(strdup(root)) : NULL;
    return entry;
}

void lwp_entry_free(struct lwp_entry *entry)
{
    if (!entry)
        return;
    free(entry->dir);
    free(entry->name);
    free(entry->address);
    free(entry->root);
    lwp_preparing_leave(entry->preparing);
    lwp_text_drop(entry->page);
    lwp_text_drop(entry->json);
    json_decref(entry->summary);
    lwp_live_free(&entry->live);
    free(entry);
}

const char *lwp_entry_name(const struct lwp_entry *entry)
{
    return entry->name;
}

int lwp_entry_prepare(struct lwp_entry *entry, struct lwp_error *err)
{
    int status = 0;
    entry->prepared = !lwp_live_is(entry->dir);
    if (entry->prepared)
        status = lwp_result_prepare(entry->dir, err);
    if (status)
        entry->prepared = false;
    return status;
}

static int entry_work(const char *dir, json_t **made, struct lwp_error *err)
{
    *made = NULL;
    return lwp_result_prepare(dir, err);
}

static bool entry_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* analysis.json as it is now; false: there is none. */
static bool entry_look(const struct lwp_entry *entry, struct stat *now)
{
    char path[PATH_MAX];
    *now = (struct stat){0};
    if (snprintf(path, sizeof path, "%s/analysis.json", entry->dir) >= (int)sizeof path || stat(path, now))
        return false;
    struct stat tried; /* what lwp patch made belongs to the page, too */
    if (snprintf(path, sizeof path, "%s/" LWP_TRIED_FILE, entry->dir) < (int)sizeof path && stat(path, &tried) == 0) {
        now->st_size += tried.st_size;
        if (tried.st_mtim.tv_sec > now->st_mtim.tv_sec ||
            (tried.st_mtim.tv_sec == now->st_mtim.tv_sec && tried.st_mtim.tv_nsec > now->st_mtim.tv_nsec))
            now->st_mtim = tried.st_mtim;
    }
    return true;
}

/* All of the analysis, other than the page. */
static int entry_json_text(const char *dir, struct lwp_text **made, struct lwp_error *err)
{
    json_t *analysis = NULL;
    int status = lwp_result_load(dir, &analysis, err);
    if (status)
        return status;
    char *text = json_dumps(analysis, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(analysis);
    *made = lwp_text_new("application/json", lwp_allocated(text), strlen(text));
    return 0;
}

/* From an entry's page to the server's root. */
static const char *entry_root(const struct lwp_entry *entry)
{
    return entry->address ? "../" : "";
}

/* Takes `data`; *made is held once. A page of one result among several leads back to the index. */
static int entry_page_text(const struct lwp_entry *entry, const struct lwp_assets *assets, json_t *data, const char *root,
                           struct lwp_text **made, struct lwp_error *err)
{
    char *html = NULL;
    size_t length = 0;
    *made = NULL;
    if (data && *root)
        json_object_set_new(data, "index", json_string(root));
    int status =
        data ? lwp_page_build(assets, root, lwp_page_title(entry->name, json_object_get(data, "analysis")), data, &html, &length, err)
             : lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the page");
    json_decref(data);
    if (!status)
        *made = lwp_text_new("text/html; charset=utf-8", html, length);
    return status;
}

/* Brings `page` up to date. */
static int entry_refresh(struct lwp_entry *entry, const struct lwp_assets *assets, bool anew, struct lwp_error *err)
{
    struct stat now;
    json_t *analysis = NULL;
    bool there = entry_look(entry, &now);
    if (there && entry->page && !anew && entry_same_file(&now, &entry->seen))
        return 0;
    lwp_text_drop(entry->page);
    lwp_text_drop(entry->json);
    entry->page = entry->json = NULL;
    entry->seen = now;
    int status = lwp_result_load(entry->dir, &analysis, err);
    if (!status) {
        json_t *roots = lwp_source_roots(entry->dir, entry->root);
        struct lwp_page_wish wish = {"served", LWP_SOURCE_ALL, roots, LWP_PAGE_BYTES_MAX};
        status = entry_page_text(entry, assets, lwp_page_result_data(entry->name, analysis, &wish), entry_root(entry), &entry->page, err);
        json_decref(roots);
    }
    json_decref(analysis);
    return status;
}

/* The page of a result that is being written or analysed. The same until that has ended, so that its tag tells the end. */
static struct lwp_answer entry_unfinished(const struct lwp_entry *entry, const struct lwp_assets *assets, const char *root)
{
    struct lwp_error err = {0};
    struct lwp_text *text;
    char progress[PATH_MAX];
    snprintf(progress, sizeof progress, "%sprogress%s%s", root, entry->address ? "/" : "", entry->address ? entry->address : "");
    if (entry_page_text(entry, assets, lwp_live_page(entry->name, entry->dir, progress), root, &text, &err))
        return lwp_answer_say(500, err.text);
    return (struct lwp_answer){200, text};
}

/* Whether there is an analysis to show. If not, `err` says why there never will be, or nothing: it is being made. */
static bool entry_is_ready(struct lwp_entry *entry, struct lwp_error *err)
{
    if (lwp_live_is(entry->dir)) {
        entry->prepared = false;
        return false;
    }
    if (entry->prepared)
        return true;
    if (!entry->preparing && lwp_preparing_start(&entry->preparing, entry->dir, entry_work, err))
        return false;
    if (!lwp_preparing_wait(entry->preparing, ENTRY_PATIENCE_MS))
        return false;
    entry->prepared = lwp_preparing_end(entry->preparing, NULL, err) == 0;
    entry->preparing = NULL;
    return entry->prepared;
}

struct lwp_answer lwp_entry_page(struct lwp_entry *entry, const struct lwp_assets *assets, bool anew)
{
    struct lwp_error err = {0};
    if (!entry_is_ready(entry, &err) && !err.status)
        return entry_unfinished(entry, assets, entry_root(entry));
    if (err.status || entry_refresh(entry, assets, anew, &err))
        return lwp_answer_say(500, err.text);
    return (struct lwp_answer){200, lwp_text_hold(entry->page)};
}

bool lwp_entry_pair_changed(const struct lwp_entry *before, const struct lwp_entry *after, struct lwp_entry_pair *pair)
{
    struct lwp_entry_pair now;
    entry_look(before, &now.seen[0]);
    entry_look(after, &now.seen[1]);
    bool same = entry_same_file(&now.seen[0], &pair->seen[0]) && entry_same_file(&now.seen[1], &pair->seen[1]);
    *pair = now;
    return !same || lwp_live_is(before->dir) || lwp_live_is(after->dir);
}

/* Both have their analysis. */
static int entry_compared(const struct lwp_entry *before, const struct lwp_entry *after, const struct lwp_assets *assets, const char *root,
                          struct lwp_text **made, struct lwp_error *err)
{
    json_t *diff = NULL, *first = NULL, *second = NULL;
    int status = lwp_result_diff(before->dir, after->dir, &diff, err);
    if (!status)
        status = lwp_result_load(before->dir, &first, err);
    if (!status)
        status = lwp_result_load(after->dir, &second, err);
    if (!status) {
        json_t *roots = lwp_source_roots(after->dir, after->root);
        struct lwp_page_wish wish = {"served", LWP_SOURCE_ALL, roots, LWP_PAGE_BYTES_MAX};
        json_t *data = lwp_page_diff_data(after->name, diff, first, second, &wish);
        if (data)
            json_object_set_new(data, "pages", json_pack("[s?, s?]", before->address, after->address));
        status = entry_page_text(after, assets, data, root, made, err);
        json_decref(roots);
    }
    json_decref(second);
    json_decref(first);
    json_decref(diff);
    return status;
}

struct lwp_answer lwp_entry_compare(struct lwp_entry *before, struct lwp_entry *after, const struct lwp_assets *assets, const char *root)
{
    struct lwp_error err = {0};
    struct lwp_text *text;
    if (!entry_is_ready(before, &err) && !err.status)
        return entry_unfinished(before, assets, root);
    if (!err.status && !entry_is_ready(after, &err) && !err.status)
        return entry_unfinished(after, assets, root);
    if (err.status || entry_compared(before, after, assets, root, &text, &err))
        return lwp_answer_say(500, err.text);
    return (struct lwp_answer){200, text};
}

struct lwp_answer lwp_entry_json(struct lwp_entry *entry, const struct lwp_assets *assets)
{
    struct lwp_error err = {0};
    if (!entry_is_ready(entry, &err) && !err.status)
        return lwp_answer_say(503, "The run is not over; its analysis comes at the end.");
    if (err.status || entry_refresh(entry, assets, false, &err) || (!entry->json && entry_json_text(entry->dir, &entry->json, &err)))
        return lwp_answer_say(500, err.text);
    return (struct lwp_answer){200, lwp_text_hold(entry->json)};
}

struct lwp_answer lwp_entry_progress(struct lwp_entry *entry)
{
    json_t *progress = lwp_live_json(&entry->live, entry->dir, entry->preparing != NULL);
    char *text = lwp_allocated(json_dumps(progress, 0));
    json_decref(progress);
    return (struct lwp_answer){200, lwp_text_new("application/json", text, strlen(text))};
}

static json_t *entry_summarise(const struct lwp_entry *entry, bool there)
{
    json_t *analysis = NULL;
    char *clean = lwp_utf8_clean(entry->name);
    if (there)
        lwp_result_load(entry->dir, &analysis, NULL);
    const json_t *run = json_object_get(analysis, "run"), *first = json_array_get(json_object_get(analysis, "findings"), 0);
    struct stat info;
    json_t *begun = analysis ? NULL : lwp_result_run(entry->dir, &info); /* what is known before there is an analysis */
    if (begun)
        run = begun;
    json_t *summary =
        json_pack("{s:s, s:s?, s:b, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:I, s:O?, s:O?, s:O?}", "name", clean ? clean : "", "address",
                  entry->address, "analysed", analysis != NULL, "command", json_object_get(run, "command"), "started",
                  json_object_get(run, "started"), "engine", json_object_get(run, "engine"), "samples", json_object_get(run, "samples"),
                  "cpu_s", json_object_get(run, "cpu_s"), "stall_share", json_object_get(run, "stall_share"), "findings",
                  (json_int_t)json_array_size(json_object_get(analysis, "findings")), "title", json_object_get(first, "title"), "speedup",
                  json_object_get(first, "speedup"), "expected_speedup", json_object_get(first, "expected_speedup"));
    json_decref(begun);
    json_decref(analysis);
    free(clean);
    return summary;
}

json_t *lwp_entry_summary(struct lwp_entry *entry, bool *changed)
{
    struct stat now;
    bool there = entry_look(entry, &now), running = lwp_live_is(entry->dir);
    bool anew = !entry->summary || !entry_same_file(&now, &entry->summed);
    if (anew) {
        json_decref(entry->summary);
        entry->summary = entry_summarise(entry, there);
        entry->summed = now;
    }
    if (anew || running != json_is_true(json_object_get(entry->summary, "running"))) {
        json_object_set_new(entry->summary, "running", json_boolean(running));
        *changed = true;
    }
    return entry->summary;
}
