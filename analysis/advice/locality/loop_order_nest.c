/* Which loop around the innermost one goes from column to column? */
#include "analysis/advice/locality/loop_order_internal.h"

#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"

#include <math.h>
#include <stdlib.h>

/* Whether the row is loaded each time round, so that the code knows no step: rows that were allocated one by one, also where they lie
 * evenly. */
static bool order_loads_rows(const struct lwp_order *order, const struct lwp_order_access *access)
{
    uint32_t loop;
    int64_t bytes;
    return access->step.blocks || (access->step.kind == LWP_ORDER_COLUMN &&
                                   lwp_code_loop_step(order->profile->code, access->stream->module, access->stream->address, 0, false,
                                                      &loop, &bytes) == LWP_LOOP_STEP_UNKNOWN);
}

/* `loop`: an id for lwp_code_loop(). */
static enum lwp_loop_step_kind order_step(const struct lwp_order *order, const struct lwp_order_access *access, unsigned level,
                                          uint32_t *loop, int64_t *bytes)
{
    return lwp_code_loop_step(order->profile->code, access->stream->module, access->stream->address, level, order_loads_rows(order, access),
                              loop, bytes);
}

/* ... beside whole rows, by which columns begin further down each time (or not, where they end elsewhere). A row of another length is what
 * the innermost loop moves some column by. */
static enum lwp_loop_step_kind order_beside_rows(const struct lwp_order *order, const struct lwp_order_access *access, unsigned level,
                                                 uint32_t *loop, int64_t *bytes, int64_t *rows)
{
    const enum lwp_loop_step_kind kind = order_step(order, access, level, loop, bytes);
    const int64_t line = (int64_t)order->profile->machine.line_bytes;
    *rows = 0;
    if (!level || (kind != LWP_LOOP_STEP_VARIABLE && (kind != LWP_LOOP_STEP_CONSTANT || llabs(*bytes) < line)))
        return kind;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *column = &order->accesses[i];
        int64_t left;
        if (column->step.kind != LWP_ORDER_COLUMN || column->step.blocks || column->stream->module != access->stream->module ||
            (access->step.kind == LWP_ORDER_COLUMN && column != access) || !column->step.bytes)
            continue;
        if (kind == LWP_LOOP_STEP_CONSTANT) {
            *rows = (*bytes > 0) == (column->step.bytes > 0) ? 1 : -1;
            left = *bytes - *rows * column->step.bytes;
        } else if (!lwp_code_loop_rows(order->profile->code, access->stream->module, access->stream->address, column->stream->address,
                                       level, rows, &left)) {
            continue;
        }
        if (llabs(left) < line) {
            *bytes = left + (access->step.kind == LWP_ORDER_COLUMN ? 0 : *rows * column->step.bytes);
            return LWP_LOOP_STEP_CONSTANT;
        }
    }
    *rows = 0;
    return kind;
}

enum lwp_loop_step_kind lwp_order_moves(const struct lwp_order *order, const struct lwp_order_access *access, unsigned level,
                                        int64_t *bytes)
{
    uint32_t loop;
    int64_t rows;
    return order_beside_rows(order, access, level, &loop, bytes, &rows);
}

double lwp_order_plane(const struct lwp_order *order, const struct lwp_order_access *access, unsigned level)
{
    uint32_t loop;
    int64_t rows, bytes;
    const enum lwp_loop_step_kind kind = order_beside_rows(order, access, level, &loop, &bytes, &rows);
    if (kind == LWP_LOOP_STEP_NO_LOOP)
        return -1;
    if (rows)
        return 1;
    return kind == LWP_LOOP_STEP_CONSTANT ? floor((double)llabs(bytes) / (double)llabs(access->step.bytes)) : 0;
}

/* By the code: the loop around that moves the access by less than a line. Where none does the columns may be those of several calls of
 * the function, unless loops around move it by more (they leave elements out on purpose), or the loop itself does not step evenly
 * (it goes round through all places, as a hash does, or a product modulo the number of elements). False: no column is left for the next
 * one. */
static bool order_outer_of(const struct lwp_order *order, const struct lwp_order_access *access, struct lwp_order_outer *outer)
{
    bool moves = false, even = false;
    *outer = (struct lwp_order_outer){.region = LWP_NONE};
    if (lwp_code_loop_folds(order->profile->code, access->stream->module, access->stream->address))
        return false;
    for (unsigned level = 0;; level++) {
        uint32_t loop;
        int64_t step, rows;
        const enum lwp_loop_step_kind kind = order_beside_rows(order, access, level, &loop, &step, &rows);
        if (kind == LWP_LOOP_STEP_NO_LOOP)
            return level == 0 || (even && !moves);
        if (level == 0) {
            even = kind != LWP_LOOP_STEP_UNKNOWN;
            continue;
        }
        if (kind == LWP_LOOP_STEP_UNKNOWN)
            return true;
        if (kind == LWP_LOOP_STEP_CONSTANT && step && (uint64_t)llabs(step) < order->profile->machine.line_bytes) {
            const struct lwp_loop *found = lwp_code_loop(order->profile->code, loop);
            const uint32_t region = lwp_regions_at(order->profile, found->module, found->header);
            *outer = (struct lwp_order_outer){level, step, lwp_regions_final(order->profile, region)};
            return true;
        }
        moves |= kind == LWP_LOOP_STEP_VARIABLE || step || rows;
    }
}

/* The code says how far apart columns are where samples, which are taken at even distances, saw some only. */
static void order_refine(struct lwp_order *order)
{
    const double line = (double)order->profile->machine.line_bytes;
    for (size_t i = 0; i < order->count && order->outer.level; i++) {
        struct lwp_order_access *access = &order->accesses[i];
        int64_t step;
        if (access->step.kind != LWP_ORDER_COLUMN || lwp_order_moves(order, access, order->outer.level, &step) != LWP_LOOP_STEP_CONSTANT ||
            !step || (uint64_t)llabs(step) >= access->columns.apart)
            continue;
        access->columns.apart = (uint64_t)llabs(step);
        access->columns.lines = fmin(access->columns.lines, (double)llabs(step) / line);
        access->then = access->blocked = access->now * access->columns.lines;
    }
}

/* Lines an iteration, by the code, where the loop so many around becomes the inner one; negative: not known. */
static double order_lines(const struct lwp_order *order, const struct lwp_order_access *access, unsigned level)
{
    int64_t step;
    switch (level ? lwp_order_moves(order, access, level, &step) : LWP_LOOP_STEP_UNKNOWN) {
    case LWP_LOOP_STEP_CONSTANT:
        return fmin(1, (double)llabs(step) / (double)order->profile->machine.line_bytes);
    case LWP_LOOP_STEP_VARIABLE:
        return 1;
    default:
        return -1;
    }
}

double lwp_order_decoded(const struct lwp_order *order, const struct lwp_order_access *access)
{
    return order_lines(order, access, order->outer.level);
}

/* Of columns that stall alike the one that comes first. */
static bool order_before(const struct lwp_order_access *a, const struct lwp_order_access *b)
{
    const double of_a = a->stream->weight.weight, of_b = b->stream->weight.weight;
    return of_a > of_b || (!(of_b > of_a) && a < b);
}

/* The column that stalls most of those behind `last` (NULL: of all); NULL: there is none. */
static const struct lwp_order_access *order_column(const struct lwp_order *order, const struct lwp_order_access *last)
{
    const struct lwp_order_access *column = NULL;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *access = &order->accesses[i];
        if (access->step.kind == LWP_ORDER_COLUMN && (!last || order_before(last, access)) && (!column || order_before(access, column)))
            column = access;
    }
    return column;
}

/* Lines an iteration of all accesses then, as today where the code does not say. */
static double order_left(const struct lwp_order *order, unsigned level)
{
    double left = 0;
    for (size_t i = 0; i < order->count; i++) {
        if (!lwp_order_stands(order, i))
            continue;
        const double decoded = order->accesses[i].small ? 0 : order_lines(order, &order->accesses[i], level);
        left += decoded < 0 ? order->accesses[i].now : decoded;
    }
    return left;
}

/* The one that stalls most of those that a loop around goes through, by the code: a pivot's column may stall more, but stays meanwhile. If
 * there is none, of those that calls of the function may go through. */
static const struct lwp_order_access *order_nested(struct lwp_order *order)
{
    const struct lwp_order_access *by_calls = NULL, *column = NULL;
    while ((column = order_column(order, column))) {
        const bool goes = order_outer_of(order, column, &order->outer);
        if (goes && order->outer.level)
            return column;
        by_calls = goes && !by_calls ? column : by_calls;
    }
    order->outer = (struct lwp_order_outer){.region = LWP_NONE};
    return by_calls;
}

const struct lwp_order_access *lwp_order_nest(struct lwp_order *order)
{
    const struct lwp_order_access *column = order_nested(order);
    if (!column)
        return NULL;
    double least = order_left(order, order->outer.level);
    for (size_t i = 0; i < order->count && order->outer.level > 1; i++) {
        struct lwp_order_outer nearer;
        if (order->accesses[i].step.kind != LWP_ORDER_COLUMN || !order_outer_of(order, &order->accesses[i], &nearer) || !nearer.level ||
            nearer.level >= order->outer.level)
            continue;
        const double left = order_left(order, nearer.level);
        if (left < least) {
            column = &order->accesses[i];
            order->outer = nearer;
            least = left;
        }
    }
    order_refine(order);
    return column;
}
