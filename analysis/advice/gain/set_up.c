/* Loops that set memory up.
 *
 * In: times and places at which samples saw each loop on the elements. A loop sets them up when all that was seen of it comes before
 * anything that was seen of the others, and each of its threads moves on one way through the memory: it does so once. Where too few places
 * were seen to tell, a loop that takes little is believed to. */
#include "analysis/advice/gain/set_up.h"

#include "analysis/advice/gain/gain_model.h"
#include "analysis/measure/blocks.h"
#include "analysis/profile/regions.h"
#include "analysis/profile/streams.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { PLACES_NEEDED = 8, STORES_NEEDED = 3 /* of what is as frequent none is missed but for one case in twenty */ };

static const double page = 4096;

static const double little = 0.05, one_way = 0.9; /* of the structure's cost; of the moves */

/* When the loop was there first and last, in all objects. False: it was not seen. */
static bool set_up_times(const struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t region, uint64_t *first,
                         uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    for (size_t k = 0; k < layout->object_count; k++) {
        const struct lwp_traversal *traversal = lwp_traversals_of(&profile->traversals, layout->objects[k], region);
        for (uint32_t i = 0; traversal && i < traversal->count; i++) {
            const uint64_t time = traversal->places[i].time;
            *first = time < *first ? time : *first;
            *last = time > *last ? time : *last;
        }
    }
    return *first != UINT64_MAX;
}

bool lwp_gain_comes_before(const struct lwp_profile *profile, uint32_t region, uint32_t other)
{
    uint64_t last = 0, first = UINT64_MAX;
    for (size_t i = 0; i < profile->region_count; i++) {
        const uint32_t of = lwp_regions_final(profile, (uint32_t)i);
        if (of == region)
            LWP_RAISE(last, profile->regions[i].last_ns);
        if (of == other && profile->regions[i].first_ns)
            LWP_LOWER(first, profile->regions[i].first_ns);
    }
    return last > 0 && first != UINT64_MAX && last <= first; /* one sample may look from the one into the other */
}

static int set_up_compare(const void *a, const void *b)
{
    const struct lwp_traversal_place *x = a, *y = b;
    return LWP_COMPARE(x->thread, y->thread) ?: LWP_COMPARE(x->time, y->time);
}

/* Of the moves between one place and the next of a thread: those the way that most go, and all. */
static void set_up_moves(const struct lwp_traversal *traversal, size_t *most, size_t *all)
{
    size_t up = 0, down = 0;
    struct lwp_traversal_place sorted[LWP_TRAVERSAL_PLACES];
    const size_t count = traversal->count < LWP_TRAVERSAL_PLACES ? traversal->count : LWP_TRAVERSAL_PLACES;
    for (size_t i = 0; i < count; i++)
        sorted[i] = traversal->places[i];
    qsort(sorted, count, sizeof *sorted, set_up_compare);
    for (size_t i = 1; i < count; i++) {
        up += sorted[i].thread == sorted[i - 1].thread && sorted[i].offset > sorted[i - 1].offset;
        down += sorted[i].thread == sorted[i - 1].thread && sorted[i].offset < sorted[i - 1].offset;
    }
    *most += up > down ? up : down;
    *all += up + down;
}

bool lwp_gain_sets_up(const struct lwp_profile *profile, const struct lwp_layout *layout, size_t loop)
{
    uint64_t first, last, other_first, other_last;
    size_t most = 0, all = 0, others = 0;
    const uint32_t region = layout->loops[loop].region;
    if (region == LWP_NONE || !set_up_times(profile, layout, region, &first, &last))
        return false;
    for (size_t i = 0; i < layout->loop_count; i++) {
        if (i == loop || !set_up_times(profile, layout, layout->loops[i].region, &other_first, &other_last))
            continue;
        if (other_first < last)
            return false;
        others++;
    }
    for (size_t k = 0; k < layout->object_count; k++) {
        const struct lwp_traversal *traversal = lwp_traversals_of(&profile->traversals, layout->objects[k], region);
        if (traversal)
            set_up_moves(traversal, &most, &all);
    }
    if (all < PLACES_NEEDED)
        return others && layout->loops[loop].weight.weight < little * layout->weight.weight;
    return others && (double)most >= one_way * (double)all;
}

/* Whether the loop stores to the elements, and loads nothing of them. */
static bool set_up_stores(const struct lwp_profile *profile, const struct lwp_layout *layout, uint32_t region)
{
    uint64_t loads = 0, stores = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        LWP_STREAMS_OF(profile, layout->objects[k], stream) {
            loads += stream->region == region ? stream->loads : 0;
            stores += stream->region == region ? stream->stores : 0;
        }
    return !loads && stores >= STORES_NEEDED;
}

/* Whether the first that was seen of the elements is that they are stored to. */
static bool set_up_seen(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    uint64_t earliest = UINT64_MAX, first, last;
    bool stores = false;
    for (size_t i = 0; i < layout->loop_count; i++) {
        const uint32_t region = layout->loops[i].region;
        if (region == LWP_NONE || !set_up_times(profile, layout, region, &first, &last) || first >= earliest)
            continue;
        earliest = first;
        stores = set_up_stores(profile, layout, region);
    }
    return stores;
}

double lwp_gain_untouched(const struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_placement *after,
                          double elements, bool *sure)
{
    bool touched[LWP_FIELDS_MAX + 1] = {false};
    double fields = 0, left = 0;
    for (size_t f = 0; f < layout->field_count; f++) {
        fields += layout->fields[f].accesses > 0;
        touched[after->group[f]] |= layout->fields[f].accesses > 0;
    }
    for (size_t g = 0; g < after->groups; g++)
        left += touched[g] ? (double)after->of[g].spacing : 0;
    *sure = set_up_seen(profile, layout);
    return elements * fmax(0, fmin((double)layout->spacing, fields * page) - left);
}

double lwp_gain_apart(const struct lwp_layout *layout, const struct lwp_placement *after, double elements)
{
    double together = 0;
    if (!after->pooled)
        return 0;
    for (size_t g = 0; g < after->groups; g++)
        together += (double)after->of[g].spacing;
    /* What lies between these nodes are blocks of others, whose pages are made in any case. */
    return elements * fmax(0, (double)lwp_placement_chunk(layout->spacing + layout->around) - together);
}

/* Of all that was sampled: what is not in the layout's loops. */
static double set_up_beside(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    double loops = 0;
    for (size_t i = 0; i < layout->loop_count; i++)
        if (layout->loops[i].region != LWP_NONE && layout->loops[i].weight.weight >= little * layout->weight.weight)
            loops += profile->regions[layout->loops[i].region].weight.weight;
    return fmax(0, 1 - loops / profile->total.weight);
}

struct lwp_share lwp_gain_calls(const struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_placement *after,
                                double elements)
{
    struct lwp_share calls = {0};
    if (!after->pooled || profile->measure_most <= 0)
        return calls;
    const struct lwp_share each = lwp_measure_block_ns(layout->spacing + layout->around);
    const double most = lwp_gain_sampled(profile) * set_up_beside(profile, layout);
    calls.value = fmin(most, lwp_gain_of_time(profile, elements * each.value));
    calls.low = fmin(most, lwp_gain_of_time(profile, elements * each.low));
    calls.high = fmin(most, lwp_gain_of_time(profile, elements * each.high));
    return calls;
}
