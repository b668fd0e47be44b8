/* In: analysis.json. Out: one item for each finding, in its order. What is particular to a kind of finding is in
 * review_layout.c and review_access.c; this file knows what all have. */
#include "analysis/review_parts.h"

#include "analysis/review_rules.h"
#include "analysis/source_root.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/visible.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is longer is no name that a person reads: its middle goes. */
enum { NAME_MAX_SHOWN = 400, PATH_MAX_SHOWN = 4096, DECLARATION_MAX_SHOWN = 1 << 16 };

static void review_clean(const char *key, json_t *value)
{
    const char *inner;
    size_t i;
    json_t *child;
    if (json_is_string(value)) {
        bool declaration = strcmp(key, "declaration") == 0, path = strcmp(key, "file") == 0 || strcmp(key, "path") == 0;
        char *shown = lwp_visible(json_string_value(value), declaration,
                                  declaration ? DECLARATION_MAX_SHOWN : path ? PATH_MAX_SHOWN : NAME_MAX_SHOWN);
        if (shown && strcmp(shown, json_string_value(value)) != 0)
            json_string_set(value, shown);
        free(shown);
    }
    json_object_foreach(value, inner, child)
    {
        review_clean(inner, child);
    }
    json_array_foreach(value, i, child)
    {
        review_clean(key, child);
    }
}

void lwp_review_clean(json_t *root)
{
    review_clean("", root);
}

/* ---- shared by the kinds ---- */

void lwp_review_fact(struct lwp_review *review, struct lwp_review_item *item, const char *label, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    LWP_GROW(&item->facts, item->fact_count, &item->fact_room);
    item->facts[item->fact_count++] = (struct lwp_review_fact){label, lwp_arena_strdup(review->arena, length < 0 ? "?" : text)};
    if (length >= 0)
        free(text);
}

void lwp_review_row(struct lwp_review_item *item, double share, const char *place, const char *text)
{
    LWP_GROW(&item->rows, item->row_count, &item->row_room);
    item->rows[item->row_count++] = (struct lwp_review_row){share, place, text};
}

static unsigned review_line(const json_t *at, const char *key)
{
    double line = lwp_review_number(at, key);
    return line > 0 && line < INT_MAX ? (unsigned)line : 0;
}

static void review_place(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *at,
                         const char *first_key, const char *last_key)
{
    const char *file = lwp_review_text(at, "file", NULL);
    unsigned first = review_line(at, first_key), last = review_line(at, last_key);
    if (!file || !*file)
        return;
    file = lwp_source_relative(review->arena, review->source_root, file);
    for (size_t i = 0; i < item->place_count; i++)
        if (strcmp(item->places[i].file, file) == 0 && item->places[i].first == first)
            return;
    LWP_GROW(&item->places, item->place_count, &item->place_room);
    item->places[item->place_count++] = (struct lwp_review_place){
        role, lwp_review_text(at, "function", NULL), file, first, last > first ? last : first};
}

void lwp_review_add_loop(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *loop)
{
    review_place(review, item, role, loop, "first_line", "last_line");
}

void lwp_review_add_frame(struct lwp_review *review, struct lwp_review_item *item, const char *role, const json_t *frame)
{
    review_place(review, item, role, frame, "line", "line");
}

const char *lwp_review_function(const struct lwp_review *review, const json_t *frame)
{
    const char *function = lwp_review_text(frame, "function", NULL);
    const json_t *module = lwp_review_at(review, "modules", json_object_get(frame, "module"));
    const json_t *address = json_object_get(frame, "address");
    if (function)
        return function;
    if (!module || !json_is_integer(address))
        return "unknown code";
    return lwp_arena_printf(review->arena, "%s+%#llx", lwp_path_last(lwp_review_text(module, "path", "?")),
                            (unsigned long long)json_integer_value(address));
}

static const char *review_where(const struct lwp_review *review, const json_t *at, const char *first_key, const char *last_key)
{
    const char *file = lwp_path_last(lwp_review_text(at, "file", NULL)), *function = lwp_review_function(review, at);
    unsigned first = review_line(at, first_key), last = review_line(at, last_key);
    if (!file || !first)
        return function;
    if (last > first)
        return lwp_arena_printf(review->arena, "%s (%s:%u-%u)", function, file, first, last);
    return lwp_arena_printf(review->arena, "%s (%s:%u)", function, file, first);
}

const char *lwp_review_loop_text(const struct lwp_review *review, const json_t *loop)
{
    return review_where(review, loop, "first_line", "last_line");
}

const char *lwp_review_frame_text(const struct lwp_review *review, const json_t *frame)
{
    return review_where(review, frame, "line", "line");
}

const json_t *lwp_review_own_frame(const struct lwp_review *review, const json_t *context)
{
    const json_t *frames = json_object_get(lwp_review_at(review, "contexts", context), "frames"), *frame;
    size_t i;
    json_array_foreach(frames, i, frame)
    {
        const json_t *module = lwp_review_at(review, "modules", json_object_get(frame, "module"));
        const char *file = lwp_review_text(frame, "file", "");
        /* libraries of the system are built with relative paths, if they have any here */
        if (*file && !lwp_source_is_system(file) && !lwp_source_is_system(lwp_review_text(module, "path", "")))
            return frame;
    }
    return json_array_get(frames, 0);
}

const char *lwp_review_join(const struct lwp_review *review, const json_t *names)
{
    enum { COLUMNS = 60 };
    const char *joined = "";
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        const char *more = lwp_arena_printf(review->arena, "%s%s%s", joined, i ? ", " : "", json_string_value(name) ? json_string_value(name) : "?");
        if (i && lwp_visible_columns(more) > COLUMNS)
            return lwp_arena_printf(review->arena, "%s, ... (%zu in all)", joined, json_array_size(names));
        joined = more;
    }
    return joined;
}

const char *lwp_review_bytes(const struct lwp_review *review, double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    return lwp_arena_printf(review->arena, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

/* ---- texts for every format ---- */

const char *lwp_review_gain(const struct lwp_review *review, const struct lwp_review_item *item)
{
    if (item->low <= 0)
        return "not predicted";
    const char *low = lwp_arena_printf(review->arena, "%.2fx", item->low);
    const char *high = lwp_arena_printf(review->arena, "%.2fx", item->high);
    return strcmp(low, high) ? lwp_arena_printf(review->arena, "%s to %s", low, high) : low;
}

const char *lwp_review_share(const struct lwp_review *review, const struct lwp_review_item *item)
{
    const char *share = lwp_arena_printf(review->arena, "%.1f %% %s", 100 * item->share, item->share_of);
    if (item->exact || item->share_high <= 0)
        return share;
    return lwp_arena_printf(review->arena, "%s (%.1f-%.1f)", share, 100 * item->share_low, 100 * item->share_high);
}

const char *lwp_review_lines(const struct lwp_review *review, const struct lwp_review_place *place)
{
    if (place->first && place->last > place->first)
        return lwp_arena_printf(review->arena, "%s:%u-%u", place->file, place->first, place->last);
    return place->first ? lwp_arena_printf(review->arena, "%s:%u", place->file, place->first) : place->file;
}

/* ---- the list ---- */

/* The kind's own name within its kind: what stands before the hash in the finding's id. */
static const char *review_tip_rule(const char *id)
{
    static const char *const rules[][2] = {
        {"distance-", "communication-distance"}, {"pieces-", "communication-pieces"}, {"mapping-", "communication-mapping"},
        {"interchange-", "loop-interchange"},    {"fission-", "loop-fission"},        {"blocking-", "loop-blocking"},
        {"fusion-", "loop-fusion"},              {"pages-", "huge-pages"},            {"padding-", "padding"},
        {"touch-", "first-touch"}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strncmp(id, rules[i][0], strlen(rules[i][0])) == 0)
            return rules[i][1];
    return "other";
}

static const json_t *review_ref(const struct lwp_review *review, const json_t *finding, const char *key, const char *array)
{
    return lwp_review_at(review, array, json_object_get(json_object_get(finding, "refs"), key));
}

/* Committed to repositories and kept by code scanning services: another formula makes every finding a new one. */
static const char *review_fingerprint(struct lwp_arena *arena, const char *rule, const char *subject)
{
    return lwp_arena_printf(arena, "%016llx", (unsigned long long)lwp_hash_text(lwp_arena_printf(arena, "%s\n%s", rule, subject)));
}

static void review_item(struct lwp_review *review, const json_t *finding, struct lwp_review_item *item)
{
    const json_t *gain = json_object_get(finding, "expected_speedup"), *part;
    *item = (struct lwp_review_item){.id = lwp_review_text(finding, "id", "?"), .title = lwp_review_text(finding, "title", "?"),
                                     .next_step = lwp_review_text(finding, "next_step", ""), .kind = lwp_review_text(finding, "kind", ""),
                                     .severity = lwp_review_text(finding, "severity", "low"), .share = lwp_review_number(finding, "share"),
                                     .share_of = "of all time", .low = json_number_value(json_array_get(gain, 0)),
                                     .high = json_number_value(json_array_get(gain, 1)), .subject = "?"};
    item->rule = review_tip_rule(item->id);
    if ((part = review_ref(review, finding, "split", "splits")))
        lwp_review_split(review, item, part);
    else if ((part = review_ref(review, finding, "regroup", "regroups")))
        lwp_review_regroup(review, item, part);
    else if ((part = review_ref(review, finding, "redundancy", "redundancies")))
        lwp_review_redundancy(review, item, part);
    else if ((part = review_ref(review, finding, "sharing", "sharing")))
        lwp_review_sharing(review, item, part);
    else if ((part = review_ref(review, finding, "locality", "locality")))
        lwp_review_locality(review, item, part);
    else if ((part = json_object_get(json_object_get(finding, "refs"), "communication")))
        lwp_review_communication(review, item, json_array_get(json_object_get(json_object_get(review->root, "communication"), "regions"),
                                                              (size_t)json_integer_value(part)));
    item->rule = lwp_review_rule(item->rule)->id;
    item->part = lwp_review_number(finding, "share");
    item->part_low = item->exact || item->share <= 0 ? item->part : item->part * fmin(1, item->share_low / item->share);
    item->fingerprint = review_fingerprint(review->arena, item->rule, item->subject);
}

static void review_items(struct lwp_review *review)
{
    const json_t *findings = json_object_get(review->root, "findings"), *finding;
    size_t i;
    review->items = lwp_arena_alloc(review->arena, json_array_size(findings) + 1, sizeof *review->items);
    json_array_foreach(findings, i, finding)
    {
        struct lwp_review_item *item = &review->items[review->count];
        review_item(review, finding, item);
        item->ordinal = 1;
        for (size_t k = 0; k < review->count; k++)
            item->ordinal += strcmp(review->items[k].fingerprint, item->fingerprint) == 0;
        review->count++;
    }
}

struct lwp_review *lwp_review_new(json_t *root, const char *source_root, struct lwp_error *err)
{
    const char *schema = lwp_review_text(root, "schema", ""), *version = lwp_review_text(root, "version", "");
    if (strcmp(schema, "lwp-analysis") != 0) {
        lwp_error_set(err, LWP_ERR_FORMAT, "this is no analysis that lwp has written");
        return NULL;
    }
    if (strncmp(version, "1.", 2) != 0) {
        lwp_error_set(err, LWP_ERR_NEWER, "the analysis is of version %.20s; this lwp reads version 1", version);
        return NULL;
    }
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_review *review = lwp_arena_alloc(arena, 1, sizeof *review);
    lwp_review_clean(root);
    /* latencies do not say how much of the run they are */
    bool cycles = strcmp(lwp_review_text(json_object_get(root, "run"), "weight_unit", ""), "cycles") == 0;
    *review = (struct lwp_review){.root = root, .arena = arena, .gain_of = cycles ? "the time that accesses take" : "the whole program"};
    review->source_root = lwp_source_root(arena, root, source_root);
    review_items(review);
    return review;
}

void lwp_review_free(struct lwp_review *review)
{
    for (size_t i = 0; review && i < review->count; i++) {
        free(review->items[i].facts);
        free(review->items[i].rows);
        free(review->items[i].places);
    }
    if (review)
        lwp_arena_free(review->arena);
}
