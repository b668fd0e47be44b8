/* What the first view shows: the findings, what they refer to, and the data with the most memory stall. The page has it before the
 * scripts, which draw it while the browser still reads the rest. In arrays of items, those that are not needed are null, so that
 * ids stay valid; of data that no new layout is advised for, only a row of a table is there, and of a call path its innermost frame. */
#include "web/page.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_OBJECTS = 10 }; /* rows of its table of data: templates/findings.js */

/* What an object's row of a table does not show. */
static const char *const first_details[] = {"fields", "loops", "common_context", "memory", "threads", "arrays"};

enum first_kind { FIRST_OBJECT, FIRST_LOOP, FIRST_CONTEXT, FIRST_REDUNDANCY, FIRST_LOCALITY, FIRST_KINDS };

static const char *const first_arrays[FIRST_KINDS] = {"objects", "loops", "contexts", "redundancies", "locality"};

/* Keys whose value is an id, or are ids. */
static const struct {
    const char *key;
    enum first_kind kind;
} first_ids[] = {{"object", FIRST_OBJECT},         {"objects", FIRST_OBJECT},   {"loop", FIRST_LOOP},
                 {"context", FIRST_CONTEXT},       {"first", FIRST_CONTEXT},    {"second", FIRST_CONTEXT},
                 {"redundancy", FIRST_REDUNDANCY}, {"locality", FIRST_LOCALITY}};

enum first_depth { FIRST_NONE, FIRST_ROW, FIRST_WHOLE };

struct first {
    const json_t *items[FIRST_KINDS];
    enum first_depth *kept[FIRST_KINDS];
};

static void first_follow(struct first *first, json_t *value, enum first_depth depth);

static void first_keep(struct first *first, enum first_kind kind, const json_t *id, enum first_depth depth)
{
    if (!json_is_integer(id) || json_integer_value(id) < 0 || (size_t)json_integer_value(id) >= json_array_size(first->items[kind]))
        return;
    size_t index = (size_t)json_integer_value(id);
    if (first->kept[kind][index] >= depth)
        return;
    first->kept[kind][index] = depth;
    json_t *item = json_array_get(first->items[kind], index);
    if (kind != FIRST_OBJECT || depth == FIRST_WHOLE)
        first_follow(first, item, depth);
    else
        first_keep(first, FIRST_CONTEXT, json_object_get(item, "context"), depth);
}

/* Keeps all that `value` refers to. */
static void first_follow(struct first *first, json_t *value, enum first_depth depth)
{
    const char *key;
    size_t i;
    json_t *child;
    json_object_foreach(value, key, child) {
        for (size_t k = 0; k < sizeof first_ids / sizeof *first_ids; k++) {
            if (strcmp(key, first_ids[k].key) != 0)
                continue;
            first_keep(first, first_ids[k].kind, child, depth);
            for (i = 0; i < json_array_size(child); i++)
                first_keep(first, first_ids[k].kind, json_array_get(child, i), depth);
        }
        first_follow(first, child, depth);
    }
    json_array_foreach(value, i, child) {
        first_follow(first, child, depth);
    }
}

/* The data with the most stall. */
static void first_keep_heaviest(struct first *first)
{
    const json_t *objects = first->items[FIRST_OBJECT];
    bool *taken = lwp_zeroed(json_array_size(objects), sizeof *taken);
    for (size_t row = 0; row < FIRST_OBJECTS && row < json_array_size(objects); row++) {
        size_t heaviest = SIZE_MAX;
        double most = -1;
        for (size_t i = 0; i < json_array_size(objects); i++) {
            double share = json_number_value(json_object_get(json_array_get(objects, i), "share"));
            if (!taken[i] && share > most) {
                heaviest = i;
                most = share;
            }
        }
        if (heaviest == SIZE_MAX)
            break;
        taken[heaviest] = true;
        json_t *id = json_integer((json_int_t)heaviest);
        first_keep(first, FIRST_OBJECT, id, FIRST_ROW);
        json_decref(id);
    }
    free(taken);
}

static json_t *first_item(enum first_kind kind, enum first_depth depth, json_t *item)
{
    if (kind == FIRST_CONTEXT) {
        json_t *innermost = json_array_get(json_object_get(item, "frames"), 0);
        return innermost ? json_pack("{s:[O]}", "frames", innermost) : json_pack("{s:[]}", "frames");
    }
    if (kind != FIRST_OBJECT || depth == FIRST_WHOLE)
        return json_incref(item);
    json_t *row = json_copy(item);
    for (size_t i = 0; i < sizeof first_details / sizeof *first_details; i++)
        json_object_del(row, first_details[i]);
    return row;
}

/* The items that are kept, null instead of the others, none behind the last one. */
static json_t *first_cut(const struct first *first, enum first_kind kind)
{
    const json_t *items = first->items[kind];
    const enum first_depth *kept = first->kept[kind];
    if (!json_is_array(items))
        return json_null();
    json_t *cut = json_array();
    size_t count = json_array_size(items);
    while (count > 0 && !kept[count - 1])
        count--;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(cut, kept[i] ? first_item(kind, kept[i], json_array_get(items, i)) : json_null());
    return cut;
}

/* The source files of the loops that are kept: the accesses in an advice's hottest loop are shown beside it. */
static json_t *first_sources(const struct first *first, json_t *sources)
{
    json_t *copy = json_copy(sources), *files = json_array(), *file;
    size_t i;
    json_array_foreach(json_object_get(sources, "files"), i, file) {
        const char *path = json_string_value(json_object_get(file, "path"));
        for (size_t k = 0; path && k < json_array_size(first->items[FIRST_LOOP]); k++) {
            const char *of = json_string_value(json_object_get(json_array_get(first->items[FIRST_LOOP], k), "file"));
            if (!first->kept[FIRST_LOOP][k] || !of || strcmp(of, path) != 0)
                continue;
            json_array_append(files, file);
            break;
        }
    }
    json_object_set_new(copy, "files", files);
    return copy;
}

json_t *lwp_page_first(const json_t *data)
{
    static const char *const advice[] = {"splits", "regroups"}, *const rows[] = {"findings", "conflicts", "sharing", "left_alone"};
    static const char *const later[] = {"stalls", "arrays", "kept_apart"};
    json_t *analysis = json_object_get(data, "analysis"), *communication = json_object_get(analysis, "communication");
    const char *view = json_string_value(json_object_get(data, "view"));
    if (!view || (strcmp(view, "result") != 0 && strcmp(view, "diff") != 0) || !json_is_object(analysis))
        return NULL;
    struct first first = {0};
    for (size_t kind = 0; kind < FIRST_KINDS; kind++) {
        first.items[kind] = json_object_get(analysis, first_arrays[kind]);
        first.kept[kind] = lwp_zeroed(json_array_size(first.items[kind]), sizeof **first.kept);
    }
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        first_follow(&first, json_object_get(analysis, advice[i]), FIRST_WHOLE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        first_follow(&first, json_object_get(analysis, rows[i]), FIRST_ROW);
    first_keep_heaviest(&first);
    json_t *copy = json_copy((json_t *)(uintptr_t)data), *part = json_copy(analysis);
    for (size_t kind = 0; kind < FIRST_KINDS; kind++)
        json_object_set_new(part, first_arrays[kind], first_cut(&first, kind));
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        json_object_del(part, later[i]);
    if (json_is_object(communication)) {
        communication = json_copy(communication);
        json_object_del(communication, "regions");
        json_object_set_new(part, "communication", communication);
    }
    json_object_set_new(copy, "sources", first_sources(&first, json_object_get(data, "sources")));
    json_object_set_new(copy, "analysis", part);
    json_object_set_new(copy, "partial", json_true());
    for (size_t kind = 0; kind < FIRST_KINDS; kind++)
        free(first.kept[kind]);
    return copy;
}
