/* "locality" of analysis.json. */
#include "analysis/json/json_parts.h"

#include "analysis/advice/locality/locality.h"

#include <math.h>

enum { ROWS_LISTED = 200 };

static const double row_listed = 0.001; /* of all accesses' cycles */

/* Counts by power of two: of 0, 1, 2-3, ... */
static json_t *json_powers(const uint64_t *counts, unsigned count)
{
    return LWP_JSON_LIST(i, count,
                         !counts[i] ? NULL
                                    : lwp_json_new("up_to", json_integer((json_int_t)(i ? ((uint64_t)1 << i) - 1 : 0)), "count",
                                                   json_integer((json_int_t)counts[i]), NULL));
}

static json_t *json_positive(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

static json_t *json_real_if(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

/* What one machine's caches made of the accesses. */
static json_t *json_found(const struct lwp_locality_found *found, const struct lwp_hierarchy_plan *plan)
{
    static const char *const names[LWP_CACHE_LEVELS] = {"L1", "L2", "L3"};
    json_t *factors = json_object();
    uint64_t accesses = found->at[LWP_CACHE_MEMORY];
    for (unsigned i = LWP_CACHE_LEVELS; i-- > 0; accesses += found->at[i])
        json_object_set_new(factors, names[i], i < plan->caches.levels ? json_positive(lwp_locality_reuse(found, i)) : json_null());
    return lwp_json_new("misses", lwp_json_misses(found, plan->caches.levels), "reuse_factor", factors, "cycles_per_access",
                        json_real(accesses ? (double)found->cycles / (double)accesses : 0), NULL);
}

/* MACPO 5.4. */
static json_t *json_core_conflicts(const struct lwp_locality_count *count)
{
    const double one = LWP_LOCALITY_TAKEN;
    return lwp_json_new("count", json_real(round((double)count->taken / one)), "range",
                        lwp_json_range(round((double)count->taken_least / one), round((double)count->taken_most / one)), "share",
                        lwp_json_share((double)count->taken / one / (double)count->accesses), NULL);
}

static json_t *json_row(struct lwp_json_tables *tables, const struct lwp_locality_row *row)
{
    const struct lwp_profile *profile = tables->profile;
    const struct lwp_locality_count *count = row->count;
    const struct lwp_hierarchy_plan *here = &profile->machines[LWP_MACHINE_HERE], *elsewhere = &profile->machines[LWP_MACHINE_ELSEWHERE];
    double line = (double)((uint64_t)1 << here->caches.line_shift), accesses = (double)count->accesses;
    json_t *distance = lwp_json_new("median", json_positive(lwp_locality_median(row)), "beyond",
                                    json_integer((json_int_t)count->distances[LWP_LOCALITY_BEYOND]), "buckets",
                                    json_powers(count->distances, LWP_LOCALITY_BEYOND), NULL);
    json_t *stride = lwp_json_new("dominant", json_real_if(row->stride_share > 0, (double)row->stride / line), "share",
                                  row->stride_share > 0 ? lwp_json_share(row->stride_share) : json_null(), "outer",
                                  json_real_if(row->outer_share > 0, (double)row->outer / line), "buckets",
                                  json_powers(count->lines, LWP_LOCALITY_STRIDES), NULL);
    json_t *json = lwp_json_new("object", lwp_json_object(tables, row->object), "loop", lwp_json_loop(tables, row->region), "share",
                                lwp_json_share(row->share), "accesses", json_integer((json_int_t)count->accesses), "stores",
                                json_integer((json_int_t)count->stores), "reuse_distance", distance, "stride_lines", stride, NULL);
    json_object_update_new(json, json_found(&count->found, here));
    json_object_update_new(json,
                           lwp_json_new("streams", json_real_if(row->streams > 0, row->streams), "numa_hit_ratio", json_positive(row->numa),
                                        "conflicts", lwp_json_share((double)count->conflicts / accesses), "restarted",
                                        lwp_json_share((double)count->restarted / accesses), "core_conflicts", json_core_conflicts(count),
                                        "elsewhere", elsewhere->caches.levels ? json_found(&count->elsewhere, elsewhere) : json_null(),
                                        "seen", json_null(), "pages", json_null(), NULL));
    return json;
}

/* ---- without a trace ---- */

static json_t *json_sampled_row(struct lwp_json_tables *tables, const struct lwp_sampled_row *row)
{
    static const char *const unknown[] = {"accesses",          "stores",         "reuse_distance", "misses",    "reuse_factor",
                                          "cycles_per_access", "numa_hit_ratio", "conflicts",      "restarted", "elsewhere",
                                          "core_conflicts"};
    double line = (double)tables->profile->machine.line_bytes;
    bool known = row->stride_share > 0 && line > 0;
    json_t *stride = lwp_json_new("dominant", json_real_if(known, (double)row->stride / line), "share",
                                  known ? lwp_json_share(row->stride_share) : json_null(), "outer",
                                  json_real_if(known && row->outer, (double)row->outer / line), "buckets", json_null(), NULL);
    json_t *json = lwp_json_new("object", lwp_json_object(tables, row->object), "loop", lwp_json_loop(tables, row->region), "share",
                                lwp_json_share(row->share), "seen", json_integer((json_int_t)row->seen), "stride_lines", stride, "streams",
                                row->streams ? json_integer(row->streams) : json_null(), "pages", lwp_json_known(row->pages), NULL);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        json_object_set_new(json, unknown[i], json_null());
    return json;
}

static json_t *json_sampled(struct lwp_json_tables *tables)
{
    const struct lwp_sampled_locality *found = &tables->answers->sampled;
    if (!found->count)
        return json_null();
    return LWP_JSON_LIST(i, found->count, json_sampled_row(tables, &found->rows[i]));
}

json_t *lwp_json_locality(struct lwp_json_tables *tables)
{
    const struct lwp_locality *found = &tables->answers->locality;
    if (!found->measured)
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
