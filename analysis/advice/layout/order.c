/* Elements that lie in another order than that in which a loop goes to them.
 *
 * A list, and an array of pointers or of indices, lead a loop through its elements in the same order each time. Where that is not the order
 * in which they lie, each visit is a memory stall; laid down in it, they are a stream. It pays where the loop goes through all elements
 * often, as copying them is one more pass of each kind, and where the order stays: no links, or pointers of the array, are stored once the
 * loop has begun. */
#include "analysis/advice/layout/split_internal.h"

#include "analysis/advice/gain/chain.h"
#include "analysis/advice/gain/set_up.h"
#include "analysis/advice/gain/visit.h"
#include "analysis/elements/element_count.h"
#include "analysis/elements/element_place.h"
#include "analysis/profile/streams.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/tables/engines.h"

#include <math.h>

static const double as_many = 1.25; /* numbers as elements, or elements as numbers */
static const double keeps_to = 0.5; /* of a stream's accesses, that are at one place of their elements */
static const double matters_least = 0.02;

/* The loop that waits for the elements longest, in the order that its own code gives. NULL: it has none, or another loop goes to nodes in
 * the order in which they lie. */
static const struct lwp_layout_loop *order_loop(const struct lwp_layout *layout)
{
    const struct lwp_layout_loop *most = NULL;
    for (size_t i = 0; i < layout->loop_count; i++)
        if (layout->loops[i].used && (!most || layout->loops[i].weight.weight > most->weight.weight))
            most = &layout->loops[i];
    for (size_t i = 0; i < layout->loop_count && most && layout->single; i++) {
        const struct lwp_layout_loop *other = &layout->loops[i];
        if (other != most && other->near > other->far && other->weight.weight > matters_least * layout->weight.weight)
            return NULL;
    }
    return most && most->region != LWP_NONE && !most->descends && !most->search ? most : NULL;
}

bool lwp_order_stays(const struct lwp_profile *profile, uint32_t object, uint64_t place, uint32_t loop)
{
    bool stays = true;
    LWP_STREAMS_OF(profile, object, stream) {
        uint64_t at;
        const bool other = place != lwp_order_anywhere && lwp_element_stream_place(profile, stream, &at) >= keeps_to && at != place;
        if (stream->stores && !other) /* what frees them writes to them, too */
            stays &= lwp_gain_comes_before(profile, stream->region, loop) || lwp_gain_comes_before(profile, loop, stream->region);
    }
    return stays;
}

/* Whether libstdc++ changes links of a list's nodes each time that the loop has gone along them: nodes at hand are hardly waited for, so
 * that samples need not show it. The code does not show whether it is the same list. */
static bool order_links_anew(const struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_stream *stream)
{
    return layout->container && lwp_code_around_calls(profile->code, stream->module, stream->address, "_ZNSt8__detail15_List_node_base");
}

/* Along links in the elements, which are `at` this place of them. */
static bool order_of_links(const struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t loop, uint64_t *at)
{
    bool found = false, stays = true;
    for (size_t k = 0; k < layout->object_count; k++)
        LWP_STREAMS_OF(profile, layout->objects[k], stream) {
            uint64_t link;
            if (stream->region != loop || stream->module == LWP_NONE || stream->bytes != sizeof(void *) ||
                !lwp_loop_leads(profile->code, stream->module, stream->address) ||
                lwp_element_stream_place(profile, stream, &link) < keeps_to)
                continue;
            found = true;
            *at = link;
            stays &= !order_links_anew(profile, layout, stream);
            for (size_t o = 0; o < layout->object_count; o++)
                stays &= lwp_order_stays(profile, layout->objects[o], link, loop);
        }
    return found && stays;
}

/* Whether the loop goes to the elements by numbers that it loads, not by pointers. */
static bool order_by_index(const struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t loop)
{
    bool by_index = false;
    for (size_t k = 0; k < layout->object_count && !layout->single; k++)
        LWP_STREAMS_OF(profile, layout->objects[k], stream) {
            struct lwp_loop_shape shape;
            if (stream->region == loop && stream->module != LWP_NONE &&
                lwp_loop_shape(profile->code, stream->module, stream->address, &shape)) {
                if (!lwp_gain_by_index(&shape))
                    return false;
                by_index = true;
            }
        }
    return by_index;
}

/* The array of numbers that the loop steps through, as many as there are elements; LWP_NONE: none is known, or there are several. */
static uint32_t order_indices(const struct lwp_profile *profile, uint32_t loop, double elements)
{
    uint32_t found = LWP_NONE;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        const bool fits = stream->bytes == sizeof(uint32_t) || stream->bytes == sizeof(uint64_t);
        struct lwp_loop_shape shape;
        if (stream->region != loop || stream->module == LWP_NONE || !fits || stream->stores || stream->object == found)
            continue;
        const double numbers = (double)lwp_element_used(&profile->objects[stream->object]) / stream->bytes;
        if (numbers > as_many * elements || elements > as_many * numbers ||
            !lwp_loop_shape(profile->code, stream->module, stream->address, &shape) || !shape.steps || !shape.step ||
            shape.step % stream->bytes)
            continue;
        if (found != LWP_NONE)
            return LWP_NONE;
        found = stream->object;
    }
    return found;
}

bool lwp_order_has_tails(const struct lwp_layout *layout)
{
    return layout->behind || (layout->type && lwp_types_is_open(layout->type));
}

/* The nodes in the order of the loop: in one array, or as malloc has those of a container. */
static void order_place(const struct lwp_profile *profile, const struct lwp_layout *layout, struct lwp_placement *after)
{
    lwp_placement_today(profile, layout, after);
    const uint64_t bytes = layout->spacing + layout->around;
    if (layout->single)
        after->of[0].spacing = layout->container ? lwp_placement_chunk(bytes) : lwp_round_up(bytes, sizeof(void *));
    after->ordered = true;
}

/* What copying the elements takes, in parts of all time. */
struct order_copy {
    double pass;  /* over all of them in today's order */
    double pages; /* that are made for the copies */
};

/* A speed-up of the program when the elements are copied first: to write them takes as much less than to read them as the loop, which is
 * `whole` of all time, becomes faster. */
static double order_with_copy(double speedup, struct order_copy copy, double off, double whole)
{
    const double left = 1 / speedup, loop = fmax(0, whole - (1 - left));
    return 1 / (left + copy.pass * off * (1 + loop / whole) + copy.pages);
}

bool lwp_order_copied(struct lwp_profile *profile, const struct lwp_layout *layout, double weight, struct lwp_gain *gain)
{
    const double visit = gain->program_ns > 0 ? gain->program_ns : gain->pattern_ns, all = profile->total.weight, whole = weight / all,
                 elements = lwp_layout_elements(profile, layout), off = 1 + lwp_gain_pace_agrees;
    const struct order_copy copy = {.pass = visit * elements / all, .pages = lwp_gain_pages(profile, elements * (double)layout->spacing)};
    if (visit <= 0)
        return false;
    gain->speedup = order_with_copy(gain->speedup, copy, 1, whole);
    gain->low = order_with_copy(gain->low, copy, off, whole);
    gain->high = order_with_copy(gain->high, copy, 1 / off, whole);
    return true;
}

bool lwp_order_try(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity, struct lwp_split *ordered)
{
    const struct lwp_layout_loop *loop = order_loop(layout);
    if (!loop || !profile->code || lwp_types_is_tree_node(layout->type) || !lwp_engine_row(profile->engine)->cpu_time)
        return false;
    if (lwp_order_has_tails(layout) && !layout->single) /* carved out of blocks: how far apart they lie is not known */
        return false;
    const bool by_index = order_by_index(profile, layout, loop->region);
    const double elements = lwp_layout_elements(profile, layout);
    const uint32_t pointers =
        by_index ? order_indices(profile, loop->region, elements) : lwp_gain_pointers(profile, loop->region, elements);
    uint64_t link = 0;
    const bool stays = pointers != LWP_NONE ? lwp_order_stays(profile, pointers, lwp_order_anywhere, loop->region)
                                            : order_of_links(profile, layout, loop->region, &link);
    if (!stays)
        return false;
    struct lwp_placement after;
    order_place(profile, layout, &after);
    *ordered = (struct lwp_split){.kind = LWP_SPLIT_ORDER,
                                  .layout = layout,
                                  .affinity = affinity,
                                  .group = lwp_arena_alloc(profile->arena, layout->field_count, sizeof *ordered->group),
                                  .groups = 1,
                                  .pooled = true,
                                  .pointers = pointers,
                                  .by_index = by_index && pointers != LWP_NONE,
                                  .link = link};
    return lwp_gain_in_order(profile, layout, (size_t)(loop - layout->loops), &after, &ordered->gain) &&
           lwp_order_copied(profile, layout, profile->regions[loop->region].weight.weight, &ordered->gain);
}
