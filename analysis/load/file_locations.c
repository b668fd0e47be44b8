/* In: the contexts of a thread's file, instructions below them. Out: code locations (locations.h), paths in the calling context
 * tree, and the loop an instruction counts for. What depends on the file is cached here (direct-mapped), all else in the
 * resolver. */
#include "analysis/load/file_locations.h"

#include <stdlib.h>

enum { CONTEXTS_PER_THREAD_MAX = 1 << 22, CALLERS_MAX = 8, CALLERS_SEEN = 64, PATH_FRAMES = 1024 };

void lwp_file_locations_free(struct lwp_file_locations *locations)
{
    free(locations->contexts);
}

void lwp_file_locations_begin(struct lwp_file_locations *locations)
{
    locations->round++;
    locations->context_count = 0;
    LWP_PUSH(locations->context, (struct lwp_file_context){.node = {0, 0}});
}

void lwp_file_locations_context(struct lwp_file_locations *locations, const struct lwps_context *record)
{
    if (record->id == 0 || record->id >= CONTEXTS_PER_THREAD_MAX)
        return;
    if (!lwp_file_locations_is_new(locations, record)) /* damage: it is another one from here on */
        locations->round++;
    while (locations->context_count <= record->id) {
        LWP_PUSH(locations->context, (struct lwp_file_context){.node = {LWP_NONE, LWP_NONE}});
    }
    locations->contexts[record->id] = (struct lwp_file_context){.parent = record->parent < record->id ? record->parent : 0,
                                                                .ip = record->ip,
                                                                .node = {LWP_NONE, LWP_NONE}};
}

uint32_t lwp_file_locations_path(struct lwp_file_locations *locations, uint32_t context, enum lwp_call_path kind)
{
    if (context == 0 || context >= locations->context_count)
        return 0;
    uint32_t path[PATH_FRAMES], at = context;
    size_t depth = 0;
    while (at && depth < PATH_FRAMES && locations->contexts[at].node[kind] == LWP_NONE) {
        path[depth++] = at;
        at = locations->contexts[at].parent;
    }
    uint32_t node = at && locations->contexts[at].node[kind] != LWP_NONE ? locations->contexts[at].node[kind] : 0;
    while (depth--) {
        const struct lwp_location *frame = lwp_file_locations_frame(locations, path[depth]);
        if (frame)
            node = kind == LWP_PATH_FUNCTIONS ? lwp_resolver_function(locations->resolver, node, frame)
                                              : lwp_resolver_call(locations->resolver, node, frame);
        locations->contexts[path[depth]].node[kind] = node;
    }
    return node;
}

/* Code outside of any loop belongs to the loop that calls it; in a recursive function the body is the loop. */
static uint32_t locations_calling_loop(struct lwp_file_locations *locations, const struct lwp_location *location, uint32_t context)
{
    uint32_t found = location->part, at = context;
    for (int i = 0; i < CALLERS_SEEN && at && at < locations->context_count; i++, at = locations->contexts[at].parent) {
        const struct lwp_location *caller = lwp_file_locations_frame(locations, at);
        if (!caller)
            continue;
        if (caller->function_id == location->function_id)
            return location->part; /* recursion */
        if (i < CALLERS_MAX && found == location->part && caller->is_loop)
            found = caller->part;
    }
    return found;
}

void lwp_file_locations_find(struct lwp_file_locations *locations, struct lwp_file_location *at, uint64_t time)
{
    locations->time = time;
    at->location = lwp_resolver_location(locations->resolver, at->ip, time);
    at->functions = LWP_NONE;
}

void lwp_file_locations_find_below(struct lwp_file_locations *locations, struct lwp_file_location *at)
{
    const struct lwp_location *location = at->location;
    bool plain = location->is_loop || location->unread || at->context == 0 || location->part == LWP_NONE;
    at->functions =
        lwp_resolver_function(locations->resolver, lwp_file_locations_path(locations, at->context, LWP_PATH_FUNCTIONS), location);
    at->part = plain ? location->part : locations_calling_loop(locations, location, at->context);
}
