/* "communication" of analysis.json where it was counted. */
#include "analysis/advice/threads/communication_advice.h"
#include "analysis/advice/threads/communication_pattern.h"
#include "analysis/json/json_parts.h"

static json_t *json_counts(const uint64_t *cells, size_t threads)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < threads; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < threads; k++)
            json_array_append_new(row, lwp_json_count(cells[i * threads + k]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *json_ratios(const double *cells, size_t threads)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < threads; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < threads; k++)
            json_array_append_new(row, lwp_json_share(cells[i * threads + k]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *json_distances(const struct lwp_communication_region *region)
{
    const struct lwp_distance_bucket *distances = region->distances.buckets;
    size_t count = region->distances.count;
    uint64_t all = 0;
    if (!count)
        return json_null();
    json_t *buckets = json_array();
    for (size_t i = 0; i < count; i++) {
        all += distances[i].count;
        json_array_append_new(buckets, json_pack("{s:o,s:o}", "up_to", lwp_json_count(distances[i].up_to), "count",
                                                 lwp_json_count(distances[i].count)));
    }
    bool cutoffs = region->max_cutoff > 0;
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "buckets", buckets, "count", lwp_json_count(all), "median",
                     lwp_json_count(lwp_distances_quantile(distances, count, 0.5)), "p90",
                     lwp_json_count(lwp_distances_quantile(distances, count, 0.9)), "element_bytes",
                     lwp_json_share(region->element_bytes), "min_cutoff",
                     cutoffs ? lwp_json_count((uint64_t)region->min_cutoff) : json_null(), "max_cutoff",
                     cutoffs ? lwp_json_count((uint64_t)region->max_cutoff) : json_null(), "above_min",
                     cutoffs ? lwp_json_share(lwp_distances_above(distances, count, region->min_cutoff)) : json_null(),
                     "above_max",
                     cutoffs ? lwp_json_share(lwp_distances_above(distances, count, region->max_cutoff)) : json_null());
}

static json_t *json_pieces(const struct lwp_communication_pieces *pieces)
{
    if (!pieces->count)
        return json_null();
    return json_pack("{s:o,s:o,s:o,s:I}", "count", lwp_json_count(pieces->count), "lines", lwp_json_count(pieces->lines), "bytes",
                     lwp_json_count(pieces->bytes), "step", (json_int_t)pieces->step);
}

/* Which threads are to run side by side: their places in "threads", by group. */
static json_t *json_placement(const struct lwp_communication_tip *tip, size_t threads)
{
    json_t *groups = json_array();
    for (size_t i = 0; i < threads; i++)
        while (json_array_size(groups) <= tip->group[i])
            json_array_append_new(groups, json_array());
    for (size_t i = 0; i < threads; i++)
        json_array_append_new(json_array_get(groups, tip->group[i]), json_integer((json_int_t)i));
    return json_pack("{s:o,s:o,s:o}", "groups", groups, "within", json_real(tip->within), "before", json_real(tip->before));
}

static json_t *json_region(struct lwp_json_tables *tables, const struct lwp_counted_communication *found, const struct lwp_communication_tips *tips,
                           const struct lwp_communication_region *region)
{
    static const char *const kinds[] = {"program", "runtime", "function", "parallel", "loop"};
    bool any = region->firsts > 0;
    json_t *list = json_array(), *placement = NULL;
    for (size_t i = 0; i < tips->count; i++) {
        const struct lwp_communication_tip *tip = &tips->tips[i];
        if (&found->regions[tip->region] != region)
            continue;
        json_array_append_new(list, lwp_json_text(tip->next_step));
        if (tip->group)
            placement = json_placement(tip, found->count);
    }
    return json_pack("{s:s,s:o,s:o,s:o,s:n,s:n,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o?}", "kind", kinds[region->kind], "name",
                     lwp_json_text(region->name), "loop", lwp_json_loop(tables, region->region), "true",
                     json_counts(region->first, found->count), "true_ci", "samples", "reuse",
                     json_counts(region->again, found->count), "crr", json_ratios(region->ratios, found->count), "communicated",
                     lwp_json_count(region->firsts), "reused", lwp_json_count(region->agains), "homogeneity",
                     any ? lwp_json_share(region->homogeneity) : json_null(), "balance_percent",
                     any ? lwp_json_share(region->balance) : json_null(), "crd", json_distances(region), "pieces", json_pieces(&region->pieces), "pattern",
                     lwp_json_text(lwp_communication_pattern(region->first, found->count)), "advice", list, "placement", placement);
}

json_t *lwp_json_exchange(struct lwp_json_tables *tables, const struct lwp_counted_communication *found, const struct lwp_communication_tips *tips)
{
    const struct lwps_flows *how = &tables->profile->flows.how;
    json_t *threads = json_array(), *regions = json_array();
    for (size_t i = 0; i < found->count; i++) {
        const struct lwp_communication_flow_party *thread = found->threads[i];
        json_array_append_new(threads, thread ? json_pack("{s:I,s:o}", "tid", (json_int_t)thread->tid, "name",
                                                          lwp_json_text(thread->name[0] ? thread->name : NULL))
                                              : json_pack("{s:n,s:s}", "tid", "name", "others"));
    }
    for (size_t i = 0; i < found->region_count; i++)
        json_array_append_new(regions, json_region(tables, found, tips, &found->regions[i]));
    return json_pack("{s:o,s:o,s:I,s:i,s:s,s:b,s:n,s:n,s:n,s:o,s:o,s:o}", "granularity_bytes", lwp_json_count(how->granule_bytes),
                     "threads", threads, "others", (json_int_t)found->others, "unwatched", 0, "unit", "count", "scaled",
                     how->thinned != 0, "watched", "decided", "read_by_others", "alone_bytes",
                     lwp_json_count(how->alone_bytes), "accesses", lwp_json_count(how->accesses), "regions", regions);
}
