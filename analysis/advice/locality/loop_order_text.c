/* How loop order is said. */
#include "analysis/advice/locality/loop_order_internal.h"

#include "analysis/caches/tlb.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *order_place(struct lwp_profile *profile, const struct lwp_region *region)
{
    const char *lines = lwp_regions_lines(profile, region);
    return lines ? lwp_arena_printf(profile->arena, "at %s", lines)
                 : lwp_arena_printf(profile->arena, "in %s", region->function ? region->function : "code without a name");
}

/* "b, c and d": the objects walked by column, the most stalled first. */
static const char *order_names(const struct lwp_order *order)
{
    const struct lwp_order_access *sorted[LWP_ORDER_ACCESSES] = {0};
    struct lwp_profile *profile = order->profile;
    size_t count = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *access = &order->accesses[i];
        size_t at = 0, k;
        if (access->step.kind != LWP_ORDER_COLUMN)
            continue;
        for (k = 0; k < count && sorted[k]->stream->object != access->stream->object; k++)
            ;
        if (k < count) {
            sorted[k] = access->stream->weight.weight > sorted[k]->stream->weight.weight ? access : sorted[k];
            continue;
        }
        while (at < count && sorted[at]->stream->weight.weight >= access->stream->weight.weight)
            at++;
        memmove(&sorted[at + 1], &sorted[at], (count - at) * sizeof *sorted);
        sorted[at] = access;
        count++;
    }
    const char *names[LWP_ORDER_ACCESSES];
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = lwp_objects_name(profile, sorted[i]->stream->object);
        size_t same = 0, before = 0;
        for (size_t k = 0; k < count; k++) {
            const bool equal = strcmp(name, lwp_objects_name(profile, sorted[k]->stream->object)) == 0;
            same += equal, before += equal && k < i;
        }
        if (!before)
            names[named++] = same > 1 ? lwp_arena_printf(profile->arena, "%s (%zu arrays)", name, same) : name;
    }
    return lwp_arena_list(profile->arena, names, named, 0);
}

/* Steps of a power of two lead to few sets of a cache. Rows a line longer lead to all: where the second level then holds the lines of a
 * column, and now does not, and the TLB their pages, that helps without another order; "" elsewhere. */
static const char *order_padding(const struct lwp_order *order, const struct lwp_order_access *column)
{
    const struct lwp_caches caches = lwp_gain_caches(order->profile->machine);
    const uint64_t step = (uint64_t)llabs(column->step.bytes), line = caches.line_bytes;
    const double now = lwp_order_capacity(caches.l2_bytes, step, line);
    const double pages = order->rows * fmin(1, (double)(step >> LWP_TLB_PAGE_SHIFT));
    if (column->step.blocks || order->rows <= now || pages > LWP_TLB_PAGES ||
        order->rows > lwp_order_capacity(caches.l2_bytes, step + line, line) / 2)
        return "";
    return lwp_arena_printf(order->profile->arena,
                            " Where the loops must stay as they are, make each row of %s %llu bytes longer (%llu + %llu): at this distance "
                            "the second-level cache holds %.0f lines of a column, which has at least %.0f.",
                            lwp_objects_name(order->profile, column->stream->object), (unsigned long long)line, (unsigned long long)step,
                            (unsigned long long)line, now, order->rows);
}

/* What is stored at one place, which the loop around moves along a row that the loop also loads: a later sum is made of earlier ones. */
static const char *order_earlier_sums(const struct lwp_order *order)
{
    int64_t by, other;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *sum = &order->accesses[i];
        if (sum->step.kind != LWP_ORDER_STAYS || !sum->stream->stores ||
            lwp_order_moves(order, sum, order->outer.level, &by) != LWP_LOOP_STEP_CONSTANT || !by)
            continue;
        for (size_t k = 0; k < order->count; k++) {
            const struct lwp_order_access *row = &order->accesses[k];
            if (row->step.kind == LWP_ORDER_ROW && row->stream->loads && row->stream->object == sum->stream->object &&
                row->step.bytes == by && lwp_order_moves(order, row, order->outer.level, &other) == LWP_LOOP_STEP_CONSTANT && !other)
                return lwp_arena_printf(
                    order->profile->arena,
                    " It adds to %s what it has added up there before: in the new order, finish each of these, with all "
                    "that the loop around does to it, just before the inner loop goes on with it.",
                    lwp_objects_name(order->profile, sum->stream->object));
        }
    }
    return "";
}

void lwp_order_text(const struct lwp_order *order, const struct lwp_order_access *column, bool interchange, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = order->profile;
    const struct lwp_region *region = &profile->regions[order->region];
    const uint32_t parent = order->outer.level ? order->outer.region : region->parent;
    const struct lwp_region *around = parent == LWP_NONE ? NULL : &profile->regions[parent];
    const char *names = order_names(order), *here = order_place(profile, region);
    const bool nest = around && !around->is_function;
    const char *outer = nest ? lwp_arena_printf(profile->arena, "the loop %s", order_place(profile, around)) : "the code around it";
    const char *step = column->step.blocks
                           ? lwp_arena_printf(profile->arena, "from one block to the next (%lld bytes)", llabs(column->step.bytes))
                           : lwp_arena_printf(profile->arena, "with a stride of %lld bytes", llabs(column->step.bytes));
    const long long by = order->outer.level ? llabs(order->outer.by) : (long long)column->columns.apart;
    tip->title = lwp_arena_printf(profile->arena, "The loop %s traverses %s column by column, %s; %s moves by %lld byte%s: %s", here, names,
                                  step, outer, by, by == 1 ? "" : "s",
                                  !interchange ? "block the two"
                                  : nest       ? "interchange the two"
                                               : "interchange them or transpose");
    const long long block = (long long)(profile->machine.line_bytes / column->columns.apart);
    if (interchange && nest)
        tip->next_step = lwp_arena_printf(
            profile->arena,
            "Loop interchange: make %s the inner one and the loop %s the outer one, if no loop-carried dependence "
            "forbids it ('lwp patch' checks that in C, and makes the change)%s. %.0f iterations then use a line that one uses "
            "now. Otherwise keep a "
            "transposed copy. To count misses: lwp collect -e exact --detect locality.",
            outer, here,
            lwp_order_sums_on(order, column) ? "" : "; a variable that goes from iteration to iteration, such as a sum, becomes an array",
            1 / column->columns.lines);
    else if (interchange)
        tip->next_step = lwp_arena_printf(profile->arena,
                                          "The loop %s goes down one column each time it is run, and other runs go "
                                          "down the columns beside it. Let it "
                                          "go over several columns at a time, with the loop over columns as the inner "
                                          "one, or keep a transposed copy. "
                                          "To count misses: lwp collect -e exact --detect locality.",
                                          here);
    else
        tip->next_step =
            lwp_arena_printf(profile->arena,
                             "Blocking: in either order of the loops one array is traversed column by column. Let both loops go over a "
                             "block "
                             "of %lld times %lld elements before the next block, so that each cache line is used up while it is there.",
                             block, block);
    tip->next_step = lwp_arena_printf(profile->arena, "%s%s%s", tip->next_step, interchange && nest ? order_earlier_sums(order) : "",
                                      order_padding(order, column));
}
