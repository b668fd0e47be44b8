#include "web/site.h"

#include "web/assets.h"
#include "web/file.h"
#include "web/page.h"
#include "web/result.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SITE_RESULTS_MAX = 1000 };

struct site_result {
    char *name;   /* of the folder; "" for a site of one */
    char *folder;
};

struct lwp_site {
    struct site_result *results;
    size_t count;
    bool single;
    const char *templates;
    char bind[64];
};

static bool site_add(struct lwp_site *site, const char *name, const char *folder)
{
    struct site_result *larger = realloc(site->results, (site->count + 1) * sizeof *larger);
    if (!larger)
        return false;
    site->results = larger;
    larger[site->count] = (struct site_result){strdup(name), strdup(folder)};
    site->count++;
    return larger[site->count - 1].name && larger[site->count - 1].folder;
}

static int site_compare(const void *a, const void *b)
{
    return strcmp(((const struct site_result *)a)->name, ((const struct site_result *)b)->name);
}

static void site_scan(struct lwp_site *site, const char *folder)
{
    DIR *entries = opendir(folder);
    if (!entries)
        return;
    for (struct dirent *entry; (entry = readdir(entries)) && site->count < SITE_RESULTS_MAX;) {
        char path[4096];
        lwp_file_join(path, sizeof path, folder, entry->d_name);
        if (entry->d_name[0] != '.' && lwp_result_is(path))
            site_add(site, entry->d_name, path);
    }
    closedir(entries);
    qsort(site->results, site->count, sizeof *site->results, site_compare);
}

struct lwp_site *lwp_site_new(const char *folder, const char *templates, struct lwp_error *err)
{
    struct stat st;
    if (stat(folder, &st) || !S_ISDIR(st.st_mode)) {
        lwp_error_set(err, LWP_ERR_MISSING, "%s is no directory; make a result with: lwp collect ./app", folder);
        return NULL;
    }
    struct lwp_site *site = calloc(1, sizeof *site);
    if (!site) {
        lwp_error_set(err, LWP_ERR_MEMORY, "out of memory");
        return NULL;
    }
    site->templates = templates;
    site->single = lwp_result_is(folder);
    if (site->single) {
        site_add(site, "", folder);
        json_t *analysis;
        if (lwp_result_load(folder, &analysis, err)) { /* better said now than in the browser */
            lwp_site_free(site);
            return NULL;
        }
        json_decref(analysis);
        return site;
    }
    site_scan(site, folder);
    if (site->count)
        return site;
    lwp_error_set(err, LWP_ERR_MISSING, "%s holds no result (no run.json in it or one level below); make one with: "
                                        "lwp collect ./app", folder);
    lwp_site_free(site);
    return NULL;
}

void lwp_site_free(struct lwp_site *site)
{
    if (!site)
        return;
    for (size_t i = 0; i < site->count; i++) {
        free(site->results[i].name);
        free(site->results[i].folder);
    }
    free(site->results);
    free(site);
}

void lwp_site_set_bind(struct lwp_site *site, const char *address)
{
    snprintf(site->bind, sizeof site->bind, "%s", address);
}

/* ---- answers ---- */

static void answer_text(struct lwp_site_answer *answer, unsigned status, const char *text)
{
    *answer = (struct lwp_site_answer){.status = status, .type = "text/plain; charset=utf-8", .bytes = strdup(text)};
    answer->size = strlen(text);
}

static void answer_asset(const struct lwp_site *site, const char *name, const char *type, struct lwp_site_answer *answer)
{
    struct lwp_error err;
    struct lwp_asset asset;
    if (lwp_asset_load(&asset, name, site->templates, &err)) {
        answer_text(answer, 500, err.text);
        return;
    }
    *answer = (struct lwp_site_answer){200, type, asset.bytes, asset.size};
}

static void answer_page(const struct lwp_site *site, const struct site_result *result, bool as_json,
                        struct lwp_site_answer *answer)
{
    struct lwp_error err;
    json_t *analysis;
    if (lwp_result_load(result->folder, &analysis, &err)) {
        answer_text(answer, 500, err.text);
        return;
    }
    *answer = (struct lwp_site_answer){.status = 200, .type = "text/html; charset=utf-8"};
    struct lwp_page_options page = {.templates = site->templates, .source = LWP_SOURCE_HOT};
    if (as_json) {
        answer->type = "application/json";
        answer->bytes = json_dumps(analysis, JSON_INDENT(1));
        answer->size = answer->bytes ? strlen(answer->bytes) : 0;
    } else if (lwp_page_make(analysis, &page, &answer->bytes, &answer->size, &err)) {
        answer_text(answer, 500, err.text);
    }
    json_decref(analysis);
}

static void answer_index(const struct lwp_site *site, struct lwp_site_answer *answer)
{
    *answer = (struct lwp_site_answer){.status = 200, .type = "text/html; charset=utf-8"};
    FILE *page = open_memstream(&answer->bytes, &answer->size);
    if (!page)
        return;
    fputs("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>lwp results</title>"
          "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" href=\"/report.css\">"
          "<main><h1>Results</h1><ul class=\"index\">",
          page);
    for (size_t i = 0; i < site->count; i++) {
        char *name = lwp_page_escape(site->results[i].name);
        if (name)
            fprintf(page, "<li><a href=\"/r/%zu/\">%s</a></li>", i, name);
        free(name);
    }
    fputs("</ul></main></html>", page);
    fclose(page);
}

static bool site_host_good(const struct lwp_site *site, const char *host)
{
    if (!host)
        return true; /* HTTP/1.0 */
    size_t length = strcspn(host, ":");
    static const char *const good[] = {"localhost", "127.0.0.1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (strlen(good[i]) == length && !strncasecmp(host, good[i], length))
            return true;
    return !strcmp(site->bind, "0.0.0.0") || (strlen(site->bind) == length && !strncmp(host, site->bind, length));
}

void lwp_site_answer(struct lwp_site *site, bool reads, const char *host, const char *path,
                     struct lwp_site_answer *answer)
{
    if (!reads) {
        answer_text(answer, 405, "only GET and HEAD are answered here\n");
    } else if (!site_host_good(site, host)) {
        answer_text(answer, 421, "this server answers to its own address only\n");
    } else if (!strcmp(path, "/report.css")) {
        answer_asset(site, "report.css", "text/css; charset=utf-8", answer);
    } else if (!strcmp(path, "/report.js")) {
        answer_asset(site, "report.js", "text/javascript; charset=utf-8", answer);
    } else if (!strcmp(path, "/")) {
        if (site->single)
            answer_page(site, &site->results[0], false, answer);
        else
            answer_index(site, answer);
    } else if (site->single && !strcmp(path, "/analysis.json")) {
        answer_page(site, &site->results[0], true, answer);
    } else if (!site->single && !strncmp(path, "/r/", 3) && path[3] >= '0' && path[3] <= '9') {
        char *end;
        unsigned long number = strtoul(path + 3, &end, 10);
        bool page = !strcmp(end, "/"), json = !strcmp(end, "/analysis.json");
        if (number < site->count && (page || json))
            answer_page(site, &site->results[number], json, answer);
        else
            answer_text(answer, 404, "there is no such page here\n");
    } else {
        answer_text(answer, 404, "there is no such page here\n");
    }
}
