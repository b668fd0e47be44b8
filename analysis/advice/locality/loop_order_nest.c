/* Which loop around the innermost one goes from column to column? */
#include "analysis/advice/locality/loop_order_internal.h"

#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"

#include <math.h>
#include <stdlib.h>

/* By the code: the loop around that moves the access by less than a line. Where none does the columns may be those of several calls of
 * the function, unless loops around move it by more (they leave elements out on purpose), or the loop itself does not step evenly
 * (it goes round through all places, as a hash does). False: no column is left for the next one. */
static bool order_around_of(struct lwp_order *order, const struct lwp_order_access *access)
{
    bool moves = false, even = false;
    for (unsigned level = 0;; level++) {
        uint32_t loop;
        int64_t step;
        enum lwp_loop_step_kind kind = lwp_code_loop_step(order->profile->code, access->stream->module, access->stream->address, level,
                                                          access->step.blocks, &loop, &step);
        if (kind == LWP_LOOP_STEP_NO_LOOP)
            return level == 0 || (even && !moves);
        if (level == 0) {
            even = kind != LWP_LOOP_STEP_UNKNOWN;
            continue;
        }
        if (kind == LWP_LOOP_STEP_UNKNOWN)
            return true;
        if (kind == LWP_LOOP_STEP_CONSTANT && step && (uint64_t)llabs(step) < order->profile->machine.line_bytes) {
            const struct lwp_loop *around = lwp_code_loop(order->profile->code, loop);
            order->level = level;
            order->by = step;
            order->around = lwp_regions_final(order->profile, lwp_regions_at(order->profile, around->module, around->header));
            return true;
        }
        moves |= kind == LWP_LOOP_STEP_VARIABLE || step;
    }
}

/* The code says how far apart columns are where samples, which are taken at even distances, saw some only. */
static void order_refine(struct lwp_order *order)
{
    const double line = (double)order->profile->machine.line_bytes;
    for (size_t i = 0; i < order->count && order->level; i++) {
        struct lwp_order_access *access = &order->accesses[i];
        uint32_t loop;
        int64_t step;
        if (access->step.kind != LWP_ORDER_COLUMN ||
            lwp_code_loop_step(order->profile->code, access->stream->module, access->stream->address, order->level, access->step.blocks,
                               &loop, &step) != LWP_LOOP_STEP_CONSTANT ||
            !step || (uint64_t)llabs(step) >= access->columns.apart)
            continue;
        access->columns.apart = (uint64_t)llabs(step);
        access->columns.lines = fmin(access->columns.lines, (double)llabs(step) / line);
        access->then = access->blocked = access->now * access->columns.lines;
    }
}

double lwp_order_decoded(const struct lwp_order *order, const struct lwp_order_access *access)
{
    uint32_t loop;
    int64_t step;
    if (!order->level)
        return -1;
    switch (lwp_code_loop_step(order->profile->code, access->stream->module, access->stream->address, order->level, access->step.blocks,
                               &loop, &step)) {
    case LWP_LOOP_STEP_CONSTANT:
        return fmin(1, (double)llabs(step) / (double)order->profile->machine.line_bytes);
    case LWP_LOOP_STEP_VARIABLE:
        return 1;
    default:
        return -1;
    }
}

/* The column that stalls most; NULL: there is none. */
static const struct lwp_order_access *order_column(const struct lwp_order *order)
{
    const struct lwp_order_access *column = NULL;
    for (size_t i = 0; i < order->count; i++)
        if (order->accesses[i].step.kind == LWP_ORDER_COLUMN &&
            (!column || order->accesses[i].stream->weight.weight > column->stream->weight.weight))
            column = &order->accesses[i];
    return column;
}

/* Lines an iteration when loops are interchanged, as far as the code says. */
static double order_left(const struct lwp_order *order)
{
    double left = 0;
    for (size_t i = 0; i < order->count; i++) {
        const double decoded = order->accesses[i].small ? 0 : lwp_order_decoded(order, &order->accesses[i]);
        left += decoded < 0 ? order->accesses[i].now : decoded;
    }
    return left;
}

const struct lwp_order_access *lwp_order_nest(struct lwp_order *order)
{
    const struct lwp_order_access *column = order_column(order);
    if (!column || !order_around_of(order, column))
        return NULL;
    double least = order_left(order);
    for (size_t i = 0; i < order->count && order->level > 1; i++) {
        const struct lwp_order_access *other = &order->accesses[i];
        const struct lwp_order before = {.level = order->level, .by = order->by, .around = order->around};
        double left;
        if (other->step.kind == LWP_ORDER_COLUMN && order_around_of(order, other) && order->level && order->level < before.level &&
            (left = order_left(order)) < least) {
            column = other;
            least = left;
            continue;
        }
        order->level = before.level;
        order->by = before.by;
        order->around = before.around;
    }
    order_refine(order);
    return column;
}
