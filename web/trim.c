/* Makes a result smaller. Objects keep their name and share but lose fields, loops and calling contexts; redundant pairs and
 * rows of locality are removed; regions keep their numbers but lose their matrices, whose ratios the page can compute. Each
 * round removes the lighter half, until the rest fits. If the names alone are too much, the last objects that nothing
 * refers to are removed. */
#include "web/page.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIM_ITEMS_FIRST = 2000, /* of each kind, kept in the first round */
    TRIM_ROUNDS = 8,
    TRIM_ROUNDS_NAMED = 5, /* after so many, objects without details lose all but their names, */
    TRIM_ROUNDS_NAMELESS = 7,  /* and after so many the names */
    TRIM_CELLS_PER_ITEM = 250, /* of matrices, for each item that a round keeps */
};

struct trim_item {
    double weight;
    size_t index;
};

static int trim_by_weight(const void *a, const void *b)
{
    const struct trim_item *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight)
                                  : (x->index > y->index) - (x->index < y->index);
}

static double trim_number(const json_t *item, const char *key)
{
    return json_number_value(json_object_get(item, key));
}

/* The items, heaviest first; *count of them. The caller frees it. */
static struct trim_item *trim_rank(const json_t *items, const char *weight, size_t *count)
{
    size_t i;
    const json_t *item;
    *count = json_array_size(items);
    struct trim_item *ranks = lwp_zeroed(*count, sizeof *ranks);
    json_array_foreach(items, i, item)
    {
        ranks[i] = (struct trim_item){trim_number(item, weight), i};
    }
    qsort(ranks, *count, sizeof *ranks, trim_by_weight);
    return ranks;
}

/* What was left out so far, by name. */
static void trim_count(json_t *omitted, const char *what, double share)
{
    size_t i;
    json_t *one;
    json_array_foreach(omitted, i, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "what")), what) != 0)
            continue;
        json_object_set_new(one, "count", json_integer(json_integer_value(json_object_get(one, "count")) + 1));
        if (share > trim_number(one, "share"))
            json_object_set_new(one, "share", json_real(share));
        return;
    }
    json_array_append_new(omitted, json_pack("{s:s, s:i, s:f}", "what", what, "count", 1, "share", share));
}

static void trim_mark(bool *marked, size_t count, const json_t *id)
{
    if (json_is_integer(id) && json_integer_value(id) >= 0 && (size_t)json_integer_value(id) < count)
        marked[json_integer_value(id)] = true;
}

/* Objects that some advice is about. */
static void trim_mark_advised(const json_t *analysis, bool *marked, size_t count)
{
    static const char *const parts[] = {"splits", "regroups"};
    size_t i, k;
    const json_t *advice, *id;
    for (size_t part = 0; part < 2; part++)
        json_array_foreach(json_object_get(analysis, parts[part]), i, advice)
        {
            trim_mark(marked, count, json_object_get(advice, "object"));
            json_array_foreach(json_object_get(advice, "objects"), k, id)
            {
                trim_mark(marked, count, id);
            }
        }
}

static void trim_objects(json_t *analysis, size_t keep, json_t *omitted)
{
    static const char *const details[] = {"fields", "loops", "context", "common_context", "site", "memory", "threads"};
    json_t *objects = json_object_get(analysis, "objects");
    size_t count;
    struct trim_item *ranks = trim_rank(objects, "share", &count);
    bool *advised = lwp_zeroed(count, sizeof *advised);
    trim_mark_advised(analysis, advised, count);
    for (size_t i = keep; i < count; i++) {
        json_t *object = json_array_get(objects, ranks[i].index);
        if (advised[ranks[i].index] || json_object_get(object, "left_out"))
            continue;
        for (size_t k = 0; k < sizeof details / sizeof *details; k++)
            json_object_del(object, details[k]);
        json_object_set_new(object, "left_out", json_true());
        trim_count(omitted, "objects", ranks[i].weight);
    }
    free(advised);
    free(ranks);
}

/* Objects that something in `value` refers to. */
static void trim_mark_spoken_of(const json_t *value, bool *marked, size_t count)
{
    const char *key;
    size_t i;
    json_t *child;
    json_object_foreach((json_t *)(uintptr_t)value, key, child)
    {
        if (strcmp(key, "object") == 0)
            trim_mark(marked, count, child);
        else
            trim_mark_spoken_of(child, marked, count);
        if (strcmp(key, "objects") == 0)
            for (size_t k = 0; k < json_array_size(child); k++)
                trim_mark(marked, count, json_array_get(child, k));
    }
    json_array_foreach(value, i, child)
    {
        trim_mark_spoken_of(child, marked, count);
    }
}

static void trim_last_objects(json_t *analysis, size_t keep, json_t *omitted)
{
    json_t *objects = json_object_get(analysis, "objects");
    size_t count = json_array_size(objects);
    bool *spoken_of = lwp_zeroed(count, sizeof *spoken_of);
    trim_mark_spoken_of(analysis, spoken_of, count);
    for (size_t i = count; i > 4 * keep && !spoken_of[i - 1] && json_object_get(json_array_get(objects, i - 1), "left_out"); i--) {
        trim_count(omitted, "names", trim_number(json_array_get(objects, i - 1), "share"));
        json_array_remove(objects, i - 1);
    }
    free(spoken_of);
}

static void trim_to_names(json_t *analysis)
{
    static const char *const names[] = {"name", "kind", "type", "share", "samples", "left_out"};
    json_t *object, *objects = json_object_get(analysis, "objects");
    size_t i;
    json_array_foreach(objects, i, object)
    {
        json_t *bare = json_object();
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            json_object_set(bare, names[k], json_object_get(object, names[k]));
        if (json_object_get(object, "left_out"))
            json_array_set(objects, i, bare);
        json_decref(bare);
    }
}

/* Takes items out of a list and gives findings' references to it the new numbers. */
static void trim_list(json_t *analysis, const char *list, const char *reference, size_t keep, json_t *omitted)
{
    json_t *items = json_object_get(analysis, list), *kept = json_array(), *finding;
    size_t count, i;
    struct trim_item *ranks = trim_rank(items, "share", &count);
    bool *stays = lwp_zeroed(count, sizeof *stays);
    json_int_t *number = lwp_zeroed(count, sizeof *number);
    if (count > keep) {
        json_array_foreach(json_object_get(analysis, "findings"), i, finding)
        {
            trim_mark(stays, count, json_object_get(json_object_get(finding, "refs"), reference));
        }
        for (i = 0; i < count; i++)
            if (i < keep)
                stays[ranks[i].index] = true;
            else if (!stays[ranks[i].index])
                trim_count(omitted, list, ranks[i].weight);
        for (i = 0; i < count; i++)
            if (stays[i]) {
                number[i] = (json_int_t)json_array_size(kept);
                json_array_append(kept, json_array_get(items, i));
            }
        json_array_foreach(json_object_get(analysis, "findings"), i, finding)
        {
            json_t *refs = json_object_get(finding, "refs"), *id = json_object_get(refs, reference);
            if (json_is_integer(id) && json_integer_value(id) >= 0 && (size_t)json_integer_value(id) < count)
                json_object_set_new(refs, reference, json_integer(number[json_integer_value(id)]));
        }
        json_object_set(analysis, list, kept);
    }
    json_decref(kept);
    free(number);
    free(stays);
    free(ranks);
}

static void trim_matrices(json_t *analysis, size_t cells, json_t *omitted)
{
    json_t *communication = json_object_get(analysis, "communication"), *regions = json_object_get(communication, "regions");
    double all = trim_number(json_array_get(regions, 0), "communicated"); /* the first is the whole program */
    size_t count, used = 0;
    struct trim_item *ranks = trim_rank(regions, "communicated", &count);
    for (size_t i = 0; i < count; i++) {
        json_t *region = json_array_get(regions, ranks[i].index), *rows = json_object_get(region, "true");
        size_t side = json_array_size(rows);
        if (json_is_array(json_object_get(region, "reuse")))
            json_object_del(region, "crr");
        used += 2 * side * side;
        if (used <= cells || i == 0 || !side)
            continue;
        json_object_set_new(region, "true", json_null());
        json_object_set_new(region, "reuse", json_null());
        json_object_set_new(region, "left_out", json_true());
        trim_count(omitted, "regions", all > 0 ? ranks[i].weight / all : 0);
    }
    free(ranks);
}

static void trim_mark_pair(const json_t *pair, bool *used, size_t count)
{
    trim_mark(used, count, json_object_get(pair, "first"));
    trim_mark(used, count, json_object_get(pair, "second"));
}

/* Call paths that nothing names any more. */
static void trim_contexts(json_t *analysis)
{
    json_t *contexts = json_object_get(analysis, "contexts"), *item, *other;
    size_t count = json_array_size(contexts), i, k;
    bool *used = lwp_zeroed(count, sizeof *used);
    json_array_foreach(json_object_get(analysis, "objects"), i, item)
    {
        trim_mark(used, count, json_object_get(item, "context"));
        trim_mark(used, count, json_object_get(item, "common_context"));
    }
    json_array_foreach(json_object_get(analysis, "redundancies"), i, item)
    {
        trim_mark_pair(item, used, count);
        json_array_foreach(json_object_get(item, "others"), k, other)
        {
            trim_mark_pair(other, used, count);
        }
    }
    json_array_foreach(json_object_get(analysis, "sharing"), i, item)
    {
        json_array_foreach(json_object_get(item, "sites"), k, other)
        {
            trim_mark(used, count, json_object_get(other, "context"));
        }
    }
    for (i = 0; i < count; i++)
        if (!used[i])
            json_array_set_new(contexts, i, json_pack("{s:[]}", "frames"));
    free(used);
}

/* Ends the dump when there is no room left. */
static int trim_room(const char *text, size_t bytes, void *room)
{
    size_t *left = room;
    (void)text;
    if (bytes > *left)
        return -1;
    *left -= bytes;
    return 0;
}

json_t *lwp_trim(json_t *analysis, size_t most)
{
    json_t *omitted = json_array();
    size_t keep = TRIM_ITEMS_FIRST;
    for (int round = 0; omitted && round <= TRIM_ROUNDS; round++, keep /= 2) {
        size_t room = most;
        if (json_dump_callback(analysis, trim_room, &room, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0)
            break;
        trim_matrices(analysis, keep * TRIM_CELLS_PER_ITEM, omitted);
        trim_objects(analysis, keep, omitted);
        trim_list(analysis, "redundancies", "redundancy", keep, omitted);
        trim_list(analysis, "locality", "locality", keep, omitted);
        trim_contexts(analysis);
        if (round >= TRIM_ROUNDS_NAMED)
            trim_to_names(analysis);
        if (round >= TRIM_ROUNDS_NAMELESS)
            trim_last_objects(analysis, keep, omitted);
    }
    return omitted;
}
