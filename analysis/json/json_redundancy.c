/* "redundancy_totals" and "redundancies" of analysis.json; both null where nothing was watched or counted. */
#include "analysis/json/json_parts.h"

#include "analysis/tables/engines.h"
#include "analysis/tables/redundancy_kinds.h"
#include "base/order.h"
#include "format/record.h"

#include <math.h>
#include <stdlib.h>

/* Adds what is known of the time, where the share of bytes was estimated from it. */
static json_t *json_timed(json_t *object, const struct lwp_share *bytes, const struct lwp_share *time, bool exact)
{
    if (!exact) {
        json_object_set_new(object, "time_share", lwp_json_share(time->value));
        json_object_set_new(object, "time_share_ci", lwp_json_interval(time));
        json_object_set_new(object, "by_time", json_boolean(lwp_redundancy_by_time(bytes)));
    }
    return object;
}

static json_t *json_total(const struct lwp_redundancy_total *total, const char *unit, bool exact)
{
    if (!total->measured)
        return json_null();
    json_t *json = lwp_json_new(
        "exact", json_boolean(exact), "share", lwp_json_share(total->share.value), "share_ci", lwp_json_interval(&total->share), "wasted",
        json_real(round(total->wasted)), "total", json_real(round(total->total)), "unit", json_string(unit), "approximate",
        lwp_json_share(total->close.value), "approximate_ci", lwp_json_interval(&total->close), "candidates",
        lwp_json_count(total->candidates), "decided", lwp_json_count(total->decided), "undecided", lwp_json_share(total->undecided), NULL);
    return json_timed(json, &total->share, &total->time, exact);
}

/* RedSpy's R of stores, precise and approximate: of the bytes stored over a value that is known (thesis, 3.4.1). */
static json_t *json_store_classes(const struct lwp_watchpoints *watched)
{
    json_t *classes = json_array();
    for (unsigned i = 0; i < 2; i++) {
        const struct lwp_watchpoint_registers *of = &watched->stored[i];
        if (of->bytes)
            json_array_append_new(classes, json_pack("{s:b,s:I,s:I,s:I,s:o,s:o}", "floating_point", i, "bytes", (json_int_t)of->bytes,
                                                     "same", (json_int_t)of->same, "close", (json_int_t)of->close, "share",
                                                     lwp_json_share((double)of->same / (double)of->bytes), "approximate",
                                                     lwp_json_share((double)of->close / (double)of->bytes)));
    }
    return classes;
}

/* RedSpy's R_total: of all bytes that stores and instructions that write registers generated, those whose value was there already. Null
 * unless both were counted. */
static json_t *json_generated(const struct lwp_redundancies *found, const struct lwp_watchpoints *watched)
{
    uint64_t bytes = 0, redundant = 0, close = 0;
    if (!found->totals[LWP_WATCHPOINT_REGISTER].measured || !found->totals[LWP_WATCHPOINT_SILENT_STORE].measured)
        return json_null();
    for (unsigned i = 0; i < 6; i++) {
        const struct lwp_watchpoint_registers *of = i < 4 ? &watched->registers[i / 2][i % 2] : &watched->stored[i % 2];
        bytes += of->bytes;
        redundant += of->same;
        close += of->close;
    }
    return lwp_json_new("bytes", lwp_json_count(bytes), "redundant", lwp_json_count(redundant), "close", lwp_json_count(close), "share",
                        lwp_json_share(bytes ? (double)redundant / (double)bytes : 0), "approximate",
                        lwp_json_share(bytes ? (double)close / (double)bytes : 0), NULL);
}

static int json_contribution_compare(const void *a, const void *b)
{
    const struct lwp_watchpoint_contribution *x = a, *y = b;
    return -LWP_COMPARE(x->waste + x->close, y->waste + y->close) ?: LWP_COMPARE(x->thread, y->thread);
}

/* RedSpy's R of registers and loads, precise and approximate, and the instructions that write such values (thesis, 3.4.1). */
static json_t *json_register_classes(const struct lwp_watchpoints *watched)
{
    json_t *classes = json_array();
    for (unsigned i = 0; i < 4; i++) {
        const struct lwp_watchpoint_registers *of = &watched->registers[i / 2][i % 2];
        double bytes = (double)of->bytes, all = (double)of->of_instructions;
        if (of->bytes)
            json_array_append_new(classes, json_pack("{s:b,s:b,s:I,s:I,s:I,s:o,s:o,s:o}", "loaded", i / 2, "floating_point", i % 2, "bytes",
                                                     (json_int_t)of->bytes, "same", (json_int_t)of->same, "close", (json_int_t)of->close,
                                                     "share", lwp_json_share((double)of->same / bytes), "approximate",
                                                     lwp_json_share((double)of->close / bytes), "instructions",
                                                     lwp_json_share(all > 0 ? (double)of->instructions / all : 0)));
    }
    return classes;
}

/* RVN's R (thesis, 2.5.3): instructions that compute again what is known, or only load or store it where it was. An instruction
 * counts once. */
static json_t *json_rvn(const struct lwp_profile *profile, const struct lwp_redundancy_total *computations)
{
    struct lwp_watchpoint_contribution loads = {0}, stores = {0};
    const double traced = (double)profile->instructions_recorded;
    for (size_t i = 0; i < profile->watchpoints.contribution_count; i++) {
        const struct lwp_watchpoint_contribution *of = &profile->watchpoints.contributions[i];
        if (of->kind != LWP_WATCHPOINT_COMPUTATION || !of->moves)
            continue;
        struct lwp_watchpoint_contribution *to = of->moves == LWPS_ACCESS_LOAD ? &loads : &stores;
        to->all += of->all;
        to->waste += of->waste;
    }
    double redundant = computations->wasted + (double)(loads.waste + stores.waste);
    return lwp_json_new("instructions", lwp_json_count(profile->instructions_recorded), "loads", lwp_json_count(loads.all), "loads_again",
                        lwp_json_count(loads.waste), "stores", lwp_json_count(stores.all), "stores_again", lwp_json_count(stores.waste),
                        "computations_share", lwp_json_share(fmin(1, computations->wasted / traced)), "share",
                        lwp_json_share(fmin(1, redundant / traced)), NULL);
}

/* By thread, largest first; NULL: not known. */
static json_t *json_contributions(const struct lwp_watchpoints *watched, unsigned kind)
{
    struct lwp_watchpoint_contribution *of = lwp_zeroed(watched->contribution_count, sizeof *of);
    size_t count = 0;
    double all = 0;
    for (size_t i = 0; i < watched->contribution_count; i++) {
        const struct lwp_watchpoint_contribution *one = &watched->contributions[i];
        if (one->kind != kind || one->moves)
            continue;
        all += (double)(one->waste + one->close);
        of[count++] = *one;
    }
    LWP_SORT(of, count, json_contribution_compare);
    json_t *list = count == 0 ? NULL
                              : LWP_JSON_LIST(i, count,
                                              lwp_json_new("thread", lwp_json_count(of[i].thread), "wasted", lwp_json_count(of[i].waste),
                                                           "close", lwp_json_count(of[i].close), "share",
                                                           lwp_json_share((double)(of[i].waste + of[i].close) / fmax(all, 1)), NULL));
    free(of);
    return list;
}

json_t *lwp_json_redundancy_totals(struct lwp_json_tables *tables)
{
    const struct lwp_redundancies *found = &tables->answers->redundancies;
    const struct lwp_watchpoints *watched = &tables->profile->watchpoints;
    const char *sampled = lwp_unit_row(tables->profile->weight_unit)->wasted;
    if (!watched->origin_count)
        return json_null();
    json_t *totals = json_object();
    for (unsigned kind = 0; kind < LWP_WATCHPOINT_KINDS; kind++) {
        const char *unit = !watched->exact ? sampled : kind == LWP_WATCHPOINT_COMPUTATION ? "computations" : "bytes";
        json_t *total = json_total(&found->totals[kind], unit, watched->exact), *threads = json_contributions(watched, kind);
        if (threads && json_is_object(total))
            json_object_set(total, "threads", threads);
        json_decref(threads);
        json_object_set_new(totals, lwp_redundancy_rows[kind].key, total);
    }
    if (found->totals[LWP_WATCHPOINT_REGISTER].measured)
        json_object_set_new(json_object_get(totals, "register"), "classes", json_register_classes(watched));
    const struct lwp_redundancy_total *computations = &found->totals[LWP_WATCHPOINT_COMPUTATION];
    if (computations->measured && tables->profile->instructions_recorded > 0)
        json_object_set_new(json_object_get(totals, "computation"), "of_instructions", json_rvn(tables->profile, computations));
    if (watched->exact && found->totals[LWP_WATCHPOINT_SILENT_STORE].measured)
        json_object_set_new(json_object_get(totals, "silent_store"), "classes", json_store_classes(watched));
    if (watched->exact)
        json_object_set_new(totals, "generated", json_generated(found, watched));
    return totals;
}

/* A call path that is counted in beside the pair's own. */
static json_t *json_path(struct lwp_json_tables *tables, const struct lwp_redundancy_path *path)
{
    return lwp_json_new("first", lwp_json_context(tables, path->pair->first), "second", lwp_json_context(tables, path->pair->second),
                        "object", lwp_json_object(tables, path->pair->object), "share", lwp_json_share(path->share), "samples",
                        lwp_json_count(path->samples), NULL);
}

/* All that the same line wastes in this way. */
static json_t *json_line(const struct lwp_redundancies *found, const struct lwp_redundancy *item, bool exact)
{
    const struct lwp_redundant_line *line = &found->lines[item->line];
    json_t *json = lwp_json_new("share", lwp_json_share(line->share.value), "share_ci", lwp_json_interval(&line->share), "samples",
                                lwp_json_count(line->samples), "sure", json_boolean(line->sure), "acted_on",
                                json_boolean(lwp_redundancy_matters(found, line)), "time_at_stake",
                                line->stake < 0 ? json_null() : lwp_json_share(line->stake), NULL);
    return json_timed(json, &line->share, &line->time, exact);
}

static json_t *json_redundancy(struct lwp_json_tables *tables, const struct lwp_redundancy *item)
{
    const struct lwp_redundancies *found = &tables->answers->redundancies;
    const struct lwp_watchpoint_pair *pair = item->pair;
    const bool exact = tables->profile->watchpoints.exact, spatial = item->kind == LWP_WATCHPOINT_SPATIAL;
    json_t *json = lwp_json_new(
        "kind", json_string(lwp_redundancy_rows[item->kind].key), "approximate", lwp_json_share(item->approximate), "share",
        lwp_json_share(item->share.value), "share_ci", lwp_json_interval(&item->share), "amount", json_real(round(item->amount)), "samples",
        lwp_json_count(item->samples), "first", lwp_json_context(tables, pair->first), "second", lwp_json_context(tables, pair->second),
        "others", LWP_JSON_LIST(i, item->other_count, json_path(tables, &item->others[i])), "object", lwp_json_object(tables, pair->object),
        "bytes", lwp_json_known(pair->bytes), "places",
        lwp_json_new("again", lwp_json_count(spatial ? 0 : item->again), "moved", lwp_json_count(item->moved + (spatial ? item->again : 0)), NULL),
        "cause", json_string(item->cause),
        "line", json_line(found, item, exact), "meaning", json_string(item->meaning), "remedy", json_string(item->remedy), "own_share",
        spatial ? lwp_json_share(item->own) : NULL, "neighbour_share", spatial ? lwp_json_share(item->neighbours) : NULL, NULL);
    return json_timed(json, &item->share, &item->time, exact);
}

json_t *lwp_json_redundancies(struct lwp_json_tables *tables)
{
    const struct lwp_redundancies *found = &tables->answers->redundancies;
    if (!tables->profile->watchpoints.origin_count)
        return json_null();
    return LWP_JSON_LIST(i, found->count, json_redundancy(tables, &found->items[i]));
}
