/* How long the runs of a nest's loops are: of a triangle each has another length, short ones in near caches.
 *
 * Code says so where a loop further out begins a column a row further on. Samples do where the end moves: places in a loop of one length
 * are half way on average, those in one that gets longer each time are a third of the way from the end that stays (0.375 of it where a
 * visit in a longer run takes as much longer).
 */
#include "analysis/advice/locality/loop_order_internal.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { PLACES_LEAST = 64 };

static const double off_least = 0.05, deviations = 3;

/* From the first to the last row that accesses of one step saw of their object, of one plane where there are several. */
static double lengths_rows(const struct lwp_order *order, const struct lwp_order_access *access)
{
    const struct lwp_object *object = &order->profile->objects[access->stream->object];
    const double step = (double)llabs(access->step.bytes);
    uint64_t *places = NULL;
    size_t count = 0, room = 0;
    uint32_t first;
    if (access->step.blocks)
        return (double)object->allocations;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *other = &order->accesses[i];
        if (other->stream->object != access->stream->object || other->step.kind != LWP_ORDER_COLUMN ||
            other->step.bytes != access->step.bytes || lwp_order_disjoint(other->stream, access->stream))
            continue;
        LWP_APPEND_ALL(&places, &count, &room, other->stream->offsets.items, other->stream->offsets.count);
    }
    LWP_SORT(places, count, lwp_by_first);
    count = lwp_order_run(places, (uint32_t)count, &first);
    const double seen = count ? (double)(places[first + count - 1] - places[first]) / step + 1 : 1;
    free(places);
    return lwp_order_column(seen, (uint32_t)count, floor((double)object->largest / step));
}

double lwp_order_longest(const struct lwp_order *order)
{
    const struct lwp_order_access *known = NULL;
    double rows = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *access = &order->accesses[i];
        if (access->step.kind != LWP_ORDER_COLUMN)
            continue;
        rows = fmax(rows, lengths_rows(order, access));
        known = !known || access->moves > known->moves ? access : known;
    }
    return known ? fmin(rows, known->trips_most) : rows;
}

bool lwp_order_tapers(const double *places, size_t count)
{
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += places[i] / (double)count;
    const double off = fabs(mean - 0.5);
    return count >= PLACES_LEAST && off > off_least && off * sqrt(12.0 * (double)count) > deviations;
}

static uint64_t lengths_at(uint64_t offset, bool rows, uint64_t step)
{
    return rows ? offset / step : offset % step;
}

/* Which row (or column) of its array each sample of these columns saw, as a part of the way from the first to the last. */
static size_t lengths_places(const struct lwp_order *order, const struct lwp_order_access *column, bool rows, double *places, size_t room)
{
    const uint64_t step = (uint64_t)llabs(column->step.bytes);
    size_t count = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_offsets *offsets = &order->accesses[i].stream->offsets;
        uint64_t low = UINT64_MAX, high = 0;
        if (order->accesses[i].step.kind != LWP_ORDER_COLUMN || order->accesses[i].step.bytes != column->step.bytes)
            continue;
        for (uint32_t k = 0; k < offsets->count; k++) {
            const uint64_t at = lengths_at(offsets->items[k], rows, step);
            LWP_LOWER(low, at);
            LWP_RAISE(high, at);
        }
        for (uint32_t k = 0; k < offsets->count && count < room && high > low; k++)
            places[count++] = (double)(lengths_at(offsets->items[k], rows, step) - low) / (double)(high - low);
    }
    return count;
}

/* Of runs that are x of the longest there are so many visits: x where the columns alone get longer, x^2 where a loop further out makes both
 * shorter (LU), x (1 - x) where the loop around makes the columns longer and one further out makes it longer. Which of these two it is the
 * rows say where one further out begins a row further on: those in the middle are visited most where the loop around moves the other end.
 * Else x is their sum. Of each the two lengths of Gauss' quadrature; of x (1 - x) there are (1 + x) / 2 columns in the mean. */
unsigned lwp_order_lengths(const struct lwp_order *order, const struct lwp_order_access *column, bool planes, bool triangle,
                           struct lwp_order_length lengths[2])
{
    enum { ROOM = 1024 };
    static const struct lwp_order_length either[] = {{0.845, 0.845, 0.636}, {0.355, 0.355, 0.364}},
                                         both[] = {{0.877, 0.877, 0.698}, {0.456, 0.456, 0.302}},
                                         ends[] = {{0.724, 0.862, 0.5}, {0.276, 0.638, 0.5}};
    double places[ROOM] = {0};
    lengths[0] = (struct lwp_order_length){1, 1, 1};
    if (column->step.blocks)
        planes = true; /* a row's number is not in its place */
    size_t count = planes ? 0 : lengths_places(order, column, true, places, ROOM);
    const bool tapers = lwp_order_tapers(places, count), even = count >= PLACES_LEAST && !tapers;
    if (!triangle && !tapers)
        return 1;
    count = planes ? 0 : lengths_places(order, column, false, places, ROOM);
    const bool alone = count >= PLACES_LEAST && !lwp_order_tapers(places, count);
    const struct lwp_order_length *found = triangle && even ? ends : triangle && !alone ? both : either;
    for (int i = 0; i < 2; i++)
        lengths[i] = (struct lwp_order_length){found[i].rows, alone ? 1 : found[i].columns, found[i].visits};
    return 2;
}
