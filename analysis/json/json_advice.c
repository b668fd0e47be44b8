/* "splits", "regroups", "kept_apart", "arrays" and "conflicts" of analysis.json. */
#include "analysis/json/json_parts.h"

json_t *lwp_json_misses(const struct lwp_locality_found *found, unsigned levels)
{
    static const char *const names[LWP_CACHE_LEVELS] = {"L1", "L2", "L3"};
    json_t *misses = json_object();
    uint64_t missed = found->at[LWP_CACHE_MEMORY];
    for (unsigned i = LWP_CACHE_LEVELS; i-- > 0; missed += found->at[i])
        json_object_set_new(misses, names[i], i < levels ? lwp_json_count(missed) : json_null());
    return misses;
}

static json_t *json_replayed(const struct lwp_profile *profile, const struct lwp_locality_found *found)
{
    json_t *json = lwp_json_misses(found, profile->machines[LWP_MACHINE_HERE].caches.levels);
    json_object_set_new(json, "cycles", lwp_json_count(found->cycles));
    return json;
}

/* Adds "traffic", "replay", "speedup" and its interval. What code outside of loops gains is in their sum only. */
static void json_gain(struct lwp_json_tables *tables, const struct lwp_gain *gain, const char *unit, json_t *json)
{
    const struct lwp_gain_replay *replay = &gain->replay;
    json_t *loops = LWP_JSON_LIST(i, gain->loop_count,
                                  gain->loops[i].region == LWP_NONE ? NULL
                                                                    : lwp_json_new("loop", lwp_json_loop(tables, gain->loops[i].region),
                                                                                   "before", lwp_json_share(gain->loops[i].before), "after",
                                                                                   lwp_json_share(gain->loops[i].after), NULL));
    json_object_set_new(json, "traffic",
                        lwp_json_new("unit", json_string(unit), "before", lwp_json_share(gain->before), "after",
                                     lwp_json_share(gain->after), "loops", loops, NULL));
    json_object_set_new(json, "replay",
                        !replay->accesses ? json_null()
                                          : lwp_json_new("accesses", lwp_json_count(replay->accesses), "before",
                                                         json_replayed(tables->profile, &replay->before), "after",
                                                         json_replayed(tables->profile, &replay->after), NULL));
    json_object_set_new(json, "speedup", lwp_json_share(gain->speedup));
    json_object_set_new(json, "speedup_from", json_string(gain->measured ? "measured here" : "estimate"));
    json_object_set_new(json, "visit_ns",
                        gain->pattern_ns <= 0 ? json_null()
                                              : lwp_json_new("run", lwp_json_share(gain->pattern_ns), "program",
                                                             gain->program_ns > 0 ? lwp_json_share(gain->program_ns) : json_null(), NULL));
    json_object_set_new(json, "expected_speedup", json_pack("[o,o]", lwp_json_share(gain->low), lwp_json_share(gain->high)));
}

static json_t *json_pair(const char *a, const char *b, double affinity)
{
    return lwp_json_new("a", lwp_json_text(a), "b", lwp_json_text(b), "value", lwp_json_share(affinity), NULL);
}

/* ---- structures ---- */

static json_t *json_part(const struct lwp_split *split, int which, double all)
{
    const struct lwp_layout_field *fields = split->layout->fields;
    struct lwp_split_part part;
    double weight = 0;
    lwp_split_part(split, which, &part);
    for (size_t i = 0; i < part.count; i++)
        weight += fields[part.fields[i]].weight;
    return lwp_json_new("fields", LWP_JSON_LIST(i, part.count, lwp_json_text(fields[part.fields[i]].name)), "offsets",
                        LWP_JSON_LIST(i, part.count, lwp_json_count(fields[part.fields[i]].offset)), "new_offsets",
                        LWP_JSON_LIST(i, part.count, lwp_json_count(part.offsets[i])), "bytes", lwp_json_count(part.bytes), "share",
                        which >= 0 ? lwp_json_share(weight / all) : NULL, NULL);
}

static json_t *json_affinity(const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    json_t *list = json_array();
    for (size_t i = 0; i < layout->field_count; i++)
        for (size_t j = i + 1; j < layout->field_count; j++)
            if (layout->fields[i].weight > 0 && layout->fields[j].weight > 0)
                json_array_append_new(
                    list, json_pair(layout->fields[i].name, layout->fields[j].name, split->affinity[i * layout->field_count + j]));
    return list;
}

static json_t *json_split(struct lwp_json_tables *tables, const struct lwp_split *split)
{
    const struct lwp_profile *profile = tables->profile;
    const struct lwp_layout *layout = split->layout;
    static const char *const kinds[] = {[LWP_SPLIT_PARTS] = "split",
                                        [LWP_SPLIT_REORDER] = "reorder",
                                        [LWP_SPLIT_POOL] = "pool",
                                        [LWP_SPLIT_ORDER] = "order",
                                        [LWP_SPLIT_IN_PLACE] = "in-place"};
    bool pointer = lwp_split_points(split);
    json_t *json = lwp_json_new(
        "kind", json_string(kinds[split->kind]), "caution", lwp_json_text(split->caution), "object",
        json_integer(profile->objects[layout->objects[0]].reported), "objects",
        LWP_JSON_LIST(k, layout->object_count, json_integer(profile->objects[layout->objects[k]].reported)), "type",
        lwp_json_text(layout->type ? layout->type->name : NULL), "element_bytes", lwp_json_count(layout->element_bytes),
        "element_probability", lwp_json_share(layout->probability), "single", json_boolean(layout->single), "link",
        split->kind == LWP_SPLIT_PARTS ? json_string(pointer ? "pointer" : "index") : NULL, "pointed_by", lwp_json_text(layout->pointed),
        "groups", LWP_JSON_LIST(g, split->groups, json_part(split, (int)g, profile->total.weight)), "cold", json_part(split, -1, 1),
        "affinity", json_affinity(split), "confidence", json_string(split->confidence), NULL);
    json_gain(tables, &split->gain, "cache lines per element visited", json);
    json_object_set_new(json, "memory",
                        lwp_json_new("before", lwp_json_count((uint64_t)split->gain.bytes_before), "after",
                                     lwp_json_count((uint64_t)split->gain.bytes_after), NULL));
    json_object_set_new(json, "declaration", lwp_json_text(split->declaration));
    if (layout->container)
        json_object_set_new(json, "container", json_string(layout->container));
    if (layout->payload)
        json_object_set_new(json, "payload", lwp_json_text(layout->payload->name));
    if (split->pool > 0)
        json_object_set_new(json, "pool_speedup", json_real(split->pool));
    return json;
}

json_t *lwp_json_splits(struct lwp_json_tables *tables)
{
    const struct lwp_splits *splits = &tables->answers->splits;
    return LWP_JSON_LIST(i, splits->count, json_split(tables, &splits->splits[i]));
}

/* ---- arrays ---- */

/* The web page and the report say what each reason means; `detail` is what was seen. */
static json_t *json_rejected(const struct lwp_profile *profile, const struct lwp_regroup_rejected *rejected)
{
    const char *detail = rejected->verdict.detail;
    return json_pack("{s:o,s:o,s:o,s:s,s:o}", "object", json_integer(profile->objects[rejected->object].reported), "name",
                     lwp_json_text(rejected->name), "with", lwp_json_text(rejected->with), "reason",
                     lwp_regroup_reason_name(rejected->verdict.reason), "detail",
                     detail ? json_sprintf("with %s: %s", rejected->with, detail) : json_null());
}

static json_t *json_regroup(struct lwp_json_tables *tables, const struct lwp_regroup *regroup)
{
    const struct lwp_profile *profile = tables->profile;
    const struct lwp_regroup_candidates *candidates = &tables->answers->regroups.candidates;
    const size_t *members = regroup->members;
    json_t *affinity = json_array();
    for (size_t i = 0; i < regroup->count; i++)
        for (size_t k = i + 1; k < regroup->count; k++)
            json_array_append_new(affinity, json_pair(candidates->arrays[members[i]].name, candidates->arrays[members[k]].name,
                                                      candidates->affinity[members[i] * candidates->count + members[k]]));
    json_t *json = lwp_json_new(
        "objects", LWP_JSON_LIST(i, regroup->count, json_integer(profile->objects[candidates->arrays[members[i]].object].reported)),
        "names", LWP_JSON_LIST(i, regroup->count, lwp_json_text(candidates->arrays[members[i]].name)), "element_bytes",
        lwp_json_count(regroup->bytes), "affinity", affinity, "rejected",
        LWP_JSON_LIST(i, regroup->rejected_count, json_rejected(profile, &regroup->rejected[i])), "confidence",
        json_string(regroup->confidence), NULL);
    json_gain(tables, &regroup->gain, "cache lines per index", json);
    json_object_set_new(json, "declaration", lwp_json_text(regroup->declaration));
    return json;
}

json_t *lwp_json_regroups(struct lwp_json_tables *tables)
{
    const struct lwp_regroups *regroups = &tables->answers->regroups;
    return LWP_JSON_LIST(i, regroups->count, json_regroup(tables, &regroups->regroups[i]));
}

json_t *lwp_json_kept_apart(struct lwp_json_tables *tables)
{
    const struct lwp_regroups *regroups = &tables->answers->regroups;
    return LWP_JSON_LIST(i, regroups->apart_count, json_rejected(tables->profile, &regroups->apart[i]));
}

enum { ARRAYS_MANY = 32 }; /* above it, pairs that no loop uses are left out */

static json_t *json_array_pattern(const struct lwp_regroup_pattern *pattern, int which)
{
    return lwp_json_new("range", lwp_json_range(pattern->low[which], pattern->high[which]), "seconds",
                        lwp_json_range(pattern->from_ns[which] / 1e9, pattern->to_ns[which] / 1e9), NULL);
}

static json_t *json_array_pair(struct lwp_json_tables *tables, size_t a, size_t b)
{
    const struct lwp_regroups *regroups = &tables->answers->regroups;
    struct lwp_regroup_pattern pattern = lwp_regroup_pattern(&regroups->candidates, a, b);
    struct lwp_regroup_verdict verdict = lwp_regroup_pair_verdict(regroups, a, b);
    bool seen = pattern.region != LWP_NONE;
    return lwp_json_new("a", json_integer((json_int_t)a), "b", json_integer((json_int_t)b), "affinity",
                        lwp_json_share(regroups->candidates.affinity[a * regroups->candidates.count + b]), "conflict",
                        seen ? json_boolean(pattern.conflict) : json_null(), "loop",
                        seen ? lwp_json_loop(tables, pattern.region) : json_null(), "of_a",
                        seen ? json_array_pattern(&pattern, 0) : json_null(), "of_b", seen ? json_array_pattern(&pattern, 1) : json_null(),
                        "reason", json_string(lwp_regroup_reason_name(verdict.reason)), "detail", lwp_json_text(verdict.detail), NULL);
}

json_t *lwp_json_arrays(struct lwp_json_tables *tables)
{
    const struct lwp_regroup_candidates *candidates = &tables->answers->regroups.candidates;
    size_t classes[LWP_REGROUP_ARRAYS_MAX], count = candidates->count;
    json_t *pairs = json_array();
    lwp_regroup_classes(candidates, classes);
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++)
            if (count <= ARRAYS_MANY || candidates->affinity[a * count + b] > 0)
                json_array_append_new(pairs, json_array_pair(tables, a, b));
    return lwp_json_new(
        "arrays",
        LWP_JSON_LIST(i, count,
                      lwp_json_new("object", lwp_json_object(tables, candidates->arrays[i].object), "name",
                                   lwp_json_text(candidates->arrays[i].name), "element_bytes",
                                   lwp_json_count(candidates->arrays[i].element_bytes), "elements",
                                   lwp_json_count(candidates->arrays[i].elements), "class", json_integer((json_int_t)classes[i]), NULL)),
        "pairs", pairs, NULL);
}

/* ---- set conflicts ---- */

static json_t *json_conflict_array(const struct lwp_json_tables *tables, const struct lwp_conflict *conflict, size_t i)
{
    const struct lwp_conflict_array *array = &conflict->arrays[i];
    return lwp_json_new("object", lwp_json_object(tables, array->object), "name", lwp_json_text(array->name), "start",
                        array->block ? lwp_json_count(array->block % conflict->way_bytes) : json_null(), "lines",
                        json_integer(array->lines), "move", lwp_json_count(array->move), NULL);
}

static json_t *json_conflict(struct lwp_json_tables *tables, const struct lwp_conflict *conflict)
{
    const struct lwp_profile *profile = tables->profile;
    bool rows = conflict->remedy == LWP_CONFLICT_ROWS;
    json_t *json = lwp_json_new(
        "remedy", json_string(rows ? "rows" : "apart"), "loop", lwp_json_loop(tables, conflict->region), "arrays",
        LWP_JSON_LIST(i, conflict->count, json_conflict_array(tables, conflict, i)), "lines", lwp_json_share(conflict->lines), "ways",
        json_integer(conflict->ways), "way_bytes", lwp_json_count(conflict->way_bytes), "step", json_integer(conflict->step), "row_bytes",
        rows ? lwp_json_count(conflict->row_bytes) : json_null(), "pad_bytes", rows ? lwp_json_count(conflict->pad_bytes) : json_null(),
        "share", lwp_json_share(lwp_share_of(&conflict->weight, &profile->total).value), "samples",
        lwp_json_count(conflict->weight.samples), "confidence", json_string(conflict->confidence), NULL);
    json_gain(tables, &conflict->gain, "cache lines per iteration", json);
    json_object_set_new(json, "declaration", lwp_json_text(conflict->declaration));
    return json;
}

json_t *lwp_json_conflicts(struct lwp_json_tables *tables)
{
    const struct lwp_conflicts *conflicts = &tables->answers->conflicts;
    return conflicts->looked ? LWP_JSON_LIST(i, conflicts->count, json_conflict(tables, &conflicts->conflicts[i])) : json_null();
}
