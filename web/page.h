/* One report page from the template, the style, the scripts and the data. */
#ifndef LWP_WEB_PAGE_H
#define LWP_WEB_PAGE_H

#include "web/assets.h"
#include "web/source.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* `data` is embedded as JSON, `title` as text. `root`: where from the page its files report.css and report.js are, "" or
 * "../"; NULL: they are in the page, whose own policy names them by hash. *html is the caller's to free. */
int lwp_page_build(const struct lwp_assets *assets, const char *root, const char *title, const json_t *data, char **html,
                   size_t *length, struct lwp_error *err);

enum { LWP_PAGE_BYTES_MAX = 8 << 20 };

/* How a result is to be shown. */
struct lwp_page_wish {
    const char *mode; /* "served" or "exported" */
    enum lwp_source_policy source;
    const json_t *roots; /* as for lwp_source_collect */
    size_t bytes_max;   /* of the page: at least 1 MiB, at most LWP_PAGE_BYTES_MAX */
};

/* What a report page is given: {"view": "result", "name", "mode", "lwp", "analysis", "sources", "left_out", "shares"}. Leaves out of
 * `analysis` what would make the page too large. */
json_t *lwp_page_result_data(const char *name, json_t *analysis, const struct lwp_page_wish *wish);

/* What a page of two runs is given: that of `after`, with {"view": "diff", "diff", "sides"}: of each side's data as much as
 * its drawings take. NULL without memory. */
json_t *lwp_page_diff_data(const char *name, json_t *diff, const json_t *before, json_t *after, const struct lwp_page_wish *wish);

/* Of the data of one result, what its first view shows, in the same form with "partial": true. NULL where it is another page's. */
json_t *lwp_page_first(const json_t *data);

/* The file's title for a person: the command that was run, or `name`. */
const char *lwp_page_title(const char *name, const json_t *analysis);

/* The value as JSON without any '<', so that no text in it can open or close an element. */
int lwp_page_write_json(FILE *to, const json_t *value, struct lwp_error *err);

/* Written into every page; tells an exported file of ours from someone else's. */
#define LWP_PAGE_GENERATOR "<meta name=\"generator\" content=\"lwp "

/* Takes the lightest items' details out of `analysis` until its JSON has at most `most` bytes, or nothing is left that
 * may go: findings, what they refer to and, while there is room, names and shares stay. Ids stay valid; items without details
 * have "left_out".
 * Returns [{"what": objects|names|redundancies|locality|regions, "count", "share": none of them had more}], empty when all
 * is there; NULL when memory is out. */
json_t *lwp_trim(json_t *analysis, size_t most);

#endif
