/* "communication" and "sharing" of analysis.json. Communication was counted, or estimated from watched samples. */
#include "analysis/advice/threads/communication_matrix.h"
#include "analysis/json/json_parts.h"

#include <math.h>

/* Rows of one column each for every thread; `cell` is an expression of `index`. */
#define JSON_MATRIX(threads, index, cell)                                                                                                  \
    LWP_JSON_LIST(row_, threads, LWP_JSON_LIST(column_, threads, ({                                                                        \
                                                   const size_t index = row_ * (threads) + column_;                                        \
                                                   cell;                                                                                   \
                                               })))

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

static json_t *json_sampled(const struct lwp_sampled_communication *found)
{
    const struct lwp_communication_cell *cells = found->cells;
    const size_t count = found->count;
    if (!found->measured)
        return json_null();
    json_t *threads =
        LWP_JSON_LIST(i, count, found->threads[i] ? json_thread(found->threads[i]->tid, found->threads[i]->name) : json_other_threads());
    json_t *region = json_pack("{s:s,s:n,s:o,s:o,s:o,s:n,s:n,s:n,s:n,s:n,s:[]}", "name", "whole program", "loop", "true",
                               JSON_MATRIX(count, i, lwp_json_share(cells[i].share.value)), "true_ci",
                               JSON_MATRIX(count, i, lwp_json_interval(&cells[i].share)), "samples",
                               JSON_MATRIX(count, i, json_integer((json_int_t)cells[i].samples)), "reuse", "crr", "homogeneity",
                               "balance_percent", "crd", "advice");
    return json_pack("{s:i,s:o,s:I,s:I,s:s,s:b,s:I,s:I,s:o,s:[o]}", "granularity_bytes", 8, "threads", threads, "others",
                     (json_int_t)found->others, "unwatched", (json_int_t)found->unwatched, "unit", "share", "scaled", 1, "watched",
                     (json_int_t)found->trials, "decided", (json_int_t)found->decided, "read_by_others",
                     lwp_json_share(fmin(1, found->read)), "regions", region);
}

/* ---- counted communication ---- */

static json_t *json_distances(const struct lwp_communication_region *region)
{
    const struct lwp_distance_bucket *distances = region->distances.buckets;
    size_t count = region->distances.count;
    uint64_t all = 0;
    bool cutoffs = region->max_cutoff > 0;
    if (!count)
        return json_null();
    for (size_t i = 0; i < count; i++)
        all += distances[i].count;
    json_t *buckets = LWP_JSON_LIST(
        i, count, lwp_json_new("up_to", lwp_json_count(distances[i].up_to), "count", lwp_json_count(distances[i].count), NULL));
    return lwp_json_new(
        "buckets", buckets, "count", lwp_json_count(all), "median", lwp_json_count(lwp_distances_quantile(distances, count, 0.5)), "p90",
        lwp_json_count(lwp_distances_quantile(distances, count, 0.9)), "element_bytes", lwp_json_share(region->element_bytes), "min_cutoff",
        cutoffs ? lwp_json_count((uint64_t)region->min_cutoff) : json_null(), "max_cutoff",
        cutoffs ? lwp_json_count((uint64_t)region->max_cutoff) : json_null(), "above_min",
        cutoffs ? lwp_json_share(lwp_distances_above(distances, count, region->min_cutoff)) : json_null(), "above_max",
        cutoffs ? lwp_json_share(lwp_distances_above(distances, count, region->max_cutoff)) : json_null(), NULL);
}

static json_t *json_pieces(const struct lwp_communication_pieces *pieces)
{
    if (!pieces->count)
        return json_null();
    return lwp_json_new("count", lwp_json_count(pieces->count), "lines", lwp_json_count(pieces->lines), "bytes",
                        lwp_json_count(pieces->bytes), "step", json_integer(pieces->step), NULL);
}

/* Which threads should run side by side: their indices in "threads", by group. */
static json_t *json_placement(const struct lwp_thread_placement *placement, size_t threads)
{
    if (!placement)
        return json_null();
    json_t *groups = json_array();
    for (size_t i = 0; i < threads; i++)
        while (json_array_size(groups) <= placement->group[i])
            json_array_append_new(groups, json_array());
    for (size_t i = 0; i < threads; i++)
        json_array_append_new(json_array_get(groups, placement->group[i]), json_integer((json_int_t)i));
    return lwp_json_new("groups", groups, "within", json_real(placement->within), "before", json_real(placement->before), "processors",
                        placement->processors ? LWP_JSON_LIST(i, threads, json_integer((json_int_t)placement->processors[i])) : json_null(),
                        "level", placement->level ? json_integer((json_int_t)placement->level) : json_null(), NULL);
}

static json_t *json_region(struct lwp_json_tables *tables, const struct lwp_communication_region *region)
{
    static const char *const kinds[] = {"program", "runtime", "function", "parallel", "loop"};
    const struct lwp_counted_communication *found = &tables->answers->threads.counted;
    const struct lwp_communication_tips *tips = &tables->answers->threads.tips;
    bool any = region->firsts > 0;
    json_t *advice = json_array();
    for (size_t i = 0; i < tips->count; i++) {
        const struct lwp_communication_tip *tip = &tips->tips[i];
        if (&found->regions[tip->region] == region)
            json_array_append_new(advice, lwp_json_text(tip->next_step));
    }
    return lwp_json_new("kind", json_string(kinds[region->kind]), "name", lwp_json_text(region->name), "loop",
                        lwp_json_loop(tables, region->region), "true", JSON_MATRIX(found->count, i, lwp_json_count(region->first[i])),
                        "true_ci", json_null(), "samples", json_null(), "reuse",
                        JSON_MATRIX(found->count, i, lwp_json_count(region->again[i])), "crr",
                        JSON_MATRIX(found->count, i, lwp_json_share(region->ratios[i])), "communicated", lwp_json_count(region->firsts),
                        "reused", lwp_json_count(region->agains), "homogeneity", any ? lwp_json_share(region->homogeneity) : json_null(),
                        "balance_percent", any ? lwp_json_share(region->balance) : json_null(), "crd", json_distances(region), "pieces",
                        json_pieces(&region->pieces), "pattern", lwp_json_text(lwp_communication_pattern(region->first, found->count)),
                        "advice", advice, "placement", json_placement(region->placement, found->count), NULL);
}

json_t *lwp_json_communication(struct lwp_json_tables *tables)
{
    const struct lwp_counted_communication *found = &tables->answers->threads.counted;
    const struct lwps_flows *how = &tables->profile->communication.how;
    if (!found->measured)
        return json_sampled(&tables->answers->threads.sampled);
    json_t *threads = LWP_JSON_LIST(
        i, found->count, found->threads[i] ? json_thread(found->threads[i]->tid, found->threads[i]->name) : json_other_threads());
    json_t *regions = LWP_JSON_LIST(i, found->region_count, json_region(tables, &found->regions[i]));
    return json_pack("{s:o,s:o,s:I,s:i,s:s,s:b,s:n,s:n,s:n,s:o,s:o,s:o}", "granularity_bytes", lwp_json_count(how->granule_bytes),
                     "threads", threads, "others", (json_int_t)found->others, "unwatched", 0, "unit", "count", "scaled", how->thinned != 0,
                     "watched", "decided", "read_by_others", "alone_bytes", lwp_json_count(how->alone_bytes), "accesses",
                     lwp_json_count(how->accesses), "regions", regions);
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

static json_t *json_site(struct lwp_json_tables *tables, const struct lwp_sharing_use *item)
{
    const struct lwp_interaction_use *use = item->use;
    return lwp_json_new("thread", json_integer(use->tid), "object", lwp_json_object(tables, use->object), "field",
                        lwp_json_text(item->field), "loaded", json_bytes(use->loaded), "stored", json_bytes(use->stored), "context",
                        use->context == LWP_NONE ? json_null() : lwp_json_context(tables, use->context), "samples",
                        json_integer((json_int_t)use->hits.samples), NULL);
}

static json_t *json_line(struct lwp_json_tables *tables, const struct lwp_sharing *item)
{
    const struct lwp_sharing_use *uses = item->uses;
    const size_t count = item->use_count;
    json_t *offsets = json_array();
    for (size_t i = 0; i < count; i++) {
        uint64_t mask = uses[i].use->loaded | uses[i].use->stored;
        json_array_append_new(offsets, json_integer(mask ? __builtin_ctzll(mask) : 0));
    }
    bool placed = item->object != LWP_NONE && tables->profile->objects[item->object].kind != LWP_OBJECT_UNKNOWN;
    return lwp_json_new("object", lwp_json_object(tables, item->object), "name", lwp_json_text(item->name), "kind",
                        json_string(item->is_false ? "false" : "true"), "line_offset",
                        placed ? json_integer((json_int_t)item->uses[0].use->offset) : json_null(), "line_bytes",
                        json_integer(LWP_INTERACTION_LINE), "lines", json_integer((json_int_t)item->lines), "fields",
                        LWP_JSON_LIST(i, count, lwp_json_text(uses[i].field)), "offsets", offsets, "threads",
                        LWP_JSON_LIST(i, count, json_integer(uses[i].use->tid)), "thread_count", json_integer((json_int_t)item->threads),
                        "share", lwp_json_share(item->share.value), "share_ci", lwp_json_interval(&item->share), "samples",
                        json_integer((json_int_t)item->hits.samples), "sites", LWP_JSON_LIST(i, count, json_site(tables, &uses[i])),
                        "advice", lwp_json_text(item->advice), "declaration", lwp_json_text(item->declaration), NULL);
}

json_t *lwp_json_sharing(struct lwp_json_tables *tables)
{
    const struct lwp_thread_findings *found = &tables->answers->threads;
    if (!found->sampled.measured && !tables->profile->locality.several)
        return json_null();
    return LWP_JSON_LIST(i, found->sharings.count, json_line(tables, &found->sharings.items[i]));
}
