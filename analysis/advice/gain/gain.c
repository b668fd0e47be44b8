/* Cache-line traffic before and after a new layout, and the speed-up that makes plausible.
 *
 * In: a layout, the fields each loop uses and how it walks. Visiting elements one after the other a loop shares lines
 * between neighbours; jumping around it pays for every line its fields lie on. Which of the two it does is read from
 * pairs of accesses in one sample. Single blocks (tree nodes) lie malloc's chunk spacing apart; the optimist counts on
 * the new nodes being packed into blocks, as the advice says.
 *
 * The whole program's time is 1; what a loop loses to the structure shrinks with what gain_model.c says (Amdahl). Low
 * end: with the lower bound of the structure's share; high end: with the upper. */
#include "analysis/advice/gain/gain.h"

#include "analysis/advice/gain/member_packing.h"

#include <math.h>

static const uint64_t usual_line = 64, pointer_bytes = 8, malloc_alignment = 16;

uint64_t lwp_gain_pack(const struct lwp_layout *layout, const int *group, int which, size_t links, uint64_t *offsets)
{
    struct lwp_member_packing packing = {0};
    for (size_t f = 0; f < layout->field_count; f++)
        if (group[f] == which)
            offsets[f] = lwp_member_packing_add(&packing, layout->fields[f].bytes, layout->fields[f].alignment);
    if (links)
        lwp_member_packing_add(&packing, links * pointer_bytes, pointer_bytes);
    return lwp_member_packing_size(&packing);
}

uint64_t lwp_gain_chunk(uint64_t bytes)
{
    uint64_t chunk = (bytes + 8 + 15) / 16 * 16;
    return chunk < 32 ? 32 : chunk;
}

/* The lines [from, to] of elements that lie `spacing` apart, without those counted already. */
struct gain_seen {
    uint64_t lines[2 * LWP_FIELDS_MAX];
    size_t count;
    uint64_t next; /* all lines below it are known from elements before; 0: none */
};

static uint64_t gain_touch(struct gain_seen *seen, uint64_t first, uint64_t last)
{
    uint64_t fresh = 0;
    for (uint64_t at = first; at <= last; at++) {
        bool known = at < seen->next;
        for (size_t i = 0; i < seen->count && !known; i++)
            known = seen->lines[i] == at;
        if (known || seen->count == sizeof seen->lines / sizeof *seen->lines)
            continue;
        seen->lines[seen->count++] = at;
        fresh++;
    }
    return fresh;
}

/* Lines for a visit within one group. */
static double gain_group_lines(const struct lwp_gain_placement *placement, const bool *uses, size_t g, uint64_t line,
                               bool jumping)
{
    enum { ELEMENTS = 64 }; /* elements of any whole size start at each place of a line they can within so many */
    uint64_t step = placement->alignment && placement->alignment[g] ? placement->alignment[g] : line, touched = 0;
    uint64_t starts = step < line ? line / step : 1, start = placement->start ? placement->start[g] : 0;
    for (uint64_t s = 0; s < starts; s++) {
        struct gain_seen seen = {0};
        for (uint64_t e = 0; e < 2 * ELEMENTS; e++) { /* the first half to get under way */
            uint64_t base = start + s * step + e * placement->spacing[g], highest = 0, fresh = 0;
            seen.count = 0;
            if (jumping)
                seen.next = 0;
            for (size_t f = 0; f < placement->field_count; f++) {
                if (!uses[f] || !placement->bytes[f] || (placement->group ? placement->group[f] : 0) != (int)g)
                    continue;
                uint64_t from = (base + placement->offsets[f]) / line;
                uint64_t to = (base + placement->offsets[f] + placement->bytes[f] - 1) / line;
                /* A big array member is hardly ever read whole for one visit: two lines of it count. */
                if (to > from + 1)
                    to = from + 1;
                fresh += gain_touch(&seen, from, to);
                if (to + 1 > highest)
                    highest = to + 1;
            }
            if (highest > seen.next)
                seen.next = highest;
            if (e >= ELEMENTS)
                touched += fresh;
        }
    }
    return (double)touched / (double)(ELEMENTS * starts);
}

double lwp_gain_lines(const struct lwp_gain_placement *placement, const bool *uses, uint64_t line, bool jumping)
{
    double total = 0;
    for (size_t g = 0; g < placement->groups; g++)
        total += gain_group_lines(placement, uses, g, line, jumping);
    return total;
}

/* What a loop that uses these fields wants of memory. */
static struct lwp_gain_need gain_need(const struct lwp_gain_placement *placement, const bool *uses, double elements,
                                      uint64_t line)
{
    struct lwp_gain_need need = {0};
    for (size_t g = 0; g < placement->groups; g++) {
        double spacing = (double)placement->spacing[g];
        double lines = gain_group_lines(placement, uses, g, line, false);
        double jumping = gain_group_lines(placement, uses, g, line, true);
        if (lines <= 0 && placement->linked && g == 0) {
            lines = fmin(1, spacing / (double)line);
            jumping = 1;
        }
        if (lines <= 0)
            continue;
        need.lines += lines;
        need.jumping += jumping;
        need.busy += elements * fmin(spacing, jumping * (double)line);
        need.spread += elements * spacing;
        need.spacing = fmax(need.spacing, spacing);
    }
    return need;
}

/* Arrays of fields: a placement that owns what it points to. */
struct gain_place {
    struct lwp_gain_placement placement;
    uint64_t offsets[LWP_FIELDS_MAX], bytes[LWP_FIELDS_MAX];
    uint64_t spacing[LWP_FIELDS_MAX + 1], alignment[LWP_FIELDS_MAX + 1], start[LWP_FIELDS_MAX + 1];
    int group[LWP_FIELDS_MAX];
};

static void gain_place(const struct lwp_profile *profile, const struct lwp_layout *layout, struct gain_place *place)
{
    bool heap =
        profile->objects[layout->objects[0]].kind == LWP_OBJECT_HEAP && !(layout->type && layout->type->aligned);
    place->placement = (struct lwp_gain_placement){.field_count = layout->field_count,
                                                   .offsets = place->offsets,
                                                   .bytes = place->bytes,
                                                   .group = place->group,
                                                   .spacing = place->spacing,
                                                   .alignment = place->alignment,
                                                   .start = place->start};
    for (size_t g = 0; g <= LWP_FIELDS_MAX; g++) {
        place->alignment[g] = layout->single ? malloc_alignment : 0;
        place->start[g] = heap && !layout->single ? malloc_alignment : 0;
    }
    for (size_t f = 0; f < layout->field_count; f++)
        place->bytes[f] = layout->fields[f].bytes;
}

/* As the elements lie today. */
static void gain_place_today(const struct lwp_profile *profile, const struct lwp_layout *layout,
                             struct gain_place *place)
{
    gain_place(profile, layout, place);
    place->placement.groups = 1;
    place->spacing[0] = layout->single ? lwp_gain_chunk(layout->element_bytes) : layout->element_bytes;
    for (size_t f = 0; f < layout->field_count; f++) {
        place->offsets[f] = layout->fields[f].offset;
        place->group[f] = 0;
    }
}

/* Split; `packed`: nodes in blocks of their own, not from malloc one by one. */
static void gain_place_split(const struct lwp_profile *profile, const struct lwp_layout *layout, const int *group,
                             size_t groups, bool packed, struct gain_place *place)
{
    bool cold = false;
    gain_place(profile, layout, place);
    for (size_t f = 0; f < layout->field_count; f++) {
        cold |= group[f] < 0;
        place->group[f] = group[f] < 0 ? (int)groups : group[f];
    }
    for (size_t g = 0; g < groups + cold; g++) {
        size_t links = (layout->single || layout->linked) && g == 0 ? groups - 1 + cold : 0;
        uint64_t size = lwp_gain_pack(layout, group, g == groups ? -1 : (int)g, links, place->offsets);
        place->spacing[g] = layout->single && !packed ? lwp_gain_chunk(size) : size;
        if (packed)
            place->alignment[g] = 0;
    }
    place->placement.groups = groups + cold;
    place->placement.linked = layout->single || layout->linked;
}

/* The access of the loop that waits most: its code tells how the loop walks. */
static const struct lwp_stream *gain_stream(const struct lwp_profile *profile, const struct lwp_layout *layout,
                                            uint32_t region)
{
    const struct lwp_stream *most = NULL;
    for (size_t k = 0; k < layout->object_count; k++)
        for (uint32_t i = profile->object_streams[layout->objects[k]]; i != LWP_NONE;
             i = profile->streams[i].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[i];
            if (stream->region == region && (!most || stream->weight.weight > most->weight.weight))
                most = stream;
        }
    return most;
}

/* `worst_place` and `best_place`: the new layout as pessimists and optimists expect it. */
static void gain_between(struct lwp_profile *profile, const struct lwp_layout *layout,
                         const struct lwp_gain_placement *worst_place, const struct lwp_gain_placement *best_place,
                         struct lwp_gain *gain)
{
    struct gain_place today;
    uint64_t line = profile->machine.line_bytes ? profile->machine.line_bytes : usual_line;
    double all = profile->total.weight, saved_low = 0, saved_high = 0, bytes = 0;
    struct lwp_share share = lwp_share_of(&layout->weight, &profile->total);
    *gain = (struct lwp_gain){.loops = lwp_arena_alloc(profile->arena, layout->loop_count + 1, sizeof *gain->loops)};
    gain->low = gain->high = 1;
    if (share.value <= 0 || !layout->element_bytes || !lwp_gain_known(profile))
        return;
    for (size_t k = 0; k < layout->object_count; k++)
        bytes += (double)profile->objects[layout->objects[k]].bytes;
    double elements = fmax(1, bytes / (double)layout->element_bytes);
    gain_place_today(profile, layout, &today);
    for (size_t i = 0; i < layout->loop_count; i++) {
        const struct lwp_layout_loop *loop = &layout->loops[i];
        if (loop->weight.weight <= 0 || loop->used == 0)
            continue;
        struct lwp_gain_need before = gain_need(&today.placement, loop->uses, elements, line);
        struct lwp_gain_need worst = gain_need(worst_place, loop->uses, elements, line);
        struct lwp_gain_need best = gain_need(best_place, loop->uses, elements, line);
        const struct lwp_stream *stream = gain_stream(profile, layout, loop->region);
        struct lwp_gain_walk walk = {.pattern = loop->near + loop->far < 10 ? LWP_GAIN_UNKNOWN
                                                : loop->far > loop->near    ? LWP_GAIN_JUMPING
                                                                            : LWP_GAIN_IN_ORDER};
        struct lwp_loop_shape shape = {0};
        if (stream && profile->code && lwp_loop_shape(profile->code, stream->module, stream->address, &shape)) {
            walk.chained = shape.chained;
            if (walk.pattern == LWP_GAIN_UNKNOWN && shape.steps)
                walk.pattern = LWP_GAIN_IN_ORDER;
            /* Unrolled loops visit several elements each time round. */
            walk.instructions = shape.instructions / fmax(1, (double)loop->stride / (double)layout->element_bytes);
        }
        walk.chained |= layout->single;
        struct lwp_gain_range waiting = lwp_gain_waiting(profile, loop->region, loop->weight.weight, &shape);
        struct lwp_gain_range saved = lwp_gain_saved(&profile->machine, walk, &before, &worst, &best);
        saved_low += share.low / share.value * saved.low * (saved.low > 0 ? waiting.low : waiting.high) / all;
        /* No loop can save more time than it takes. */
        double whole = loop->region == LWP_NONE ? waiting.high : profile->regions[loop->region].weight.weight;
        saved_high += saved.high * fmin(share.high / share.value * waiting.high, fmax(whole, waiting.high)) / all;
        bool jumps = walk.pattern == LWP_GAIN_JUMPING;
        double part = loop->weight.weight / layout->weight.weight;
        gain->loops[gain->loop_count++] = (struct lwp_gain_loop){loop->region, jumps ? before.jumping : before.lines,
                                                                 jumps ? worst.jumping : worst.lines};
        gain->bytes_before += part * before.busy;
        gain->bytes_after += part * worst.busy;
        gain->before += part * (jumps ? before.jumping : before.lines);
        gain->after += part * (jumps ? worst.jumping : worst.lines);
    }
    struct lwp_gain_range speedup = lwp_gain_speedup(saved_low, saved_high / (1 - lwp_gain_spinning(profile)));
    gain->low = speedup.low;
    gain->high = fmax(speedup.low, speedup.high);
}

void lwp_gain_estimate(struct lwp_profile *profile, const struct lwp_layout *layout, const int *group, size_t groups,
                       struct lwp_gain *gain)
{
    struct gain_place worst, best;
    gain_place_split(profile, layout, group, groups, false, &worst);
    gain_place_split(profile, layout, group, groups, true, &best);
    gain_between(profile, layout, &worst.placement, &best.placement, gain);
}

void lwp_gain_of_placement(struct lwp_profile *profile, const struct lwp_layout *layout,
                           const struct lwp_gain_placement *after, struct lwp_gain *gain)
{
    gain_between(profile, layout, after, after, gain);
}
