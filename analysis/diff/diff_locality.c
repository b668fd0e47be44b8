/* How reuse distances move from one result to another, of a larger input or with more threads: of each structure in each loop in
 * both, by traces; and where distances that grow on like this will be beyond the caches. Structures and loops are matched by name,
 * the largest of those that have one. */
#include "analysis/diff/diff_internal.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 20 };

static const char *row_name(const json_t *root, const json_t *row, const char *list, const char *which, const char *key)
{
    const json_t *id = json_object_get(row, which);
    return json_is_integer(id) && json_integer_value(id) >= 0
               ? lwp_json_string(json_array_get(json_object_get(root, list), (size_t)json_integer_value(id)), key) : NULL;
}

static const char *row_object(const json_t *root, const json_t *row)
{
    return row_name(root, row, "objects", "object", "name");
}

static const char *row_function(const json_t *root, const json_t *row)
{
    return row_name(root, row, "loops", "loop", "function");
}

/* NULL: there is none. */
static const json_t *row_alike(const json_t *root, const char *object, const char *function)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(root, "locality"), i, row)
    {
        const char *its_object = row_object(root, row), *its_function = row_function(root, row);
        if (its_object && its_function && strcmp(its_object, object) == 0 && strcmp(its_function, function) == 0)
            return row;
    }
    return NULL;
}

static json_t *row_side(const json_t *row)
{
    double accesses = lwp_json_number(row, "accesses"), missed = lwp_json_number(json_object_get(row, "misses"), "L1");
    return json_pack("{s:o,s:o,s:o}", "accesses", lwp_json_measured(accesses), "median",
                     lwp_json_measured(lwp_json_number(json_object_get(row, "reuse_distance"), "median")), "missing",
                     lwp_json_measured(accesses > 0 && missed >= 0 ? missed / accesses : -1));
}

/* Lines that the largest cache holds; negative: not known. */
static double cache_lines(const json_t *root)
{
    const json_t *machine = json_object_get(json_object_get(root, "run"), "machine"), *cache;
    double line = lwp_json_number(machine, "line_bytes"), most = -1;
    size_t i;
    json_array_foreach(json_object_get(machine, "caches"), i, cache)
        most = lwp_json_number(cache, "bytes") > most ? lwp_json_number(cache, "bytes") : most;
    return line > 0 && most > 0 ? most / line : -1;
}

static bool is_traced(const json_t *root)
{
    return lwp_json_number(json_array_get(json_object_get(root, "locality"), 0), "accesses") >= 0;
}

json_t *lwp_diff_locality(const struct lwp_diff *diff)
{
    const json_t *before = diff->before.root, *after = diff->after.root, *row;
    json_t *list = json_array();
    size_t i;
    if (!is_traced(before) || !is_traced(after)) {
        json_decref(list);
        return json_null();
    }
    json_array_foreach(json_object_get(after, "locality"), i, row)
    {
        const char *object = row_object(after, row), *function = row_function(after, row);
        const json_t *old = object && function ? row_alike(before, object, function) : NULL;
        if (!old || row_alike(after, object, function) != row || json_array_size(list) == ROWS_MOST)
            continue;
        double growth, steps = lwp_diff_steps(lwp_json_number(json_object_get(old, "reuse_distance"), "median"),
                                              lwp_json_number(json_object_get(row, "reuse_distance"), "median"), cache_lines(after), &growth);
        json_array_append_new(list, json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "object", lwp_json_text(object), "function", lwp_json_text(function),
                                              "before", row_side(old), "after", row_side(row), "growth", lwp_json_measured(growth),
                                              "steps_left", lwp_json_measured(steps)));
    }
    return list;
}
