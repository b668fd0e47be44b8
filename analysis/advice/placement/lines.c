/* Cache lines for a visit, and for all of them. Sequentially a loop shares lines between neighbouring elements; randomly it pays for every
 * line its fields lie on. */
#include "analysis/advice/placement/lines.h"

#include <math.h>

/* Lines that visits have touched. */
struct lines_seen {
    uint64_t lines[2 * LWP_FIELDS_MAX];
    size_t count;
    uint64_t next; /* all lines below it are known from elements before; 0: none */
};

static uint64_t lines_touch(struct lines_seen *seen, uint64_t first, uint64_t last)
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

/* Lines for a visit within one group: the mean over many elements in a row, and over all places of a line the first can be at. */
static double lines_of_group(const struct lwp_placement *placement, const bool *uses, size_t g, uint64_t line, bool random)
{
    enum { ELEMENTS = 64 }; /* elements of any whole size start at each place of a line they can within so many */
    const struct lwp_placement_group *group = &placement->of[g];
    uint64_t step = group->alignment ? group->alignment : line, starts = step < line ? line / step : 1, touched = 0;
    for (uint64_t s = 0; s < starts; s++) {
        struct lines_seen seen = {0};
        for (uint64_t e = 0; e < 2 * ELEMENTS; e++) { /* the first half to get under way */
            uint64_t base = group->start + s * step + e * group->spacing, highest = 0, fresh = 0;
            seen.count = 0;
            if (random)
                seen.next = 0;
            for (size_t f = 0; f < placement->field_count; f++) {
                if (!uses[f] || !placement->bytes[f] || placement->group[f] != (int)g)
                    continue;
                uint64_t from = (base + placement->offsets[f]) / line;
                uint64_t to = (base + placement->offsets[f] + placement->bytes[f] - 1) / line;
                /* A big array member is hardly ever read whole for one visit: two lines of it count. */
                if (to > from + 1)
                    to = from + 1;
                fresh += lines_touch(&seen, from, to);
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

double lwp_placement_lines(const struct lwp_placement *placement, const bool *uses, uint64_t line, bool random)
{
    double total = 0;
    for (size_t g = 0; g < placement->groups; g++)
        total += lines_of_group(placement, uses, g, line, random);
    return total;
}

struct lwp_placement_need lwp_placement_needs(const struct lwp_placement *placement, const bool *uses, double elements, uint64_t line)
{
    struct lwp_placement_need need = {0};
    for (size_t g = 0; g < placement->groups; g++) {
        double spacing = (double)placement->of[g].spacing;
        double lines = lines_of_group(placement, uses, g, line, false);
        double random = lines_of_group(placement, uses, g, line, true);
        if (lines <= 0 && placement->linked && g == 0) {
            lines = fmin(1, spacing / (double)line);
            random = 1;
        }
        if (lines <= 0)
            continue;
        need.lines += lines;
        need.random += random;
        need.busy += elements * fmin(spacing, random * (double)line);
        need.spread += elements * spacing;
        need.spacing = fmax(need.spacing, spacing);
    }
    return need;
}
