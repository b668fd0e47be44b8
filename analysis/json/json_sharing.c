/* "communication" and "sharing" of analysis.json. */
#include "analysis/json/json_parts.h"

#include <math.h>

json_t *lwp_json_communication(const struct lwp_sampled_communication *found)
{
    if (!found->measured)
        return json_null();
    json_t *threads = json_array(), *shares = json_array(), *between = json_array(), *samples = json_array();
    for (size_t i = 0; i < found->count; i++) {
        const struct lwp_interaction_thread *thread = found->threads[i];
        json_array_append_new(threads, thread ? json_pack("{s:I,s:o}", "tid", (json_int_t)thread->tid, "name",
                                                          lwp_json_text(thread->name[0] ? thread->name : NULL))
                                              : json_pack("{s:n,s:s}", "tid", "name", "others"));
        json_t *share_row = json_array(), *between_row = json_array(), *sample_row = json_array();
        for (size_t k = 0; k < found->count; k++) {
            const struct lwp_communication_cell *cell = &found->cells[i * found->count + k];
            json_array_append_new(share_row, lwp_json_share(cell->share.value));
            json_array_append_new(between_row, lwp_json_interval(&cell->share));
            json_array_append_new(sample_row, json_integer((json_int_t)cell->samples));
        }
        json_array_append_new(shares, share_row);
        json_array_append_new(between, between_row);
        json_array_append_new(samples, sample_row);
    }
    json_t *region = json_pack("{s:s,s:n,s:o,s:o,s:o,s:n,s:n,s:n,s:n,s:n,s:[]}", "name", "whole program", "loop",
                               "true", shares, "true_ci", between, "samples", samples, "reuse", "crr", "homogeneity",
                               "balance_percent", "crd", "advice");
    return json_pack("{s:i,s:o,s:I,s:I,s:s,s:b,s:I,s:I,s:o,s:[o]}", "granularity_bytes", 8, "threads", threads, "others",
                     (json_int_t)found->others, "unwatched", (json_int_t)found->unwatched, "unit", "share", "scaled", 1, "watched", (json_int_t)found->trials,
                     "decided", (json_int_t)found->decided, "read_by_others", lwp_json_share(fmin(1, found->read)),
                     "regions", region);
}

/* The runs of bytes in a mask. */
static json_t *json_bytes(uint64_t mask)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < LWP_INTERACTION_LINE;) {
        unsigned first = i;
        while (i < LWP_INTERACTION_LINE && mask >> i & 1)
            i++;
        if (i > first)
            json_array_append_new(list, json_pack("{s:i,s:i}", "offset", (int)first, "bytes", (int)(i - first)));
        else
            i++;
    }
    return list;
}

static json_t *json_sharing(struct lwp_json_tables *tables, const struct lwp_sharing *item)
{
    const struct lwp_profile *profile = tables->profile;
    json_t *fields = json_array(), *offsets = json_array(), *threads = json_array(), *sites = json_array();
    for (size_t i = 0; i < item->use_count; i++) {
        const struct lwp_interaction_use *use = item->uses[i].use;
        uint64_t mask = use->loaded | use->stored;
        json_array_append_new(fields, lwp_json_text(item->uses[i].field));
        json_array_append_new(offsets, json_integer(mask ? __builtin_ctzll(mask) : 0));
        json_array_append_new(threads, json_integer(use->tid));
        json_array_append_new(
            sites, json_pack("{s:i,s:o,s:o,s:o,s:o,s:o,s:I}", "thread", (int)use->tid, "object",
                             lwp_json_object(tables, use->object), "field", lwp_json_text(item->uses[i].field),
                             "loaded", json_bytes(use->loaded), "stored", json_bytes(use->stored), "context",
                             use->context == LWP_NONE ? json_null() : lwp_json_context(tables, use->context), "samples",
                             (json_int_t)use->hits.samples));
    }
    const struct lwp_interaction_use *first = item->uses[0].use;
    bool placed = item->object != LWP_NONE && profile->objects[item->object].kind != LWP_OBJECT_UNKNOWN;
    return json_pack("{s:o,s:o,s:s,s:o,s:i,s:I,s:o,s:o,s:o,s:I,s:o,s:o,s:I,s:o,s:o,s:o}", "object",
                     lwp_json_object(tables, item->object), "name",
                     lwp_json_text(item->name), "kind",
                     item->is_false ? "false" : "true", "line_offset",
                     placed ? json_integer((json_int_t)first->offset) : json_null(), "line_bytes", LWP_INTERACTION_LINE,
                     "lines", (json_int_t)item->lines, "fields", fields, "offsets", offsets, "threads", threads,
                     "thread_count", (json_int_t)item->threads, "share", lwp_json_share(item->share.value), "share_ci",
                     lwp_json_interval(&item->share), "samples", (json_int_t)item->hits.samples, "sites", sites,
                     "advice", lwp_json_text(item->advice), "declaration", lwp_json_text(item->declaration));
}

json_t *lwp_json_sharing(struct lwp_json_tables *tables, const struct lwp_thread_findings *together)
{
    if (!together->communication.measured)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < together->sharings.count; i++)
        json_array_append_new(list, json_sharing(tables, &together->sharings.items[i]));
    return list;
}
