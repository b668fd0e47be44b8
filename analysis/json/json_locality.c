/* "locality" of analysis.json. */
#include "analysis/json/json_parts.h"

#include "analysis/advice/locality/locality_sampled.h"

enum { ROWS_LISTED = 200 };

static const double row_listed = 0.001; /* of all accesses' cycles */

/* Counts by power of two: of 0, 1, 2-3, ... */
static json_t *json_powers(const uint64_t *counts, unsigned count)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        if (counts[i])
            json_array_append_new(list, json_pack("{s:I,s:I}", "up_to", (json_int_t)(i ? ((uint64_t)1 << i) - 1 : 0), "count",
                                                  (json_int_t)counts[i]));
    return list;
}

static json_t *json_positive(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

static json_t *json_found(const struct lwp_locality_found *found, const struct lwp_hierarchy_plan *plan)
{
    static const char *const names[LWP_CACHE_LEVELS] = {"L1", "L2", "L3"};
    json_t *misses = json_object(), *factors = json_object();
    uint64_t missed = found->at[LWP_CACHE_MEMORY];
    for (unsigned i = LWP_CACHE_LEVELS; i-- > 0;) {
        bool has = i < plan->caches.levels;
        json_object_set_new(misses, names[i], has ? json_integer((json_int_t)missed) : json_null());
        json_object_set_new(factors, names[i], has ? json_positive(lwp_locality_reuse(found, i)) : json_null());
        missed += found->at[i];
    }
    return json_pack("{s:o,s:o,s:f}", "misses", misses, "reuse_factor", factors, "cycles_per_access",
                     missed ? (double)found->cycles / (double)missed : 0);
}

static json_t *json_row(struct lwp_json_tables *tables, const struct lwp_locality_row *row)
{
    const struct lwp_profile *profile = tables->profile;
    const struct lwp_locality_count *count = row->count;
    const struct lwp_hierarchy_plan *here = &profile->machines[LWP_MACHINE_HERE], *elsewhere = &profile->machines[LWP_MACHINE_ELSEWHERE];
    double line = (double)((uint64_t)1 << here->caches.line_shift), accesses = (double)count->accesses;
    json_t *json = json_pack("{s:o,s:o,s:o,s:I,s:I}", "object", lwp_json_object(tables, row->object), "loop",
                             lwp_json_loop(tables, row->region), "share", lwp_json_share(row->share), "accesses",
                             (json_int_t)count->accesses, "stores", (json_int_t)count->stores);
    json_object_set_new(json, "reuse_distance",
                        json_pack("{s:o,s:I,s:o}", "median", json_positive(lwp_locality_median(count)), "beyond",
                                  (json_int_t)count->distances[LWP_LOCALITY_BEYOND], "buckets",
                                  json_powers(count->distances, LWP_LOCALITY_BEYOND)));
    json_object_set_new(json, "stride_lines",
                        json_pack("{s:o,s:o,s:o,s:o}", "dominant", row->stride_share > 0 ? json_real((double)row->stride / line) : json_null(),
                                  "share", row->stride_share > 0 ? lwp_json_share(row->stride_share) : json_null(), "outer",
                                  row->outer_share > 0 ? json_real((double)row->outer / line) : json_null(), "buckets",
                                  json_powers(count->lines, LWP_LOCALITY_STRIDES)));
    json_t *found = json_found(&count->found, here);
    json_object_update_new(json, found);
    json_object_set_new(json, "streams", row->streams > 0 ? json_real(row->streams) : json_null());
    json_object_set_new(json, "numa_hit_ratio", json_positive(row->numa));
    json_object_set_new(json, "conflicts", lwp_json_share((double)count->conflicts / accesses));
    json_object_set_new(json, "restarted", lwp_json_share((double)count->restarted / accesses));
    json_object_set_new(json, "elsewhere", elsewhere->caches.levels ? json_found(&count->elsewhere, elsewhere) : json_null());
    json_object_set_new(json, "seen", json_null());
    json_object_set_new(json, "pages", json_null());
    return json;
}

/* ---- without a trace ---- */

static json_t *json_sampled_row(struct lwp_json_tables *tables, const struct lwp_sampled_row *row)
{
    static const char *const unknown[] = {"accesses", "stores", "reuse_distance", "misses", "reuse_factor", "cycles_per_access",
                                          "numa_hit_ratio", "conflicts", "restarted", "elsewhere"};
    double line = (double)tables->profile->machine.line_bytes;
    bool known = row->stride_share > 0 && line > 0;
    json_t *json = json_pack("{s:o,s:o,s:o,s:I}", "object", lwp_json_object(tables, row->object), "loop", lwp_json_loop(tables, row->region),
                             "share", lwp_json_share(row->share), "seen", (json_int_t)row->seen);
    json_object_set_new(json, "stride_lines",
                        json_pack("{s:o,s:o,s:n,s:n}", "dominant", known ? json_real((double)row->stride / line) : json_null(), "share",
                                  known ? lwp_json_share(row->stride_share) : json_null(), "outer", "buckets"));
    json_object_set_new(json, "streams", row->streams ? json_integer(row->streams) : json_null());
    json_object_set_new(json, "pages", row->pages ? json_integer((json_int_t)row->pages) : json_null());
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        json_object_set_new(json, unknown[i], json_null());
    return json;
}

static json_t *json_sampled(struct lwp_json_tables *tables)
{
    struct lwp_sampled_locality found;
    json_t *list = json_array();
    lwp_locality_sampled_find(tables->profile, &found);
    for (size_t i = 0; i < found.count; i++)
        json_array_append_new(list, json_sampled_row(tables, &found.rows[i]));
    if (found.count)
        return list;
    json_decref(list);
    return json_null();
}

json_t *lwp_json_locality(struct lwp_json_tables *tables, const struct lwp_locality *found)
{
    if (!found || !found->measured)
        return json_sampled(tables);
    json_t *list = json_array();
    double all = 0;
    for (size_t i = 0; i < found->count; i++)
        all += (double)found->rows[i].count->found.cycles;
    for (size_t i = 0; i < found->count && i < ROWS_LISTED; i++)
        if ((double)found->rows[i].count->found.cycles >= row_listed * all)
            json_array_append_new(list, json_row(tables, &found->rows[i]));
    return list;
}
