/* analysis.json: ids are indices into its arrays, so what is listed is numbered when it is first referred to. Only objects,
 * loops and contexts worth showing are listed. What this run did not measure is null, and a note says so. */
#include "analysis/json/json_parts.h"

#include "config.h"

static json_t *json_contexts(struct lwp_json_tables *tables)
{
    return json_incref(tables->contexts); /* the parts after it go on adding to it */
}

static json_t *json_loops(struct lwp_json_tables *tables)
{
    return json_incref(tables->loops);
}

static json_t *json_findings(struct lwp_json_tables *tables)
{
    const struct lwp_findings *findings = &tables->answers->findings;
    json_t *list = json_array();
    for (size_t i = 0; i < findings->count; i++) {
        const struct lwp_finding *finding = &findings->findings[i];
        json_t *gain = finding->low > 0 ? json_pack("[o,o]", lwp_json_share(finding->low), lwp_json_share(finding->high)) : json_null();
        json_t *speedup = finding->low > 0 ? lwp_json_share(finding->speedup) : json_null();
        json_t *interval = lwp_json_range(finding->share_high > 0 ? finding->share_low : -1, finding->share_high);
        json_array_append_new(list, json_pack("{s:o,s:s,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:{s:i},s:o}", "id", lwp_json_text(finding->id),
                                              "kind", finding->kind, "title", lwp_json_text(finding->title), "severity", finding->severity,
                                              "share", lwp_json_share(finding->share), "share_ci", interval, "samples",
                                              lwp_json_known(finding->samples), "speedup", speedup, "expected_speedup", gain,
                                              "time_at_stake", finding->stake > 0 ? lwp_json_share(finding->stake) : json_null(),
                                              "shares_with", finding->shares_with ? lwp_json_text(finding->shares_with) : json_null(),
                                              "refs", finding->kind, (int)finding->index, "next_step", lwp_json_text(finding->next_step)));
    }
    return list;
}

/* In this order, which is also the order of the ids. */
static const struct {
    const char *key;
    json_t *(*build)(struct lwp_json_tables *tables);
} parts[] = {
    {"run", lwp_json_run},
    {"types", lwp_json_types},
    {"modules", lwp_json_modules},
    {"contexts", json_contexts},
    {"loops", json_loops},
    {"objects", lwp_json_objects},
    {"splits", lwp_json_splits},
    {"regroups", lwp_json_regroups},
    {"kept_apart", lwp_json_kept_apart},
    {"arrays", lwp_json_arrays},
    {"conflicts", lwp_json_conflicts},
    {"redundancy_totals", lwp_json_redundancy_totals},
    {"redundancies", lwp_json_redundancies},
    {"communication", lwp_json_communication},
    {"sharing", lwp_json_sharing},
    {"locality", lwp_json_locality},
    {"stalls", lwp_json_stalls},
    {"findings", json_findings},
    {"coverage", lwp_json_coverage},
    {"silence", lwp_json_silence},
    {"left_alone", lwp_json_left_alone},
};

json_t *lwp_json_build(struct lwp_profile *profile, const struct lwp_answers *answers)
{
    struct lwp_json_tables tables = {.profile = profile,
                                     .answers = answers,
                                     .contexts = json_array(),
                                     .loops = json_array(),
                                     .context_ids = lwp_map_new(),
                                     .region_ids = lwp_map_new()};
    json_t *root = json_pack("{s:s,s:s,s:s}", "schema", "lwp-analysis", "version", "1.0", "lwp_version", LWP_VERSION);
    lwp_json_hot_loops(&tables);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        json_object_set_new(root, parts[i].key, parts[i].build(&tables));
    json_decref(tables.contexts);
    json_decref(tables.loops);
    lwp_map_free(tables.context_ids);
    lwp_map_free(tables.region_ids);
    return root;
}
