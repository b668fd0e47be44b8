/* Cache-line traffic before and after a split, and the speed-up that makes plausible.
 *
 * Model: a loop pays for the cache lines it touches. Visiting elements one after the other it shares lines between
 * neighbours; jumping around it pays for every line its fields lie on, and gains when what it uses then fits the last
 * cache better. Which of the two it does is read from pairs of accesses in one sample; when that is not known the low
 * end takes the worse of both. Single blocks (tree nodes) lie malloc's chunk spacing apart.
 *
 * The whole program's time is 1; what a loop loses to the structure shrinks with the loop's traffic (Amdahl). That loss
 * is the stall weight on it, and in a loop that mostly waits also part of the time between stalls: a processor with
 * many loads in flight spreads one wait over several instructions. Low end: the lower bound of the share, 0.6
 * of the saving on stalls and little else (0.3 when the last cache already holds the object). High end: the upper
 * bound, all of it; of nodes also neighbour lines no longer prefetched in vain, and the nodes packed into blocks.
 *
 * Limits: no model of bandwidth or of prefetchers beyond this. */
#include "analysis/gain.h"

#include <math.h>
#include <string.h>

static const uint64_t usual_line = 64, usual_l3 = 16 << 20, pointer_bytes = 8;

uint64_t lwp_gain_pack(const struct lwp_layout *layout, const int *group, int which, size_t links, uint64_t *offsets)
{
    uint64_t size = 0, alignment = 1;
    for (size_t f = 0; f < layout->field_count; f++) {
        if (group[f] != which)
            continue;
        uint64_t align = layout->fields[f].alignment ? layout->fields[f].alignment : 1;
        size = (size + align - 1) / align * align;
        offsets[f] = size;
        size += layout->fields[f].bytes;
        if (align > alignment)
            alignment = align;
    }
    if (links) {
        size = (size + pointer_bytes - 1) / pointer_bytes * pointer_bytes + links * pointer_bytes;
        if (alignment < pointer_bytes)
            alignment = pointer_bytes;
    }
    return (size + alignment - 1) / alignment * alignment;
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

double lwp_gain_lines(const struct lwp_gain_placement *placement, const bool *uses, uint64_t line, bool jumping)
{
    enum { ELEMENTS = 64 }; /* elements of any whole size start at each place of a line they can within so many */
    double total = 0;
    for (size_t g = 0; g < placement->groups; g++) {
        uint64_t step = placement->alignment && placement->alignment[g] ? placement->alignment[g] : line;
        uint64_t starts = step < line ? line / step : 1, touched = 0;
        for (uint64_t s = 0; s < starts; s++) {
            struct gain_seen seen = {0};
            for (uint64_t e = 0; e < ELEMENTS; e++) {
                uint64_t base = s * step + e * placement->spacing[g], highest = 0;
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
                    touched += gain_touch(&seen, from, to);
                    if (to + 1 > highest)
                        highest = to + 1;
                }
                if (highest > seen.next)
                    seen.next = highest;
            }
        }
        total += (double)touched / (double)(ELEMENTS * starts);
    }
    return total;
}

/* One group of a split, elements `spacing` apart. */
static double gain_lines(const struct lwp_layout *layout, const bool *uses, const int *group, int which,
                         const uint64_t *offsets, uint64_t spacing, uint64_t line, bool random)
{
    uint64_t bytes[LWP_FIELDS_MAX];
    int part[LWP_FIELDS_MAX];
    for (size_t f = 0; f < layout->field_count; f++) {
        bytes[f] = layout->fields[f].bytes;
        part[f] = !group || group[f] == which ? 0 : -1;
    }
    struct lwp_gain_placement placement = {.field_count = layout->field_count,
                                           .offsets = offsets,
                                           .bytes = bytes,
                                           .group = part,
                                           .groups = 1,
                                           .spacing = &spacing};
    return lwp_gain_lines(&placement, uses, line, random);
}

static bool gain_uses_group(const struct lwp_layout *layout, const struct lwp_layout_loop *loop, const int *group,
                            int which)
{
    for (size_t f = 0; f < layout->field_count; f++)
        if (loop->uses[f] && group[f] == which)
            return true;
    return false;
}

static double gain_before(const struct lwp_layout *layout, const struct lwp_layout_loop *loop, uint64_t line,
                          bool random)
{
    uint64_t offsets[LWP_FIELDS_MAX];
    for (size_t f = 0; f < layout->field_count; f++)
        offsets[f] = layout->fields[f].offset;
    return gain_lines(layout, loop->uses, NULL, 0, offsets,
                      layout->single ? lwp_gain_chunk(layout->element_bytes) : layout->element_bytes, line, random);
}

/* The share of visits that miss a cache of `cache` bytes when they go anywhere in `bytes`. */
static double gain_misses(double bytes, double cache)
{
    return bytes > 0 ? fmax(0.05, 1 - cache / bytes) : 1;
}

/* The bytes a jumping loop keeps busy before and after: what no longer shares its lines makes room in the cache. */
static double gain_density(const struct lwp_layout *layout, const struct lwp_layout_loop *loop, const int *group,
                           size_t groups, double footprint, double line, double lines_before, double cache)
{
    uint64_t offsets[LWP_FIELDS_MAX];
    double elements = footprint / (double)layout->element_bytes, after = 0;
    double spacing = (double)(layout->single ? lwp_gain_chunk(layout->element_bytes) : layout->element_bytes);
    for (int g = -1; g < (int)groups; g++)
        if (gain_uses_group(layout, loop, group, g)) {
            uint64_t size = lwp_gain_pack(layout, group, g, layout->single && g == 0, offsets);
            after += elements * (double)(layout->single ? lwp_gain_chunk(size) : size);
        }
    double before = elements * fmin(spacing, lines_before * line);
    return gain_misses(fmin(after, before), cache) / gain_misses(before, cache);
}

static double gain_after(const struct lwp_layout *layout, const struct lwp_layout_loop *loop, const int *group,
                         size_t groups, uint64_t line, bool random, bool packed)
{
    uint64_t offsets[LWP_FIELDS_MAX] = {0};
    double lines = 0;
    bool cold = false;
    for (size_t f = 0; f < layout->field_count; f++)
        cold |= group[f] < 0;
    for (int g = cold ? -1 : 0; g < (int)groups; g++) {
        size_t links = layout->single && g == 0 ? groups - 1 + cold : 0;
        uint64_t size = lwp_gain_pack(layout, group, g, links, offsets);
        uint64_t spacing = layout->single && !packed ? lwp_gain_chunk(size) : size;
        if (gain_uses_group(layout, loop, group, g))
            lines += gain_lines(layout, loop->uses, group, g, offsets, spacing, line, random);
        else if (layout->single && g == 0) /* the way to the other parts leads through the first */
            lines += random ? 1 : fmin(1, (double)spacing / (double)line);
    }
    return lines;
}

/* The loop's time between stalls that goes with its stalls on this structure, and how much of the loop is stalls. */
static void gain_region(const struct lwp_profile *profile, const struct lwp_layout_loop *loop, double *between,
                        double *waiting)
{
    if (loop->region == LWP_NONE)
        return;
    const struct lwp_region *region = &profile->regions[loop->region];
    if (region->stalled <= 0 || region->weight.weight <= region->stalled)
        return;
    *between = (region->weight.weight - region->stalled) * fmin(1, loop->weight.weight / region->stalled);
    *waiting = region->stalled / region->weight.weight;
}

void lwp_gain_estimate(struct lwp_profile *profile, const struct lwp_layout *layout, const int *group, size_t groups,
                       struct lwp_gain *gain)
{
    uint64_t line = profile->machine.line_bytes ? profile->machine.line_bytes : usual_line, footprint = 0;
    uint64_t l3 = profile->machine.l3_bytes ? profile->machine.l3_bytes : usual_l3;
    for (size_t k = 0; k < layout->object_count; k++)
        footprint += profile->objects[layout->objects[k]].bytes;
    double arrives = footprint > l3 ? 0.6 : 0.3, all = profile->total.weight;
    struct lwp_share share = lwp_share_of(&layout->weight, &profile->total);
    double saved_low = 0, saved_high = 0, before = 0, after = 0;
    *gain = (struct lwp_gain){.loops = lwp_arena_alloc(profile->arena, layout->loop_count + 1, sizeof *gain->loops)};
    gain->low = gain->high = 1;
    if (share.value <= 0)
        return;
    for (size_t i = 0; i < layout->loop_count; i++) {
        const struct lwp_layout_loop *loop = &layout->loops[i];
        if (loop->weight.weight <= 0 || loop->used == 0)
            continue;
        bool known = loop->near + loop->far >= 10, random = known && loop->far > loop->near;
        double b[2], worse[2], better[2], low, high;
        for (int r = 0; r < 2; r++) {
            b[r] = gain_before(layout, loop, line, r);
            worse[r] = gain_after(layout, loop, group, groups, line, r, false);
            better[r] = gain_after(layout, loop, group, groups, line, r, true);
        }
        /* Other data wants the last cache too: the pessimist counts on a quarter of it. */
        worse[1] *= gain_density(layout, loop, group, groups, (double)footprint, (double)line, b[1], (double)l3 / 4);
        double density = gain_density(layout, loop, group, groups, (double)footprint, (double)line, b[1], (double)l3);
        better[1] *= density;
        if (layout->single) /* a chain of nodes waits for each one, in order or not */
            better[0] *= fmax(0.5, density);
        double spacing = (double)(layout->single ? lwp_gain_chunk(layout->element_bytes) : layout->element_bytes);
        double fetched = layout->single ? fmax(b[0], fmin(2 * b[0], spacing / (double)line)) : b[0];
        double low_of[2] = {1 - worse[0] / b[0], 1 - worse[1] / b[1]};
        double high_of[2] = {1 - better[0] / fetched, 1 - better[1] / b[1]};
        low = known ? low_of[random] : fmin(low_of[0], low_of[1]);
        high = known ? high_of[random] : high_of[0];
        double between = 0, waiting = 0;
        gain_region(profile, loop, &between, &waiting);
        double part = loop->weight.weight / layout->weight.weight;
        saved_low +=
            share.low / share.value / all * (loop->weight.weight + between * waiting) * (low > 0 ? low * arrives : low);
        saved_high += (share.high / share.value * loop->weight.weight + between * fmin(1, 2 * waiting)) / all * high;
        gain->loops[gain->loop_count++] = (struct lwp_gain_loop){loop->region, b[random], worse[random]};
        before += part * b[random];
        after += part * worse[random];
    }
    gain->before = before;
    gain->after = after;
    gain->low = 1 / (1 - fmin(saved_low, 0.98));
    gain->high = 1 / (1 - fmin(saved_high, 0.98));
}
