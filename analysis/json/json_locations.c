/* "contexts" and "loops" of analysis.json: each is listed when it is first spoken of. */
#include "analysis/json/json_parts.h"

#include "analysis/profile/contexts.h"
#include "analysis/profile/regions.h"

#include <stdlib.h>

enum { LOOPS_LISTED = 1000, FRAMES_LISTED = 128 };

json_t *lwp_json_frame(const struct lwp_frame *frame, uint32_t module, uint64_t address)
{
    return lwp_json_new("function", lwp_json_text(frame->function), "file", lwp_json_text(frame->file), "line", lwp_json_known(frame->line),
                        "module", lwp_json_id(module), "inlined", json_boolean(frame->inlined), "address",
                        !frame->function && module != LWP_NONE ? lwp_json_count(address) : NULL, NULL);
}

json_t *lwp_json_context(struct lwp_json_tables *tables, uint32_t context)
{
    struct lwp_profile *profile = tables->profile;
    if (context == 0)
        return json_null();
    uint32_t *known = lwp_map_at(tables->context_ids, context);
    if (*known != LWP_MAP_NONE)
        return json_integer(*known);
    *known = (uint32_t)json_array_size(tables->contexts);
    json_t *frames = json_array();
    bool various = false;
    for (uint32_t at = context; at && json_array_size(frames) < FRAMES_LISTED; at = profile->contexts[at].parent) {
        const struct lwp_context_node *node = &profile->contexts[at];
        various = at != context && lwp_contexts_is_various(profile, at);
        if (various)
            break;
        const struct lwp_symbolized *code =
            node->module == LWP_NONE ? NULL : lwp_code_symbolize(profile->code, node->module, node->address);
        struct lwp_frame whole = {0};
        uint32_t count = code ? code->frame_count : 0;
        if (count && node->is_function) { /* the function as a whole: no line */
            whole = code->frames[count - 1];
            whole.line = 0;
        }
        if (!count || node->is_function)
            json_array_append_new(frames, lwp_json_frame(&whole, node->module, node->address));
        else
            for (uint32_t i = 0; i < count; i++)
                json_array_append_new(frames, lwp_json_frame(&code->frames[i], node->module, node->address));
    }
    uint32_t id = (uint32_t)json_array_size(tables->contexts);
    json_array_append_new(tables->contexts, lwp_json_new("frames", frames, "various", various ? json_true() : NULL, NULL));
    return json_integer(id);
}

static json_t *json_loop(struct lwp_json_tables *tables, uint32_t index, int depth)
{
    struct lwp_profile *profile = tables->profile;
    if (index == LWP_NONE || depth > 64)
        return json_null();
    uint32_t known = lwp_map_get(tables->region_ids, index);
    if (known != LWP_MAP_NONE)
        return json_integer(known);
    const struct lwp_region *region = &profile->regions[index];
    json_t *parent = json_loop(tables, region->parent, depth + 1);
    uint32_t id = (uint32_t)json_array_size(tables->loops);
    *lwp_map_at(tables->region_ids, index) = id;
    const struct lwp_frame *call = lwp_regions_call(region);
    unsigned level = lwp_regions_level(profile, region);
    json_array_append_new(tables->loops,
                          lwp_json_new("kind", json_string(region->is_function ? "function" : "loop"), "address",
                                       json_integer((json_int_t)(region->address & INT64_MAX)), "function", lwp_json_text(region->function),
                                       "file", lwp_json_text(region->file), "first_line", lwp_json_known(region->first_line), "last_line",
                                       lwp_json_known(region->last_line), "inlined_into",
                                       call ? lwp_json_new("function", lwp_json_text(call->function), "file", lwp_json_text(call->file),
                                                           "line", lwp_json_known(call->line), NULL)
                                            : json_null(),
                                       "level", level > 1 ? lwp_json_count(level) : NULL, "parent", parent, "module",
                                       lwp_json_id(region->module), "share",
                                       lwp_json_share(lwp_share_of(&region->weight, &profile->total).value), "samples",
                                       lwp_json_count(region->weight.samples), NULL));
    return json_integer(id);
}

json_t *lwp_json_loop(struct lwp_json_tables *tables, uint32_t region)
{
    return json_loop(tables, region, 0);
}

json_t *lwp_json_object(const struct lwp_json_tables *tables, uint32_t object)
{
    return lwp_json_id(object == LWP_NONE ? LWP_NONE : tables->profile->objects[object].reported);
}

static int json_region_compare(const void *a, const void *b)
{
    const struct lwp_region *x = *(const struct lwp_region *const *)a, *y = *(const struct lwp_region *const *)b;
    return (x->weight.weight < y->weight.weight) - (x->weight.weight > y->weight.weight);
}

void lwp_json_hot_loops(struct lwp_json_tables *tables)
{
    struct lwp_profile *profile = tables->profile;
    const struct lwp_region **order = lwp_arena_alloc(profile->arena, profile->region_count + 1, sizeof(const struct lwp_region *));
    size_t count = 0;
    for (size_t i = 0; i < profile->region_count; i++)
        if (profile->regions[i].same_as == i && profile->regions[i].weight.samples)
            order[count++] = &profile->regions[i];
    qsort(order, count, sizeof *order, json_region_compare);
    for (size_t i = 0; i < count && i < LOOPS_LISTED; i++)
        if (order[i]->weight.weight >= lwp_json_share_listed * profile->total.weight)
            json_decref(lwp_json_loop(tables, (uint32_t)(order[i] - profile->regions)));
}
