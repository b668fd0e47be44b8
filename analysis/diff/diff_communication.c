/* How communication moves from one result to another, of a larger input or with more threads: of each region in both,
 * the amounts and the reuse distances; and where distances that grow on like this will be beyond the caches (Mazaheri
 * et al., ICPP 2018, section 4.2). Regions are matched by kind and name, so both results must be of one build. */
#include "analysis/diff/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double grows_least = 1.1;

static const json_t *region_alike(const json_t *regions, const json_t *wanted)
{
    const json_t *region;
    const char *name = lwp_json_string(wanted, "name"), *kind = lwp_json_string(wanted, "kind");
    size_t i;
    json_array_foreach(regions, i, region) {
        const char *its_name = lwp_json_string(region, "name"), *its_kind = lwp_json_string(region, "kind");
        if (name && kind && its_name && its_kind && strcmp(name, its_name) == 0 && strcmp(kind, its_kind) == 0)
            return region;
    }
    return NULL;
}

static json_t *region_side(const json_t *region)
{
    const json_t *crd = json_object_get(region, "crd");
    return json_pack("{s:o,s:o,s:o,s:o}", "communicated", lwp_json_measured(lwp_json_number(region, "communicated")), "reused",
                     lwp_json_measured(lwp_json_number(region, "reused")), "median", lwp_json_measured(lwp_json_number(crd, "median")),
                     "p90", lwp_json_measured(lwp_json_number(crd, "p90")));
}

double lwp_diff_steps(double before, double after, double cutoff, double *growth)
{
    *growth = before > 0 && after > 0 ? after / before : -1;
    if (*growth < grows_least || cutoff < 0)
        return -1;
    return after >= cutoff ? 0 : log(cutoff / after) / log(*growth);
}

/* Until nine tenths of the distances no longer fit. */
static double steps_left(const json_t *before, const json_t *after, double *growth)
{
    return lwp_diff_steps(lwp_json_number(json_object_get(before, "crd"), "p90"), lwp_json_number(json_object_get(after, "crd"), "p90"),
                          lwp_json_number(json_object_get(after, "crd"), "min_cutoff"), growth);
}

static int steps_compare(const void *a, const void *b)
{
    double x = lwp_json_number(*(json_t *const *)a, "steps_left"), y = lwp_json_number(*(json_t *const *)b, "steps_left");
    x = x < 0 ? INFINITY : x;
    y = y < 0 ? INFINITY : y;
    return (x > y) - (x < y);
}

json_t *lwp_diff_communication(const struct lwp_diff *diff)
{
    const json_t *before = json_object_get(diff->before.root, "communication"),
                 *after = json_object_get(diff->after.root, "communication");
    const json_t *old_regions = json_object_get(before, "regions"), *region;
    const char *unit = lwp_json_string(before, "unit"), *other = lwp_json_string(after, "unit");
    size_t i, count = 0, most = json_array_size(json_object_get(after, "regions"));
    if (!unit || !other || strcmp(unit, "count") || strcmp(other, "count"))
        return json_null();
    json_t **rows = calloc(most + 1, sizeof(json_t *)), *list = json_array();
    json_array_foreach(json_object_get(after, "regions"), i, region) {
        const json_t *old = region_alike(old_regions, region);
        double growth, steps = old ? steps_left(old, region, &growth) : -1;
        if (old && rows)
            rows[count++] = json_pack(
                "{s:o,s:o,s:o,s:o,s:o,s:o}", "name", lwp_json_text(lwp_json_string(region, "name")), "kind",
                lwp_json_text(lwp_json_string(region, "kind")), "before", region_side(old), "after",
                region_side(region), "growth", lwp_json_measured(growth), "steps_left", lwp_json_measured(steps));
    }
    if (count)
        qsort(rows, count, sizeof(json_t *), steps_compare);
    for (i = 0; i < count; i++)
        json_array_append_new(list, rows[i]);
    free(rows);
    return list;
}
