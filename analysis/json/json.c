/* analysis.json: ids are indices into its arrays, so everything listed is numbered here first. Only objects, loops and
 * contexts worth showing are listed. What this version does not measure is null, and a note says so. */
#include "analysis/json/json_parts.h"

#include "config.h"

static json_t *json_finding(const struct lwp_finding *finding)
{
    json_t *gain = finding->low > 0 ? json_pack("[o,o]", lwp_json_share(finding->low), lwp_json_share(finding->high))
                                    : json_null();
    return json_pack("{s:o,s:s,s:o,s:s,s:o,s:o,s:{s:i},s:o}", "id", lwp_json_text(finding->id), "kind", finding->kind,
                     "title", lwp_json_text(finding->title), "severity", finding->severity, "share",
                     lwp_json_share(finding->share), "expected_speedup", gain, "refs", finding->kind,
                     (int)finding->index, "next_step", lwp_json_text(finding->next_step));
}

json_t *lwp_json_build(struct lwp_profile *profile, const struct lwp_splits *splits,
                       const struct lwp_regroups *regroups, const struct lwp_redundancies *redundancies,
                       const struct lwp_thread_findings *together, const struct lwp_locality *locality,
                       const struct lwp_findings *findings)
{
    struct lwp_json_tables tables = {.profile = profile,
                                     .contexts = json_array(),
                                     .loops = json_array(),
                                     .context_ids = lwp_map_new(),
                                     .region_ids = lwp_map_new()};
    if (!locality || !locality->measured)
        lwp_profile_note(profile, "Reuse distances and what caches keep were not looked for: that takes a full trace "
                                  "(lwp collect -e exact --detect locality).");
    if (!profile->watched.origin_count)
        lwp_profile_note(profile,
                         "Redundant stores and loads were not looked for: not asked for (lwp collect --detect), or "
                         "not possible with this engine, or no hardware breakpoint was to be had (lwp doctor).");
    lwp_json_hot_loops(&tables);
    json_t *objects = lwp_json_objects(&tables, splits, regroups), *advice = json_array(), *list = json_array();
    for (size_t i = 0; i < splits->count; i++)
        json_array_append_new(advice, lwp_json_split(&tables, &splits->splits[i]));
    for (size_t i = 0; i < findings->count; i++)
        json_array_append_new(list, json_finding(&findings->findings[i]));
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("lwp-analysis"));
    json_object_set_new(root, "version", json_string("1.0"));
    json_object_set_new(root, "lwp_version", json_string(LWP_VERSION));
    json_object_set_new(root, "run", lwp_json_run(profile));
    json_object_set_new(root, "types", lwp_json_types(profile));
    json_object_set_new(root, "modules", lwp_json_modules(profile));
    json_object_set_new(root, "contexts", tables.contexts);
    json_object_set_new(root, "loops", tables.loops);
    json_object_set_new(root, "objects", objects);
    json_object_set_new(root, "splits", advice);
    lwp_json_regroups(&tables, regroups, root);
    lwp_json_redundancies(&tables, redundancies, root);
    json_object_set_new(root, "communication",
                        together && together->exchange.measured ? lwp_json_exchange(&tables, &together->exchange, &together->tips)
                        : together ? lwp_json_communication(&together->communication) : json_null());
    json_object_set_new(root, "sharing", together ? lwp_json_sharing(&tables, together) : json_null());
    json_object_set_new(root, "locality", lwp_json_locality(&tables, locality));
    json_object_set_new(root, "findings", list);
    lwp_map_free(tables.context_ids);
    lwp_map_free(tables.region_ids);
    return root;
}
