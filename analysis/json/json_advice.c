/* "splits", "regroups" and "kept_apart" of analysis.json. */
#include "analysis/json/json_parts.h"

static json_t *json_replayed(const struct lwp_profile *profile, const struct lwp_locality_found *found)
{
    static const char *const names[LWP_CACHE_LEVELS] = {"L1", "L2", "L3"};
    json_t *json = json_object();
    uint64_t missed = found->at[LWP_CACHE_MEMORY];
    for (unsigned i = LWP_CACHE_LEVELS; i-- > 0; missed += found->at[i])
        json_object_set_new(json, names[i], i < profile->machines[LWP_MACHINE_HERE].caches.levels ? lwp_json_count(missed) : json_null());
    json_object_set_new(json, "cycles", lwp_json_count(found->cycles));
    return json;
}

static json_t *json_replay(const struct lwp_profile *profile, const struct lwp_gain_replay *replay)
{
    if (!replay->accesses)
        return json_null();
    return json_pack("{s:o,s:o,s:o}", "accesses", lwp_json_count(replay->accesses), "before", json_replayed(profile, &replay->before),
                     "after", json_replayed(profile, &replay->after));
}

/* "traffic" and "expected_speedup". What code outside of loops gains is in their sum only. */
static void json_gain(struct lwp_json_tables *tables, const struct lwp_gain *gain, const char *unit, json_t *json)
{
    json_t *loops = json_array();
    for (size_t i = 0; i < gain->loop_count; i++)
        if (gain->loops[i].region != LWP_NONE)
            json_array_append_new(
                loops, json_pack("{s:o,s:o,s:o}", "loop", lwp_json_loop(tables, gain->loops[i].region), "before",
                                 lwp_json_share(gain->loops[i].before), "after", lwp_json_share(gain->loops[i].after)));
    json_object_set_new(json, "traffic",
                        json_pack("{s:s,s:o,s:o,s:o}", "unit", unit, "before", lwp_json_share(gain->before), "after",
                                  lwp_json_share(gain->after), "loops", loops));
    json_object_set_new(json, "replay", json_replay(tables->profile, &gain->replay));
    json_object_set_new(json, "expected_speedup",
                        json_pack("[o,o]", lwp_json_share(gain->low), lwp_json_share(gain->high)));
}

static json_t *json_part(const struct lwp_split *split, int which, double all)
{
    struct lwp_split_part part;
    json_t *json = json_object(), *fields = json_array(), *offsets = json_array(), *places = json_array();
    double weight = 0;
    lwp_split_part(split, which, &part);
    for (size_t i = 0; i < part.count; i++) {
        const struct lwp_layout_field *field = &split->layout->fields[part.fields[i]];
        json_array_append_new(fields, lwp_json_text(field->name));
        json_array_append_new(offsets, lwp_json_count(field->offset));
        json_array_append_new(places, lwp_json_count(part.offsets[i]));
        weight += field->weight;
    }
    json_object_set_new(json, "fields", fields);
    json_object_set_new(json, "offsets", offsets);
    json_object_set_new(json, "new_offsets", places);
    json_object_set_new(json, "bytes", lwp_json_count(part.bytes));
    if (which >= 0)
        json_object_set_new(json, "share", lwp_json_share(weight / all));
    return json;
}

json_t *lwp_json_split(struct lwp_json_tables *tables, const struct lwp_split *split)
{
    const struct lwp_profile *profile = tables->profile;
    const struct lwp_layout *layout = split->layout;
    json_t *json = json_object(), *objects = json_array(), *groups = json_array();
    for (size_t k = 0; k < layout->object_count; k++)
        json_array_append_new(objects, json_integer(profile->objects[layout->objects[k]].reported));
    for (size_t g = 0; g < split->groups; g++)
        json_array_append_new(groups, json_part(split, (int)g, profile->total.weight));
    json_t *affinity = json_array();
    for (size_t i = 0; i < layout->field_count; i++)
        for (size_t j = i + 1; j < layout->field_count; j++)
            if (layout->fields[i].weight > 0 && layout->fields[j].weight > 0)
                json_array_append_new(affinity,
                                      json_pack("{s:o,s:o,s:o}", "a", lwp_json_text(layout->fields[i].name), "b",
                                                lwp_json_text(layout->fields[j].name), "value",
                                                lwp_json_share(split->affinity[i * layout->field_count + j])));
    json_object_set_new(json, "kind", json_string(split->kind == LWP_SPLIT_REORDER ? "reorder" : "split"));
    json_object_set_new(json, "caution", lwp_json_text(split->caution));
    json_object_set_new(json, "object", json_integer(profile->objects[layout->objects[0]].reported));
    json_object_set_new(json, "objects", objects);
    json_object_set_new(json, "type", lwp_json_text(layout->type ? layout->type->name : NULL));
    json_object_set_new(json, "element_bytes", lwp_json_count(layout->element_bytes));
    json_object_set_new(json, "element_probability", lwp_json_share(layout->probability));
    json_object_set_new(json, "single", json_boolean(layout->single));
    if (split->kind == LWP_SPLIT_PARTS)
        json_object_set_new(json, "link",
                            json_string((layout->single || layout->linked) && !split->pooled ? "pointer" : "index"));
    json_object_set_new(json, "pointed_by", lwp_json_text(layout->pointed));
    json_object_set_new(json, "groups", groups);
    json_object_set_new(json, "cold", json_part(split, -1, 1));
    json_object_set_new(json, "affinity", affinity);
    json_object_set_new(json, "confidence", json_string(split->confidence));
    json_gain(tables, &split->gain, "cache lines per element visited", json);
    json_object_set_new(json, "memory",
                        json_pack("{s:o,s:o}", "before", lwp_json_count((uint64_t)split->gain.bytes_before), "after",
                                  lwp_json_count((uint64_t)split->gain.bytes_after)));
    json_object_set_new(json, "declaration", lwp_json_text(split->declaration));
    return json;
}

/* The web page and the report say what each reason means; `detail` is what was seen. */
static json_t *json_rejected(const struct lwp_profile *profile, const struct lwp_regroup_rejected *rejected)
{
    const char *detail = rejected->verdict.detail;
    return json_pack("{s:o,s:o,s:o,s:s,s:o}", "object", json_integer(profile->objects[rejected->object].reported),
                     "name", lwp_json_text(rejected->name), "with", lwp_json_text(rejected->with), "reason",
                     lwp_regroup_reason_name(rejected->verdict.reason), "detail",
                     detail ? json_sprintf("with %s: %s", rejected->with, detail) : json_null());
}

static json_t *json_regroup(struct lwp_json_tables *tables, const struct lwp_regroup_candidates *candidates,
                            const struct lwp_regroup *regroup)
{
    const struct lwp_profile *profile = tables->profile;
    json_t *json = json_object(), *objects = json_array(), *names = json_array(), *affinity = json_array();
    json_t *rejected = json_array();
    for (size_t i = 0; i < regroup->count; i++) {
        const struct lwp_regroup_array *array = &candidates->arrays[regroup->members[i]];
        json_array_append_new(objects, json_integer(profile->objects[array->object].reported));
        json_array_append_new(names, lwp_json_text(array->name));
        for (size_t k = i + 1; k < regroup->count; k++)
            json_array_append_new(
                affinity,
                json_pack("{s:o,s:o,s:o}", "a", lwp_json_text(array->name), "b",
                          lwp_json_text(candidates->arrays[regroup->members[k]].name), "value",
                          lwp_json_share(
                              candidates->affinity[regroup->members[i] * candidates->count + regroup->members[k]])));
    }
    for (size_t i = 0; i < regroup->rejected_count; i++)
        json_array_append_new(rejected, json_rejected(profile, &regroup->rejected[i]));
    json_object_set_new(json, "objects", objects);
    json_object_set_new(json, "names", names);
    json_object_set_new(json, "element_bytes", lwp_json_count(regroup->bytes));
    json_object_set_new(json, "affinity", affinity);
    json_object_set_new(json, "rejected", rejected);
    json_object_set_new(json, "confidence", json_string(regroup->confidence));
    json_gain(tables, &regroup->gain, "cache lines per index", json);
    json_object_set_new(json, "declaration", lwp_json_text(regroup->declaration));
    return json;
}

void lwp_json_regroups(struct lwp_json_tables *tables, const struct lwp_regroups *regroups, json_t *root)
{
    json_t *list = regroups ? json_array() : json_null(), *apart = regroups ? json_array() : json_null();
    for (size_t i = 0; regroups && i < regroups->count; i++)
        json_array_append_new(list, json_regroup(tables, &regroups->candidates, &regroups->regroups[i]));
    for (size_t i = 0; regroups && i < regroups->apart_count; i++)
        json_array_append_new(apart, json_rejected(tables->profile, &regroups->apart[i]));
    json_object_set_new(root, "regroups", list);
    json_object_set_new(root, "kept_apart", apart);
}
