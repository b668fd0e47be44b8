/* A std::map or a std::set that is gone through from element to element, by the library's functions, or a std::list by a loop of its own.
 *
 * Each step waits for a link, and most go to a node that lies anywhere. In an array in the same order the same elements are a stream. It
 * pays only where they stay: nothing is put in, taken out or searched while it does. Of a tree the array is a copy, which is one more pass
 * of each kind. */
#include "analysis/advice/layout/split_internal.h"

#include "analysis/advice/gain/set_up.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/regions.h"
#include "analysis/profile/streams.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/tables/engines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double keeps_to = 0.5; /* of a stream's accesses, that are at one place of their elements */

/* Of libstdc++: in the order of the keys. */
static bool walked_by(const struct lwp_region *region)
{
    static const char *const names[] = {"std::_Rb_tree_increment", "std::_Rb_tree_decrement"};
    for (size_t i = 0; i < sizeof names / sizeof *names && region->function; i++)
        if (strncmp(region->function, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The first byte of what the program keeps in a node: behind a tree's colour and three links, or a list's two or one. */
static uint64_t walked_from(const struct lwp_layout *layout)
{
    const size_t words = lwp_types_is_tree_node(layout->type) ? 4 : strcmp(layout->container, "std::forward_list") == 0 ? 1 : 2;
    return layout->type->payload ? layout->type->payload_at : words * sizeof(void *);
}

/* Whether it may load a link: not what the program keeps in a node, which may be a pointer, too, as of a string. */
static bool walked_links(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_stream *stream)
{
    uint64_t place;
    return lwp_element_stream_place(profile, stream, &place) < keeps_to || place < walked_from(layout);
}

/* Whether the loop's own code goes from node to node: it searches, puts something in, or ends the tree. */
static bool walked_goes(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_layout_loop *loop)
{
    struct lwp_loop_shape shape;
    if (loop->descends)
        return true;
    for (size_t k = 0; k < layout->object_count; k++)
        LWP_STREAMS_OF(profile, layout->objects[k], stream)
            if (stream->region == loop->region && stream->module != LWP_NONE && walked_links(profile, layout, stream) &&
                lwp_loop_shape(profile->code, stream->module, stream->address, &shape) && shape.chained)
                return true;
    return false;
}

/* The loop's stalls on the tree with those on blocks that were not recorded, as many of them as of the stalls on recorded blocks of pools.
 */
static double walked_awaits(const struct lwp_profile *profile, const struct lwp_layout_loop *loop)
{
    double known = 0, all = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->region != loop->region)
            continue;
        const struct lwp_object *object = &profile->objects[stream->object];
        known += object->pool_size ? stream->weight.weight : 0;
        all += object->pool_size || object->kind == LWP_OBJECT_UNKNOWN ? stream->weight.weight : 0;
    }
    return known > 0 ? loop->weight.weight * all / known : loop->weight.weight;
}

/* All that goes through the tree as one loop, in the region of the one that waits longest. False: there is none, or the tree is used in
 * another way at the same time. */
static bool walked_loop(struct lwp_profile *profile, const struct lwp_layout *layout, struct lwp_layout_loop *walk, double *awaits)
{
    const struct lwp_layout_loop *most = NULL;
    for (size_t i = 0; i < layout->loop_count; i++)
        if (layout->loops[i].region != LWP_NONE && walked_by(&profile->regions[layout->loops[i].region]) &&
            (!most || layout->loops[i].weight.weight > most->weight.weight))
            most = &layout->loops[i];
    if (!most)
        return false;
    *walk = *most;
    *awaits = walked_awaits(profile, most);
    for (size_t i = 0; i < layout->loop_count; i++) {
        const struct lwp_layout_loop *loop = &layout->loops[i];
        if (loop == most || loop->region == LWP_NONE || lwp_gain_comes_before(profile, loop->region, most->region) ||
            lwp_gain_comes_before(profile, most->region, loop->region))
            continue;
        if (!walked_by(&profile->regions[loop->region]) && walked_goes(profile, layout, loop))
            return false;
        *awaits += walked_awaits(profile, loop);
        lwp_tally_merge(&walk->weight, &loop->weight);
        walk->near += loop->near;
        walk->far += loop->far;
        for (size_t f = 0; f < layout->field_count; f++)
            walk->uses[f] |= loop->uses[f];
    }
    walk->used = 0;
    for (size_t f = 0; f < layout->field_count; f++)
        walk->used += walk->uses[f];
    return true;
}

/* What nodes keep as an array, for loops that wait so long, and go through it together. False: links change meanwhile, or nothing was run.
 */
static bool walked_in_array(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity,
                            const struct lwp_layout_loop *walk, double awaits, struct lwp_split *walked)
{
    const uint64_t from = walked_from(layout);
    if (layout->element_bytes <= from)
        return false;
    struct lwp_placement after;
    lwp_placement_today(profile, layout, &after);
    after.ordered = after.array = true;
    after.of[0] = (struct lwp_placement_group){.spacing = layout->element_bytes - from, .start = LWP_PLACEMENT_MALLOC};
    for (size_t f = 0; f < layout->field_count; f++) {
        const bool link = layout->fields[f].offset < from;
        for (size_t k = 0; k < layout->object_count && link && layout->fields[f].bytes == sizeof(void *); k++)
            if (!lwp_order_stays(profile, layout->objects[k], layout->fields[f].offset, walk->region))
                return false;
        after.bytes[f] = link ? 0 : after.bytes[f];
        after.offsets[f] -= link ? 0 : from;
    }
    *walked = (struct lwp_split){.kind = LWP_SPLIT_ORDER,
                                 .array = true,
                                 .layout = layout,
                                 .affinity = affinity,
                                 .group = lwp_arena_alloc(profile->arena, layout->field_count, sizeof *walked->group),
                                 .groups = 1,
                                 .pooled = true,
                                 .pointers = LWP_NONE};
    const struct lwp_share known = lwp_share_of(&walk->weight, &profile->total);
    const double more = awaits / walk->weight.weight;
    const struct lwp_share whole = {fmin(1, more * known.value), known.low, fmin(1, more * known.high)};
    return lwp_gain_in_array(profile, layout, walk, &whole, &after, &walked->gain);
}

bool lwp_walked_try(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity, struct lwp_split *walked)
{
    struct lwp_layout_loop walk;
    double awaits;
    return profile->code && lwp_engine_row(profile->engine)->cpu_time && layout->single && lwp_types_is_tree_node(layout->type) &&
           walked_loop(profile, layout, &walk, &awaits) && walked_in_array(profile, layout, affinity, &walk, awaits, walked) &&
           lwp_order_copied(profile, layout, awaits, &walked->gain);
}

/* An array takes the list's place, so nothing is copied, and what sorts or frees nodes along their links gains, too. */
void lwp_walked_list(struct lwp_profile *profile, struct lwp_split *ordered)
{
    const struct lwp_layout *layout = ordered->layout;
    const struct lwp_layout_loop *most = NULL;
    struct lwp_split array;
    if (!layout->container || ordered->pointers != LWP_NONE || !lwp_types_is_list_node(layout->type))
        return;
    double awaits = 0;
    for (size_t i = 0; i < layout->loop_count; i++) {
        const struct lwp_layout_loop *loop = &layout->loops[i];
        const bool first = loop->region == ordered->gain.loops[0].region;
        most = first ? loop : most;
        if (first || (loop->region != LWP_NONE && walked_goes(profile, layout, loop)))
            awaits += first ? profile->regions[loop->region].stalled : loop->weight.weight;
    }
    if (most && walked_in_array(profile, layout, ordered->affinity, most, awaits, &array) && array.gain.speedup > ordered->gain.speedup)
        *ordered = array;
}
