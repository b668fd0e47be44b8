/* "redundancy_totals" and "redundancies" of analysis.json. */
#include "analysis/json/json_parts.h"

#include <math.h>

static json_t *json_redundancy_total(const struct lwp_redundancy_total *total, const char *unit, bool exact)
{
    if (!total->measured)
        return json_null();
    return json_pack("{s:b,s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o}", "exact", exact, "share", lwp_json_share(total->share.value), "share_ci",
                     lwp_json_interval(&total->share), "wasted", json_real(round(total->wasted)), "total",
                     json_real(round(total->total)), "unit", unit, "approximate",
                     lwp_json_share(total->wasted > 0 ? total->close / total->wasted : 0), "candidates",
                     lwp_json_count(total->candidates), "decided", lwp_json_count(total->decided), "undecided",
                     lwp_json_share(total->undecided));
}

/* The call paths that are counted in beside the pair's own. */
static json_t *json_others(struct lwp_json_tables *tables, const struct lwp_redundancy *item)
{
    json_t *others = json_array();
    for (size_t i = 0; i < item->other_count; i++) {
        const struct lwp_redundancy_path *path = &item->others[i];
        json_array_append_new(others,
                              json_pack("{s:o,s:o,s:o,s:o,s:o}", "first", lwp_json_context(tables, path->pair->first),
                                        "second", lwp_json_context(tables, path->pair->second), "object",
                                        lwp_json_object(tables, path->pair->object), "share",
                                        lwp_json_share(path->share), "samples", lwp_json_count(path->samples)));
    }
    return others;
}

static json_t *json_redundancy(struct lwp_json_tables *tables, const struct lwp_redundancy *item)
{
    const struct lwp_watchpoint_pair *pair = item->pair;
    json_t *json = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:{s:o,s:o},s:s,s:s,s:s}", "kind",
                     lwp_redundancy_kind(item->kind), "approximate", lwp_json_share(item->close), "share",
                     lwp_json_share(item->share.value), "share_ci", lwp_json_interval(&item->share), "amount",
                     json_real(round(item->amount)), "samples", lwp_json_count(item->samples), "first",
                     lwp_json_context(tables, pair->first), "second", lwp_json_context(tables, pair->second), "others",
                     json_others(tables, item), "object", lwp_json_object(tables, pair->object), "bytes",
                     lwp_json_known(pair->bytes), "places", "again", lwp_json_count(item->again), "moved",
                     lwp_json_count(item->moved), "cause", item->cause, "meaning", item->meaning, "remedy",
                     item->remedy);
    if (json && item->kind == LWP_WATCHPOINT_SPATIAL)
        json_object_set_new(json, "own_share", lwp_json_share(item->own));
    return json;
}

/* RedSpy's R of registers and loads, precise and approximate, and the instructions that write such values (thesis, 3.4.1). */
static json_t *json_register_classes(const struct lwp_watchpoints *watched)
{
    json_t *classes = json_array();
    for (unsigned i = 0; i < 4; i++) {
        const struct lwp_watchpoint_registers *of = &watched->registers[i / 2][i % 2];
        double bytes = (double)of->bytes, all = (double)of->of_instructions;
        if (of->bytes)
            json_array_append_new(
                classes, json_pack("{s:b,s:b,s:I,s:I,s:I,s:o,s:o}", "loaded", i / 2, "floating_point", i % 2, "bytes",
                                   (json_int_t)of->bytes, "same", (json_int_t)of->same, "close", (json_int_t)of->close, "share",
                                   lwp_json_share((double)(of->same + of->close) / bytes), "instructions",
                                   lwp_json_share(all > 0 ? (double)of->instructions / all : 0)));
    }
    return classes;
}

/* null where nothing was watched: by choice, or since it was not possible. */
void lwp_json_redundancies(struct lwp_json_tables *tables, const struct lwp_redundancies *found, json_t *root)
{
    static const char *const units[] = {"unknown", "ns", "cycles", "cycles", "events"};
    bool measured = tables->profile->watched.origin_count > 0;
    bool exact = tables->profile->watched.exact;
    uint8_t unit = tables->profile->weight_unit;
    json_t *totals = measured ? json_object() : json_null(), *list = measured ? json_array() : json_null();
    for (unsigned kind = 0; measured && kind < LWP_WATCHPOINT_KINDS; kind++)
        json_object_set_new(totals, lwp_redundancy_kind((enum lwp_watchpoint_kind)kind),
                            json_redundancy_total(&found->totals[kind],
                                                  !exact ? units[unit < 5 ? unit : 0]
                                                  : kind == LWP_WATCHPOINT_COMPUTATION ? "computations" : "bytes", exact));
    if (measured && found->totals[LWP_WATCHPOINT_REGISTER].measured)
        json_object_set_new(json_object_get(totals, "register"), "classes", json_register_classes(&tables->profile->watched));
    for (size_t i = 0; measured && i < found->count; i++)
        json_array_append_new(list, json_redundancy(tables, &found->items[i]));
    json_object_set_new(root, "redundancy_totals", totals);
    json_object_set_new(root, "redundancies", list);
}
