/* Elements in the place of the pointers that lead to them.
 *
 * Where an array has a pointer to each of its elements, and a loop comes to any of them, each visit is a memory stall for the pointer and,
 * once that is there, another one for the element. With the elements themselves in the array the first of both goes. It takes an array
 * whose pointers stay: none of them is stored once the loop has begun. */
#include "analysis/advice/layout/split_internal.h"

#include "analysis/elements/element_count.h"
#include "analysis/profile/regions.h"
#include "analysis/profile/streams.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/tables/engines.h"

static const double as_many = 1.25; /* pointers as elements, or elements as pointers: some lead nowhere, and some are not recorded */

/* The loop that waits for the elements longest. */
static size_t placed_loop(const struct lwp_layout *layout)
{
    size_t most = layout->loop_count;
    for (size_t i = 0; i < layout->loop_count; i++)
        if (layout->loops[i].used && (most == layout->loop_count || layout->loops[i].weight.weight > layout->loops[most].weight.weight))
            most = i;
    return most;
}

/* Whether the load leads one of the loop's accesses to the elements. */
static bool placed_leads(const struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_stream *load)
{
    for (size_t k = 0; k < layout->object_count; k++)
        LWP_STREAMS_OF(profile, layout->objects[k], stream)
            if (stream->region == load->region && stream->module == load->module &&
                lwp_code_begins(profile->code, load->module, load->address, stream->address))
                return true;
    return false;
}

/* The array of pointers by which the loop comes to elements, anywhere in it; LWP_NONE: none is known. */
static uint32_t placed_pointers(const struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t loop)
{
    const double elements = lwp_layout_elements(profile, layout);
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        const struct lwp_object *object = &profile->objects[stream->object];
        const double pointers = (double)lwp_element_used(object) / sizeof(void *);
        struct lwp_loop_shape shape;
        if (stream->region == loop && stream->module != LWP_NONE && stream->bytes == sizeof(void *) && !stream->stores && !stream->vector &&
            !object->single && pointers <= as_many * elements && elements <= as_many * pointers &&
            lwp_loop_shape(profile->code, stream->module, stream->address, &shape) && !shape.steps && !shape.stays &&
            placed_leads(profile, layout, stream))
            return stream->object;
    }
    return LWP_NONE;
}

/* Whether an element is of one type and one size, and no link of its own leads to it. */
static bool placed_fits(const struct lwp_layout *layout)
{
    const struct lwp_type *type = layout->type;
    return layout->single && type && type->kind == LWP_TYPE_STRUCT && !type->is_derived && !lwp_types_links_itself(type) &&
           !layout->container && !layout->around && !lwp_order_has_tails(layout) && type->owner != LWP_TYPE_OF_SYSTEM &&
           (type->language == LWP_LANGUAGE_C || type->language == LWP_LANGUAGE_CXX);
}

bool lwp_in_place_try(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity, struct lwp_split *placed)
{
    const size_t i = placed_loop(layout);
    if (!profile->code || !lwp_engine_row(profile->engine)->cpu_time || i == layout->loop_count || !placed_fits(layout))
        return false;
    const struct lwp_layout_loop *loop = &layout->loops[i];
    const uint32_t pointers =
        loop->region != LWP_NONE && !loop->descends && !loop->search ? placed_pointers(profile, layout, loop->region) : LWP_NONE;
    if (pointers == LWP_NONE || !lwp_order_stays(profile, pointers, lwp_order_anywhere, loop->region))
        return false;
    struct lwp_placement after;
    lwp_placement_today(profile, layout, &after);
    after.of[0].spacing = lwp_round_up(layout->type->bytes, layout->type->alignment);
    after.pooled = true;
    *placed = (struct lwp_split){.kind = LWP_SPLIT_IN_PLACE,
                                 .layout = layout,
                                 .affinity = affinity,
                                 .group = lwp_arena_alloc(profile->arena, layout->field_count, sizeof *placed->group),
                                 .groups = 1,
                                 .pooled = true,
                                 .pointers = pointers};
    return lwp_gain_in_place(profile, layout, i, pointers, &after, &placed->gain);
}

const char *lwp_in_place_write(struct lwp_profile *profile, const struct lwp_split *split)
{
    const struct lwp_type *type = split->layout->type;
    if (type->language == LWP_LANGUAGE_CXX)
        return lwp_arena_printf(profile->arena, "std::vector<%s> elements(count); // elements[i], where pointers[i] led\n", type->name);
    return lwp_arena_printf(profile->arena, "%s *elements = calloc(count, sizeof *elements); /* &elements[i], where pointers[i] was */\n",
                            type->name);
}
