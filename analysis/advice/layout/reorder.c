/* Field order: what is used together on as few cache lines as possible, and no holes.
 *
 * Where splitting does not pay, another order may: hot fields that lie on two lines come to lie on one, holes that alignment leaves
 * go, and the element shrinks. Elements that are visited randomly may be worth aligning to lines. Fields used together stand
 * together, the hottest first; within such a group large alignments come first, long arrays last. Not for derived C++ classes (bases
 * and the table of virtual functions have their place), nor for Rust, whose compiler chooses the order itself, nor for types of others
 * or those that were given an alignment on purpose. */
#include "analysis/advice/layout/split_internal.h"

#include <stdlib.h>

static const double padding_worth = 0.03; /* memory is not free: what padding must bring beyond the order alone */
static const double fewer = 0.95;         /* so many lines, of those before */

struct reorder_by {
    const struct lwp_layout_field *fields;
    const int *group;
    uint64_t long_bytes; /* a field above is long */
};

static int reorder_compare(const void *a, const void *b, void *by_)
{
    const struct reorder_by *by = by_;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    bool x_long = by->fields[x].bytes > by->long_bytes, y_long = by->fields[y].bytes > by->long_bytes;
    if (by->group[x] != by->group[y]) /* the cold fields last */
        return (unsigned)by->group[x] < (unsigned)by->group[y] ? -1 : 1;
    if (x_long != y_long)
        return x_long ? 1 : -1;
    if (by->fields[x].alignment != by->fields[y].alignment)
        return by->fields[x].alignment > by->fields[y].alignment ? -1 : 1;
    return x < y ? -1 : 1;
}

static bool reorder_allowed(const struct lwp_type *type)
{
    return type && !type->is_derived && !type->aligned && type->owner != LWP_TYPE_OF_SYSTEM &&
           (type->language == LWP_LANGUAGE_C || type->language == LWP_LANGUAGE_CXX || type->language == LWP_LANGUAGE_FORTRAN);
}

/* Whether visits take fewer lines also without those of fields longer than a line: which of their lines are used no field says, so that
 * what lies beside them may be on another line today, or then. */
static bool reorder_saves(const struct lwp_layout *layout, const struct lwp_placement *before, const struct lwp_placement *after,
                          uint64_t line)
{
    double lines[2][2] = {{0}}; /* sequential and random; before and after */
    bool any = false;
    for (size_t l = 0; l < layout->loop_count; l++) {
        const struct lwp_layout_loop *loop = &layout->loops[l];
        bool uses[LWP_FIELDS_MAX];
        for (size_t f = 0; f < layout->field_count; f++) {
            uses[f] = loop->uses[f] && layout->fields[f].bytes <= line;
            any |= loop->uses[f] && !uses[f];
        }
        for (int random = 0; random < 2; random++) {
            lines[random][0] += loop->weight.weight * lwp_placement_lines(before, uses, line, random);
            lines[random][1] += loop->weight.weight * lwp_placement_lines(after, uses, line, random);
        }
    }
    return !any || lines[0][1] < fewer * lines[0][0] || lines[1][1] < fewer * lines[1][0];
}

/* False: the new structure would be larger without need (the old one was declared packed). */
static bool reorder_gain(struct lwp_profile *profile, struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    struct lwp_split_part part;
    struct lwp_placement before, after;
    lwp_split_part(split, 0, &part);
    if (part.bytes > layout->element_bytes && !split->align)
        return false;
    lwp_placement_today(profile, layout, &after);
    for (size_t i = 0; i < part.count; i++)
        after.offsets[part.fields[i]] = part.offsets[i];
    if (split->align)
        after.of[0] = (struct lwp_placement_group){.spacing = part.bytes, .alignment = split->align};
    else if (layout->single) /* what lies between elements today stays there */
        after.of[0].spacing -=
            lwp_placement_chunk(layout->spacing + layout->around) - lwp_placement_chunk(part.bytes + layout->behind + layout->around);
    else
        after.of[0].spacing = part.bytes + layout->spacing - layout->element_bytes;
    lwp_placement_today(profile, layout, &before);
    if (!reorder_saves(layout, &before, &after, lwp_gain_caches(profile->machine).line_bytes))
        return false;
    lwp_gain_between(profile, layout, &after, &split->gain);
    return true;
}

/* Whether anything comes to lie elsewhere: fields that end in as many elements as were asked for have but one order, perhaps. */
static bool reorder_moves(const struct lwp_split *split)
{
    struct lwp_split_part part;
    lwp_split_part(split, 0, &part);
    bool moves = split->align || part.bytes + split->layout->behind != split->layout->element_bytes;
    for (size_t i = 0; i < part.count && !moves; i++)
        moves = part.offsets[i] != split->layout->fields[part.fields[i]].offset;
    return moves;
}

/* An alignment that keeps elements from lying across lines and does not waste more than a third; 0: none. */
static uint64_t reorder_alignment(const struct lwp_layout *layout, const struct lwp_split *split, uint64_t line)
{
    struct lwp_split_part part;
    uint64_t align = line;
    lwp_split_part(split, 0, &part);
    while (align / 2 >= part.bytes)
        align /= 2;
    uint64_t padded = (part.bytes + align - 1) / align * align;
    bool straddles = part.bytes > line ? part.bytes % line != 0 : (part.bytes & (part.bytes - 1)) != 0;
    bool between = !layout->single && layout->spacing > layout->element_bytes;
    return straddles && !between && 3 * padded <= 4 * layout->element_bytes ? align : 0;
}

bool lwp_reorder_try(struct lwp_profile *profile, const struct lwp_layout *layout, const double *affinity, const int *group,
                     struct lwp_split *reordered)
{
    uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    size_t fields = layout->field_count;
    if (!reorder_allowed(layout->type) || fields > LWP_FIELDS_MAX)
        return false;
    struct reorder_by by = {layout->fields, group, line / 2};
    size_t *order = lwp_arena_alloc(profile->arena, fields, sizeof *order);
    int *one = lwp_arena_alloc(profile->arena, fields, sizeof *one); /* all in part 0 */
    for (size_t f = 0; f < fields; f++)
        order[f] = f;
    qsort_r(order, fields, sizeof *order, reorder_compare, &by);
    *reordered =
        (struct lwp_split){.kind = LWP_SPLIT_REORDER, .layout = layout, .affinity = affinity, .group = one, .groups = 1, .order = order};
    if (!reorder_gain(profile, reordered))
        return false;
    struct lwp_split padded = *reordered;
    padded.align = reorder_alignment(layout, reordered, line);
    if (padded.align && reorder_gain(profile, &padded) && padded.gain.low > reordered->gain.low + padding_worth)
        *reordered = padded;
    return reorder_moves(reordered) && reordered->gain.after < fewer * reordered->gain.before;
}
