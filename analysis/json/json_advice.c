/* "splits", "regroups" and "kept_apart" of analysis.json. */
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

/* Adds "traffic", "replay" and "expected_speedup". What code outside of loops gains is in their sum only. */
static void json_gain(struct lwp_json_tables *tables, const struct lwp_gain *gain, const char *unit, json_t *json)
{
    const struct lwp_gain_replay *replay = &gain->replay;
    json_t *loops = json_array();
    for (size_t i = 0; i < gain->loop_count; i++)
        if (gain->loops[i].region != LWP_NONE)
            json_array_append_new(loops, lwp_json_new("loop", lwp_json_loop(tables, gain->loops[i].region), "before",
                                                      lwp_json_share(gain->loops[i].before), "after", lwp_json_share(gain->loops[i].after), NULL));
    json_object_set_new(json, "traffic", lwp_json_new("unit", json_string(unit), "before", lwp_json_share(gain->before), "after",
                                                      lwp_json_share(gain->after), "loops", loops, NULL));
    json_object_set_new(json, "replay",
                        !replay->accesses ? json_null()
                                          : lwp_json_new("accesses", lwp_json_count(replay->accesses), "before",
                                                         json_replayed(tables->profile, &replay->before), "after",
                                                         json_replayed(tables->profile, &replay->after), NULL));
    json_object_set_new(json, "expected_speedup", json_pack("[o,o]", lwp_json_share(gain->low), lwp_json_share(gain->high)));
}

static json_t *json_pair(const char *a, const char *b, double affinity)
{
    return lwp_json_new("a", lwp_json_text(a), "b", lwp_json_text(b), "value", lwp_json_share(affinity), NULL);
}

/* ---- structures ---- */

static json_t *json_part(const struct lwp_split *split, int which, double all)
{
    struct lwp_split_part part;
    json_t *fields = json_array(), *offsets = json_array(), *new_offsets = json_array();
    double weight = 0;
    lwp_split_part(split, which, &part);
    for (size_t i = 0; i < part.count; i++) {
        const struct lwp_layout_field *field = &split->layout->fields[part.fields[i]];
        json_array_append_new(fields, lwp_json_text(field->name));
        json_array_append_new(offsets, lwp_json_count(field->offset));
        json_array_append_new(new_offsets, lwp_json_count(part.offsets[i]));
        weight += field->weight;
    }
    return lwp_json_new("fields", fields, "offsets", offsets, "new_offsets", new_offsets, "bytes", lwp_json_count(part.bytes), "share",
                        which >= 0 ? lwp_json_share(weight / all) : NULL, NULL);
}

static json_t *json_affinity(const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    json_t *list = json_array();
    for (size_t i = 0; i < layout->field_count; i++)
        for (size_t j = i + 1; j < layout->field_count; j++)
            if (layout->fields[i].weight > 0 && layout->fields[j].weight > 0)
                json_array_append_new(list, json_pair(layout->fields[i].name, layout->fields[j].name,
                                                      split->affinity[i * layout->field_count + j]));
    return list;
}

static json_t *json_split(struct lwp_json_tables *tables, const struct lwp_split *split)
{
    const struct lwp_profile *profile = tables->profile;
    const struct lwp_layout *layout = split->layout;
    bool pointer = (layout->single || layout->linked) && !split->pooled;
    json_t *objects = json_array(), *groups = json_array();
    for (size_t k = 0; k < layout->object_count; k++)
        json_array_append_new(objects, json_integer(profile->objects[layout->objects[k]].reported));
    for (size_t g = 0; g < split->groups; g++)
        json_array_append_new(groups, json_part(split, (int)g, profile->total.weight));
    json_t *json = lwp_json_new(
        "kind", json_string(split->kind == LWP_SPLIT_REORDER ? "reorder" : "split"), "caution", lwp_json_text(split->caution), "object",
        json_integer(profile->objects[layout->objects[0]].reported), "objects", objects, "type",
        lwp_json_text(layout->type ? layout->type->name : NULL), "element_bytes", lwp_json_count(layout->element_bytes),
        "element_probability", lwp_json_share(layout->probability), "single", json_boolean(layout->single), "link",
        split->kind == LWP_SPLIT_PARTS ? json_string(pointer ? "pointer" : "index") : NULL, "pointed_by", lwp_json_text(layout->pointed),
        "groups", groups, "cold", json_part(split, -1, 1), "affinity", json_affinity(split), "confidence", json_string(split->confidence), NULL);
    json_gain(tables, &split->gain, "cache lines per element visited", json);
    json_object_set_new(json, "memory", lwp_json_new("before", lwp_json_count((uint64_t)split->gain.bytes_before), "after",
                                                     lwp_json_count((uint64_t)split->gain.bytes_after), NULL));
    json_object_set_new(json, "declaration", lwp_json_text(split->declaration));
    return json;
}

json_t *lwp_json_splits(struct lwp_json_tables *tables)
{
    const struct lwp_splits *splits = &tables->answers->splits;
    json_t *list = json_array();
    for (size_t i = 0; i < splits->count; i++)
        json_array_append_new(list, json_split(tables, &splits->splits[i]));
    return list;
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
    json_t *objects = json_array(), *names = json_array(), *affinity = json_array(), *rejected = json_array();
    for (size_t i = 0; i < regroup->count; i++) {
        const size_t member = regroup->members[i];
        const struct lwp_regroup_array *array = &candidates->arrays[member];
        json_array_append_new(objects, json_integer(profile->objects[array->object].reported));
        json_array_append_new(names, lwp_json_text(array->name));
        for (size_t k = i + 1; k < regroup->count; k++)
            json_array_append_new(affinity, json_pair(array->name, candidates->arrays[regroup->members[k]].name,
                                                      candidates->affinity[member * candidates->count + regroup->members[k]]));
    }
    for (size_t i = 0; i < regroup->rejected_count; i++)
        json_array_append_new(rejected, json_rejected(profile, &regroup->rejected[i]));
    json_t *json = lwp_json_new("objects", objects, "names", names, "element_bytes", lwp_json_count(regroup->bytes), "affinity", affinity,
                                "rejected", rejected, "confidence", json_string(regroup->confidence), NULL);
    json_gain(tables, &regroup->gain, "cache lines per index", json);
    json_object_set_new(json, "declaration", lwp_json_text(regroup->declaration));
    return json;
}

json_t *lwp_json_regroups(struct lwp_json_tables *tables)
{
    const struct lwp_regroups *regroups = &tables->answers->regroups;
    json_t *list = json_array();
    for (size_t i = 0; i < regroups->count; i++)
        json_array_append_new(list, json_regroup(tables, &regroups->regroups[i]));
    return list;
}

json_t *lwp_json_kept_apart(struct lwp_json_tables *tables)
{
    const struct lwp_regroups *regroups = &tables->answers->regroups;
    json_t *list = json_array();
    for (size_t i = 0; i < regroups->apart_count; i++)
        json_array_append_new(list, json_rejected(tables->profile, &regroups->apart[i]));
    return list;
}
