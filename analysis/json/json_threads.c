/* "communication" and "sharing" of analysis.json. Communication was counted, or estimated from watched samples. */
#include "analysis/advice/threads/communication_pattern.h"
#include "analysis/json/json_parts.h"

#include <math.h>

/* Rows of one column each for every thread. `cell` makes the one at an index. */
static json_t *json_matrix(size_t threads, const void *cells, json_t *(*cell)(const void *cells, size_t index))
{
    json_t *rows = json_array();
    for (size_t i = 0; i < threads; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < threads; k++)
            json_array_append_new(row, cell(cells, i * threads + k));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *json_thread(uint32_t tid, const char *name)
{
    return json_pack("{s:I,s:o}", "tid", (json_int_t)tid, "name", lwp_json_text(*name ? name : NULL));
}

/* All threads that have no row of their own. */
static json_t *json_other_threads(void)
{
    return json_pack("{s:n,s:s}", "tid", "name", "others");
}

/* ---- communication from samples ---- */

static json_t *json_cell_share(const void *cells, size_t index)
{
    return lwp_json_share(((const struct lwp_communication_cell *)cells)[index].share.value);
}

static json_t *json_cell_interval(const void *cells, size_t index)
{
    return lwp_json_interval(&((const struct lwp_communication_cell *)cells)[index].share);
}

static json_t *json_cell_samples(const void *cells, size_t index)
{
    return json_integer((json_int_t)((const struct lwp_communication_cell *)cells)[index].samples);
}

static json_t *json_sampled(const struct lwp_sampled_communication *found)
{
    if (!found->measured)
        return json_null();
    json_t *threads = json_array();
    for (size_t i = 0; i < found->count; i++)
        json_array_append_new(threads, found->threads[i] ? json_thread(found->threads[i]->tid, found->threads[i]->name) : json_other_threads());
    json_t *region = json_pack("{s:s,s:n,s:o,s:o,s:o,s:n,s:n,s:n,s:n,s:n,s:[]}", "name", "whole program", "loop", "true",
                               json_matrix(found->count, found->cells, json_cell_share), "true_ci",
                               json_matrix(found->count, found->cells, json_cell_interval), "samples",
                               json_matrix(found->count, found->cells, json_cell_samples), "reuse", "crr", "homogeneity",
                               "balance_percent", "crd", "advice");
    return json_pack("{s:i,s:o,s:I,s:I,s:s,s:b,s:I,s:I,s:o,s:[o]}", "granularity_bytes", 8, "threads", threads, "others",
                     (json_int_t)found->others, "unwatched", (json_int_t)found->unwatched, "unit", "share", "scaled", 1, "watched",
                     (json_int_t)found->trials, "decided", (json_int_t)found->decided, "read_by_others",
                     lwp_json_share(fmin(1, found->read)), "regions", region);
}

/* ---- counted communication ---- */

static json_t *json_cell_count(const void *cells, size_t index)
{
    return lwp_json_count(((const uint64_t *)cells)[index]);
}

static json_t *json_cell_ratio(const void *cells, size_t index)
{
    return lwp_json_share(((const double *)cells)[index]);
}

static json_t *json_distances(const struct lwp_communication_region *region)
{
    const struct lwp_distance_bucket *distances = region->distances.buckets;
    size_t count = region->distances.count;
    uint64_t all = 0;
    bool cutoffs = region->max_cutoff > 0;
    if (!count)
        return json_null();
    json_t *buckets = json_array();
    for (size_t i = 0; i < count; i++) {
        all += distances[i].count;
        json_array_append_new(buckets, lwp_json_new("up_to", lwp_json_count(distances[i].up_to), "count", lwp_json_count(distances[i].count), NULL));
    }
    return lwp_json_new("buckets", buckets, "count", lwp_json_count(all), "median", lwp_json_count(lwp_distances_quantile(distances, count, 0.5)),
                        "p90", lwp_json_count(lwp_distances_quantile(distances, count, 0.9)), "element_bytes",
                        lwp_json_share(region->element_bytes), "min_cutoff",
                        cutoffs ? lwp_json_count((uint64_t)region->min_cutoff) : json_null(), "max_cutoff",
                        cutoffs ? lwp_json_count((uint64_t)region->max_cutoff) : json_null(), "above_min",
                        cutoffs ? lwp_json_share(lwp_distances_above(distances, count, region->min_cutoff)) : json_null(), "above_max",
                        cutoffs ? lwp_json_share(lwp_distances_above(distances, count, region->max_cutoff)) : json_null(), NULL);
}

static json_t *json_pieces(const struct lwp_communication_pieces *pieces)
{
    if (!pieces->count)
        return json_null();
    return lwp_json_new("count", lwp_json_count(pieces->count), "lines", lwp_json_count(pieces->lines), "bytes", lwp_json_count(pieces->bytes),
                        "step", json_integer(pieces->step), NULL);
}

/* Which threads should run side by side: their indices in "threads", by group. */
static json_t *json_placement(const struct lwp_communication_tip *tip, size_t threads)
{
    json_t *groups = json_array();
    for (size_t i = 0; i < threads; i++)
        while (json_array_size(groups) <= tip->group[i])
            json_array_append_new(groups, json_array());
    for (size_t i = 0; i < threads; i++)
        json_array_append_new(json_array_get(groups, tip->group[i]), json_integer((json_int_t)i));
    return lwp_json_new("groups", groups, "within", json_real(tip->within), "before", json_real(tip->before), NULL);
}

static json_t *json_region(struct lwp_json_tables *tables, const struct lwp_communication_region *region)
{
    static const char *const kinds[] = {"program", "runtime", "function", "parallel", "loop"};
    const struct lwp_counted_communication *found = &tables->answers->threads.exchange;
    const struct lwp_communication_tips *tips = &tables->answers->threads.tips;
    bool any = region->firsts > 0;
    json_t *advice = json_array(), *placement = NULL;
    for (size_t i = 0; i < tips->count; i++) {
        const struct lwp_communication_tip *tip = &tips->tips[i];
        if (&found->regions[tip->region] != region)
            continue;
        json_array_append_new(advice, lwp_json_text(tip->next_step));
        if (tip->group)
            placement = json_placement(tip, found->count);
    }
    return lwp_json_new("kind", json_string(kinds[region->kind]), "name", lwp_json_text(region->name), "loop", lwp_json_loop(tables, region->region),
                        "true", json_matrix(found->count, region->first, json_cell_count), "true_ci", json_null(), "samples", json_null(),
                        "reuse", json_matrix(found->count, region->again, json_cell_count), "crr",
                        json_matrix(found->count, region->ratios, json_cell_ratio), "communicated", lwp_json_count(region->firsts), "reused",
                        lwp_json_count(region->agains), "homogeneity", any ? lwp_json_share(region->homogeneity) : json_null(),
                        "balance_percent", any ? lwp_json_share(region->balance) : json_null(), "crd", json_distances(region), "pieces",
                        json_pieces(&region->pieces), "pattern", lwp_json_text(lwp_communication_pattern(region->first, found->count)),
                        "advice", advice, "placement", placement, NULL);
}

json_t *lwp_json_communication(struct lwp_json_tables *tables)
{
    const struct lwp_counted_communication *found = &tables->answers->threads.exchange;
    const struct lwps_flows *how = &tables->profile->flows.how;
    if (!found->measured)
        return json_sampled(&tables->answers->threads.communication);
    json_t *threads = json_array(), *regions = json_array();
    for (size_t i = 0; i < found->count; i++)
        json_array_append_new(threads, found->threads[i] ? json_thread(found->threads[i]->tid, found->threads[i]->name) : json_other_threads());
    for (size_t i = 0; i < found->region_count; i++)
        json_array_append_new(regions, json_region(tables, &found->regions[i]));
    return json_pack("{s:o,s:o,s:I,s:i,s:s,s:b,s:n,s:n,s:n,s:o,s:o,s:o}", "granularity_bytes", lwp_json_count(how->granule_bytes),
                     "threads", threads, "others", (json_int_t)found->others, "unwatched", 0, "unit", "count", "scaled",
                     how->thinned != 0, "watched", "decided", "read_by_others", "alone_bytes",
                     lwp_json_count(how->alone_bytes), "accesses", lwp_json_count(how->accesses), "regions", regions);
}

/* ---- cache lines that threads share ---- */

/* The runs of bytes in a mask. */
static json_t *json_bytes(uint64_t mask)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < LWP_INTERACTION_LINE; i++) {
        unsigned first = i;
        while (i < LWP_INTERACTION_LINE && mask >> i & 1)
            i++;
        if (i > first)
            json_array_append_new(list, json_pack("{s:i,s:i}", "offset", (int)first, "bytes", (int)(i - first)));
    }
    return list;
}

static json_t *json_line(struct lwp_json_tables *tables, const struct lwp_sharing *item)
{
    json_t *fields = json_array(), *offsets = json_array(), *threads = json_array(), *sites = json_array();
    for (size_t i = 0; i < item->use_count; i++) {
        const struct lwp_interaction_use *use = item->uses[i].use;
        uint64_t mask = use->loaded | use->stored;
        json_array_append_new(fields, lwp_json_text(item->uses[i].field));
        json_array_append_new(offsets, json_integer(mask ? __builtin_ctzll(mask) : 0));
        json_array_append_new(threads, json_integer(use->tid));
        json_array_append_new(
            sites, lwp_json_new("thread", json_integer(use->tid), "object", lwp_json_object(tables, use->object), "field",
                                lwp_json_text(item->uses[i].field), "loaded", json_bytes(use->loaded), "stored", json_bytes(use->stored), "context",
                                use->context == LWP_NONE ? json_null() : lwp_json_context(tables, use->context), "samples",
                                json_integer((json_int_t)use->hits.samples), NULL));
    }
    bool placed = item->object != LWP_NONE && tables->profile->objects[item->object].kind != LWP_OBJECT_UNKNOWN;
    return lwp_json_new("object", lwp_json_object(tables, item->object), "name", lwp_json_text(item->name), "kind",
                        json_string(item->is_false ? "false" : "true"), "line_offset",
                        placed ? json_integer((json_int_t)item->uses[0].use->offset) : json_null(), "line_bytes",
                        json_integer(LWP_INTERACTION_LINE), "lines", json_integer((json_int_t)item->lines), "fields", fields, "offsets", offsets,
                        "threads", threads, "thread_count", json_integer((json_int_t)item->threads), "share",
                        lwp_json_share(item->share.value), "share_ci", lwp_json_interval(&item->share), "samples",
                        json_integer((json_int_t)item->hits.samples), "sites", sites, "advice", lwp_json_text(item->advice), "declaration",
                        lwp_json_text(item->declaration), NULL);
}

json_t *lwp_json_sharing(struct lwp_json_tables *tables)
{
    const struct lwp_thread_findings *found = &tables->answers->threads;
    if (!found->communication.measured)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < found->sharings.count; i++)
        json_array_append_new(list, json_line(tables, &found->sharings.items[i]));
    return list;
}
