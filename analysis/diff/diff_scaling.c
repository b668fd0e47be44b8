/* How communication and reuse distances move from one result to another, of a larger input or with more threads: of each
 * region in both, and of each structure in each loop in both; and where distances that go on growing like this will be
 * beyond the caches (Mazaheri et al., ICPP 2018, section 4.2). Regions are matched by kind and name, structures and loops by
 * name, the largest of those that have one, so both results must be of one build. */
#include "analysis/diff/diff_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 20 };

static const double grows_least = 1.1;

/* How many more such steps from one distance to the other until it is above the cutoff; -1: it does not grow, or something
 * is not known (negative). `growth`: the factor, -1: not known. */
static double scaling_steps(double before, double after, double cutoff, double *growth)
{
    *growth = before > 0 && after > 0 ? after / before : -1;
    if (*growth < grows_least || cutoff < 0)
        return -1;
    return after >= cutoff ? 0 : log(cutoff / after) / log(*growth);
}

/* ---- communication ---- */

static const json_t *region_alike(const json_t *regions, const json_t *wanted)
{
    const json_t *region;
    const char *name = lwp_json_string(wanted, "name"), *kind = lwp_json_string(wanted, "kind");
    size_t i;
    json_array_foreach(regions, i, region)
        if (name && kind && json_is_string(json_object_get(region, "name")) && json_is_string(json_object_get(region, "kind")) &&
            lwp_json_is(region, "name", name) && lwp_json_is(region, "kind", kind))
            return region;
    return NULL;
}

static json_t *region_json(const json_t *region)
{
    const json_t *crd = json_object_get(region, "crd");
    return lwp_json_new("communicated", lwp_json_measured(lwp_json_number(region, "communicated")), "reused",
                        lwp_json_measured(lwp_json_number(region, "reused")), "median", lwp_json_measured(lwp_json_number(crd, "median")),
                        "p90", lwp_json_measured(lwp_json_number(crd, "p90")), NULL);
}

static int region_compare(const void *a, const void *b)
{
    double x = lwp_json_number(*(json_t *const *)a, "steps_left"), y = lwp_json_number(*(json_t *const *)b, "steps_left");
    x = x < 0 ? INFINITY : x;
    y = y < 0 ? INFINITY : y;
    return (x > y) - (x < y);
}

json_t *lwp_diff_communication(const struct lwp_diff *diff)
{
    const json_t *before = json_object_get(diff->before.root, "communication"), *after = json_object_get(diff->after.root, "communication");
    const json_t *old_regions = json_object_get(before, "regions"), *regions = json_object_get(after, "regions"), *region;
    size_t i, count = 0;
    if (!lwp_json_is(before, "unit", "count") || !lwp_json_is(after, "unit", "count"))
        return json_null();
    json_t **rows = lwp_arena_alloc(diff->arena, json_array_size(regions) + 1, sizeof(json_t *)), *list = json_array();
    json_array_foreach(regions, i, region) {
        const json_t *old = region_alike(old_regions, region), *crd = json_object_get(region, "crd");
        if (!old)
            continue;
        double growth, steps = scaling_steps(lwp_json_number(json_object_get(old, "crd"), "p90"), lwp_json_number(crd, "p90"),
                                             lwp_json_number(crd, "min_cutoff"), &growth); /* until nine tenths of them do not fit */
        rows[count++] =
            lwp_json_new("name", lwp_json_text(lwp_json_string(region, "name")), "kind", lwp_json_text(lwp_json_string(region, "kind")),
                         "before", region_json(old), "after", region_json(region), "growth", lwp_json_measured(growth), "steps_left",
                         lwp_json_measured(steps), NULL);
    }
    if (count)
        qsort(rows, count, sizeof(json_t *), region_compare);
    for (i = 0; i < count; i++)
        json_array_append_new(list, rows[i]);
    return list;
}

/* ---- locality ---- */

static const char *row_object(const json_t *root, const json_t *row)
{
    return lwp_json_string(lwp_json_entry(root, "objects", row, "object"), "name");
}

static const char *row_function(const json_t *root, const json_t *row)
{
    return lwp_json_string(lwp_json_entry(root, "loops", row, "loop"), "function");
}

/* NULL: there is none. */
static const json_t *row_alike(const json_t *root, const char *object, const char *function)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(root, "locality"), i, row) {
        const char *its_object = row_object(root, row), *its_function = row_function(root, row);
        if (its_object && its_function && strcmp(its_object, object) == 0 && strcmp(its_function, function) == 0)
            return row;
    }
    return NULL;
}

static json_t *row_json(const json_t *row)
{
    double accesses = lwp_json_number(row, "accesses"), missed = lwp_json_number(json_object_get(row, "misses"), "L1");
    return lwp_json_new("accesses", lwp_json_measured(accesses), "median",
                        lwp_json_measured(lwp_json_number(json_object_get(row, "reuse_distance"), "median")), "missing",
                        lwp_json_measured(accesses > 0 && missed >= 0 ? missed / accesses : -1), NULL);
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
    size_t i;
    if (!is_traced(before) || !is_traced(after))
        return json_null();
    json_t *list = json_array();
    json_array_foreach(json_object_get(after, "locality"), i, row) {
        const char *object = row_object(after, row), *function = row_function(after, row);
        const json_t *old = object && function ? row_alike(before, object, function) : NULL;
        if (!old || row_alike(after, object, function) != row || json_array_size(list) == ROWS_MOST)
            continue;
        double growth,
            steps = scaling_steps(lwp_json_number(json_object_get(old, "reuse_distance"), "median"),
                                  lwp_json_number(json_object_get(row, "reuse_distance"), "median"), cache_lines(after), &growth);
        json_array_append_new(list, lwp_json_new("object", lwp_json_text(object), "function", lwp_json_text(function), "before",
                                                 row_json(old), "after", row_json(row), "growth", lwp_json_measured(growth), "steps_left",
                                                 lwp_json_measured(steps), NULL));
    }
    return list;
}
