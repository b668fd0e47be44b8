/* In: the contexts of a thread's file, instructions below them. Out: spots (locations.h), paths in the profile's tree of
 * contexts, and the loop an instruction counts for. What is shared with other threads is asked through a resolver; what
 * depends on the file is kept here, in a table where one instruction may push out another. */
#include "analysis/load/file_locations.h"

#include <stdlib.h>

enum { CONTEXTS_PER_THREAD_MAX = 1 << 22, CALLERS_MAX = 8, CALLERS_SEEN = 64, PATH_FRAMES = 1024 };

void lwp_file_locations_free(struct lwp_file_locations *places)
{
    free(places->contexts);
}

void lwp_file_locations_begin(struct lwp_file_locations *places)
{
    places->round++;
    places->context_count = 0;
    LWP_GROW(&places->contexts, places->context_count, &places->context_room);
    places->contexts[places->context_count++] = (struct lwp_file_context){.node = {0, 0}};
}

void lwp_file_locations_context(struct lwp_file_locations *places, const struct lwps_context *record)
{
    if (record->id == 0 || record->id >= CONTEXTS_PER_THREAD_MAX)
        return;
    if (!lwp_file_locations_is_new(places, record)) /* damage: it is another one from here on */
        places->round++;
    while (places->context_count <= record->id) {
        LWP_GROW(&places->contexts, places->context_count, &places->context_room);
        places->contexts[places->context_count++] = (struct lwp_file_context){.node = {LWP_NONE, LWP_NONE}};
    }
    places->contexts[record->id] = (struct lwp_file_context){
        .parent = record->parent < record->id ? record->parent : 0,
        .ip = record->ip - 1, /* the call is before it */
        .node = {LWP_NONE, LWP_NONE}};
}

uint32_t lwp_file_locations_path(struct lwp_file_locations *places, uint32_t context, enum lwp_call_path kind)
{
    if (context == 0 || context >= places->context_count)
        return 0;
    uint32_t path[PATH_FRAMES], at = context;
    size_t depth = 0;
    while (at && depth < PATH_FRAMES && places->contexts[at].node[kind] == LWP_NONE) {
        path[depth++] = at;
        at = places->contexts[at].parent;
    }
    uint32_t node = at && places->contexts[at].node[kind] != LWP_NONE ? places->contexts[at].node[kind] : 0;
    while (depth--) {
        const struct lwp_location *frame = lwp_file_locations_frame(places, path[depth]);
        if (frame)
            node = kind == LWP_PATH_FUNCTIONS ? lwp_resolver_function(places->resolver, node, frame)
                                              : lwp_resolver_call(places->resolver, node, frame);
        places->contexts[path[depth]].node[kind] = node;
    }
    return node;
}

/* Code outside of any loop belongs to the loop that calls it, unless it calls itself: then its body is the loop. */
static uint32_t places_calling_loop(struct lwp_file_locations *places, const struct lwp_location *spot, uint32_t context)
{
    uint32_t found = spot->part, at = context;
    for (int i = 0; i < CALLERS_SEEN && at && at < places->context_count; i++, at = places->contexts[at].parent) {
        const struct lwp_location *caller = lwp_file_locations_frame(places, at);
        if (!caller)
            continue;
        if (caller->function_id == spot->function_id)
            return spot->part; /* recursion */
        if (i < CALLERS_MAX && found == spot->part && caller->is_loop)
            found = caller->part;
    }
    return found;
}

void lwp_file_locations_find(struct lwp_file_locations *places, struct lwp_file_location *place, uint64_t time)
{
    places->time = time;
    place->spot = lwp_resolver_spot(places->resolver, place->ip, time);
    place->functions = LWP_NONE;
}

void lwp_file_locations_find_below(struct lwp_file_locations *places, struct lwp_file_location *place)
{
    const struct lwp_location *spot = place->spot;
    bool plain = spot->is_loop || place->context == 0 || spot->part == LWP_NONE;
    place->functions = lwp_resolver_function(
        places->resolver, lwp_file_locations_path(places, place->context, LWP_PATH_FUNCTIONS), spot);
    place->part = plain ? spot->part : places_calling_loop(places, spot, place->context);
}
