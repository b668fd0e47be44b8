/* In: what samples saw of each loop's accesses (moves.h, offsets of streams). Out: advice to change the order of loops.
 *
 * A walk goes down a column when an instruction steps by more than a cache line each iteration (a constant, or from one
 * block to the next) and the places within that step, which the loops around choose, are less than a line apart. Each
 * iteration then takes a line of which the loop around would use the rest, if it were the inner one. That is too late
 * where the caches do not hold the lines of a whole column.
 *
 * Lines an iteration, before and after: of columns 1, then columns' distance / line; of rows step / line, then none if
 * the loop around does not move them (a vector), or 1 if it does (what was a row becomes a column). What stays moves
 * then as it does now between iterations of the loop around. Gain: 1 / (1 - w (1 - after / before)), w: the share of
 * time that the columns' accesses stall, at most 1 / (1 - w).
 *
 * Limits: dependences are not looked at; the advice says so. What the loop around does to rows is seen only where both
 * are in one sample; where it is not known they are taken to become columns. */
#include "analysis/advice/locality/loop_order_internal.h"

#include "analysis/advice/gain/measured.h"
#include "analysis/profile/objects.h"
#include "analysis/statistics/stride.h"
#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/tables/severity.h"
#include "base/arena.h"
#include "base/order.h"
#include "format/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_LEAST = 8, SIBLINGS = 64, SAMPLES_LEAST = 16 /* of a loop that can be run: how it goes the code says, too */ };

static const double share_least = 0.05;  /* of all time */
static const double stalled_least = 0.2; /* of the loop's time, beyond what falls on its accesses by chance */
static const double lines_left = 0.5;    /* at most so much of the lines may remain */
static const double gain_least = 1.02;

/* ---- one loop ---- */

/* Part of an iteration's lines that this instruction takes, when others of its loop use bytes of the same ones. */
static double order_lines(struct lwp_profile *profile, const struct lwp_stream *stream, uint64_t step, double *density)
{
    struct lwp_sibling siblings[SIBLINGS];
    const uint64_t line = profile->machine.line_bytes;
    size_t all = lwp_code_siblings(profile->code, stream->module, stream->address, siblings, SIBLINGS), count = 0;
    uint64_t places[SIBLINGS];
    uint32_t loop = LWP_NONE;
    all = all < SIBLINGS ? all : SIBLINGS;
    for (size_t i = 0; i < all; i++)
        if (siblings[i].address == stream->address)
            loop = siblings[i].loop;
    for (size_t i = 0; i < all; i++)
        if (siblings[i].loop == loop)
            places[count++] = lwp_stride_residue(siblings[i].delta, step);
    *density = fmin(1, (double)stream->bytes / (double)line);
    if (!count)
        return 1;
    /* Clusters of places less than a line apart, also across the step's end; bytes of each count once. */
    double lines = 0, used = 0;
    qsort(places, count, sizeof *places, lwp_by_first);
    size_t first = 0;
    for (size_t i = 1; i < count; i++)
        if (places[i] - places[i - 1] > line)
            first = i;
    uint64_t from = places[first], to = from;
    for (size_t i = 0; i < count; i++) {
        uint64_t place = places[(first + i) % count];
        place += place < places[first] ? step : 0;
        if (place - to > line) {
            lines += ceil((double)(to - from + stream->bytes) / (double)line);
            from = place;
        }
        used += i == 0 || place != to ? fmin(stream->bytes, i ? (double)(place - to) : stream->bytes) : 0;
        to = place;
    }
    lines += ceil((double)(to - from + stream->bytes) / (double)line);
    *density = fmin(1, used / (lines * (double)line));
    return lines / (double)count;
}

/* All that samples saw of the instruction on the object, in all versions of the loop. */
static size_t order_moves(const struct lwp_order *order, const struct lwp_stream *stream, struct lwp_move *moves, size_t room)
{
    const struct lwp_moves *all = &order->profile->moves;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct lwp_code_moves *item = &all->items[i];
        if (item->object != stream->object || item->code != stream->address ||
            lwp_regions_final(order->profile, item->region) != order->region)
            continue;
        for (size_t k = 0; k < item->count && count < room; k++)
            moves[count++] = item->kept[k];
    }
    return count;
}

/* Bytes from the first to the last place seen. */
static double order_range(const struct lwp_offsets *offsets)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < offsets->count; i++) {
        LWP_LOWER(low, offsets->items[i]);
        LWP_RAISE(high, offsets->items[i]);
    }
    return offsets->count ? (double)(high - low) : 0;
}

/* Whether all that the access goes to stays in the caches, in whatever order. */
static bool order_is_small(const struct lwp_profile *profile, const struct lwp_stream *stream)
{
    const struct lwp_object *object = &profile->objects[stream->object];
    const double most = (double)lwp_gain_caches(profile->machine).l2_bytes / 4;
    return stream->offsets.count >= PLACES_LEAST &&
           (object->allocations <= 1 ? 2 * order_range(&stream->offsets) : (double)object->bytes) <= most;
}

static void order_add(struct lwp_order *order, const struct lwp_stream *stream)
{
    enum { ROOM = LWP_MOVES_KEPT * 4 };
    struct lwp_profile *profile = order->profile;
    struct lwp_move moves[ROOM] = {0};
    struct lwp_loop_shape shape;
    if (order->count == LWP_ORDER_ACCESSES) {
        order->complete = false;
        return;
    }
    struct lwp_order_access *access = &order->accesses[order->count++];
    bool shaped = lwp_loop_shape(profile->code, stream->module, stream->address, &shape);
    *access = (struct lwp_order_access){.stream = stream, .moves = order_moves(order, stream, moves, ROOM)};
    access->step = lwp_order_step(moves, access->moves, shaped ? shape.step : 0, shaped && shape.stays, profile->machine.line_bytes);
    access->trips_most = lwp_order_trips_most(moves, access->moves, &access->step);
    if (shaped && (stream->weight.weight > 0 || !order->shape.work.instructions))
        order->shape = shape; /* of the loop that is awaited, if any is */
}

/* What samples do not show the code may. */
static void order_decode(struct lwp_order *order, struct lwp_order_access *access)
{
    uint32_t loop;
    int64_t step;
    if (access->step.kind == LWP_ORDER_OTHER && lwp_code_loop_step(order->profile->code, access->stream->module, access->stream->address, 0,
                                                                   false, &loop, &step) == LWP_LOOP_STEP_CONSTANT)
        access->step = lwp_order_step(NULL, 0, step, step == 0, order->profile->machine.line_bytes);
}

/* Of few moves, with those of others that go over the same object and of which no more is known, or that they go down its columns. */
static struct lwp_order_step order_pooled(const struct lwp_order *order, const struct lwp_order_access *access)
{
    enum { ROOM = LWP_MOVES_KEPT * 4 };
    struct lwp_move moves[ROOM] = {0};
    size_t count = order_moves(order, access->stream, moves, ROOM);
    const size_t own = count;
    for (size_t i = 0; i < order->count && own; i++) {
        const struct lwp_order_access *other = &order->accesses[i];
        const bool open = other->step.kind == LWP_ORDER_OTHER || (other->step.kind == LWP_ORDER_COLUMN && !other->step.blocks);
        if (other != access && open && other->stream->object == access->stream->object && other->stream->module == access->stream->module)
            count += order_moves(order, other->stream, &moves[count], ROOM - count);
    }
    const struct lwp_order_step step = lwp_order_step(moves, count, 0, false, order->profile->machine.line_bytes);
    bool agrees = count > own && step.kind == LWP_ORDER_COLUMN;
    for (size_t i = 0; i < own && agrees; i++)
        agrees = step.blocks ? moves[i].bytes && !moves[i].within : moves[i].bytes % step.bytes == 0;
    return agrees ? step : access->step;
}

static void order_pool(struct lwp_order *order)
{
    struct lwp_order_step steps[LWP_ORDER_ACCESSES];
    for (size_t i = 0; i < order->count; i++)
        steps[i] = order->accesses[i].step.kind == LWP_ORDER_OTHER ? order_pooled(order, &order->accesses[i]) : order->accesses[i].step;
    for (size_t i = 0; i < order->count; i++)
        order->accesses[i].step = steps[i];
}

/* What is not known of an access is that of another one to the same place, or nearby, in the same iteration. */
static void order_inherit(struct lwp_order *order, struct lwp_order_access *access)
{
    struct lwp_sibling siblings[SIBLINGS];
    size_t count = lwp_code_siblings(order->profile->code, access->stream->module, access->stream->address, siblings, SIBLINGS);
    for (size_t i = 0; i < count && i < SIBLINGS && access->step.kind == LWP_ORDER_OTHER; i++)
        for (size_t k = 0; k < order->count; k++)
            if (order->accesses[k].stream->address == siblings[i].address && order->accesses[k].stream->object == access->stream->object)
                access->step = order->accesses[k].step;
}

/* Of few samples, those of another access that goes over the same object in the same steps. */
static struct lwp_order_columns order_columns_of(const struct lwp_order *order, const struct lwp_order_access *access)
{
    const uint64_t line = order->profile->machine.line_bytes;
    struct lwp_order_columns columns = lwp_order_columns(&access->stream->offsets, &access->step, line);
    for (size_t i = 0; i < order->count && !columns.apart; i++) {
        const struct lwp_order_access *other = &order->accesses[i];
        if (other->stream->object == access->stream->object && other->step.kind == LWP_ORDER_COLUMN &&
            other->step.bytes == access->step.bytes)
            columns = lwp_order_columns(&other->stream->offsets, &other->step, line);
    }
    return columns;
}

static void order_count(struct lwp_order *order, struct lwp_order_access *access)
{
    struct lwp_profile *profile = order->profile;
    const double line = (double)profile->machine.line_bytes;
    const struct lwp_stream *stream = access->stream;
    double density = 0, lines = 1;
    if (access->step.bytes)
        lines = order_lines(profile, stream, (uint64_t)llabs(access->step.bytes), &density);
    if (access->step.kind == LWP_ORDER_COLUMN && !access->step.blocks && density > 0.5)
        access->step.kind = LWP_ORDER_ROW; /* unrolled: others of the loop use the bytes between */
    if (access->step.kind == LWP_ORDER_COLUMN)
        access->columns = order_columns_of(order, access);
    if (access->step.kind == LWP_ORDER_COLUMN && !access->columns.apart)
        access->step.kind = LWP_ORDER_OTHER;
    access->now = access->step.kind == LWP_ORDER_STAYS ? 0
                  : access->step.kind == LWP_ORDER_ROW ? fmin(lines, (double)llabs(access->step.bytes) / line)
                                                       : lines;
    access->small = access->step.kind != LWP_ORDER_COLUMN && order_is_small(profile, stream);
    if (access->small)
        access->now = 0;
    access->then = access->blocked = access->now;
    if (access->step.kind != LWP_ORDER_COLUMN)
        return;
    access->then = access->blocked = lines * access->columns.lines;
    lwp_tally_merge(&order->stalled, &stream->weight);
}

/* ---- what the loop around does to rows ---- */

/* Whether where the row lies goes with which column it is, in the samples that saw both. -1: not known. */
static int order_follows(const struct lwp_order *order, const struct lwp_order_access *row, const struct lwp_order_access *column)
{
    enum { PAIRS_LEAST = 8 };
    double x[3 * LWP_TRAVERSAL_MEETINGS], y[3 * LWP_TRAVERSAL_MEETINGS], mx = 0, my = 0, xy = 0, xx = 0, yy = 0;
    size_t count = 0;
    const struct lwp_traversals *all = &order->profile->traversals;
    const uint32_t a = row->stream->object, b = column->stream->object;
    const double size = (double)llabs(column->step.bytes);
    for (size_t i = 0; i < all->pair_count; i++) {
        const struct lwp_traversal_pair *pair = &all->pairs[i];
        bool forward = pair->a == a && pair->b == b;
        if ((!forward && (pair->a != b || pair->b != a)) || lwp_regions_final(order->profile, pair->region) != order->region)
            continue;
        for (uint32_t k = 0; k < pair->close.count + pair->loose.count && count < sizeof x / sizeof *x; k++) {
            const struct lwp_traversal_meeting *m = k < pair->close.count ? &pair->close.kept[k] : &pair->loose.kept[k - pair->close.count];
            uint64_t of_column = forward ? m->b : m->a;
            x[count] = (double)(forward ? m->a : m->b);
            y[count++] = column->step.blocks ? (double)of_column : fmod((double)of_column, size);
        }
    }
    if (count < PAIRS_LEAST)
        return -1;
    for (size_t i = 0; i < count; i++)
        mx += x[i] / (double)count, my += y[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        xy += (x[i] - mx) * (y[i] - my), xx += (x[i] - mx) * (x[i] - mx), yy += (y[i] - my) * (y[i] - my);
    return xx > 0 && yy > 0 && fabs(xy) > 0.8 * sqrt(xx * yy);
}

/* Rows that are one and the same vector each time stay then. */
static bool order_is_vector(const struct lwp_order *order, const struct lwp_order_access *row)
{
    return order_range(&row->stream->offsets) <= 1.5 * order->rows * (double)llabs(row->step.bytes);
}

/* A matrix whose rows are blocks of their own: where a row lies in its block is the same of all, and does not say which it is. */
static bool order_of_blocks(const struct lwp_order *order, const struct lwp_order_access *row)
{
    const struct lwp_object *object = &order->profile->objects[row->stream->object];
    return object->allocations > 1 && object->bytes > object->largest;
}

static bool order_has_column(const struct lwp_order *order)
{
    for (size_t i = 0; i < order->count; i++)
        if (order->accesses[i].step.kind == LWP_ORDER_COLUMN)
            return true;
    return false;
}

/* Whether what stays at one place today becomes a column that each run of the new inner loop goes down again, with lines that the second
 * level keeps. */
static bool order_comes_again(const struct lwp_order *order, const struct lwp_order_access *access, const struct lwp_order_access *column)
{
    const struct lwp_caches caches = lwp_gain_caches(order->profile->machine);
    int64_t by;
    return access->step.kind == LWP_ORDER_STAYS && column->columns.apart &&
           lwp_order_moves(order, access, order->outer.level, &by) == LWP_LOOP_STEP_CONSTANT && (uint64_t)llabs(by) >= caches.line_bytes &&
           (double)llabs(column->step.bytes) / (double)column->columns.apart <=
               lwp_order_capacity(caches.l2_bytes, (uint64_t)llabs(by), caches.line_bytes) / 2;
}

/* Lines an iteration when loops are interchanged. */
static void order_exchange(struct lwp_order *order, const struct lwp_order_access *column)
{
    const double line = (double)order->profile->machine.line_bytes;
    for (size_t i = 0; i < order->count; i++) {
        struct lwp_order_access *access = &order->accesses[i];
        if (access->small)
            continue;
        double decoded = lwp_order_decoded(order, access);
        if (decoded >= 0) {
            access->then = access->step.kind == LWP_ORDER_COLUMN && decoded < 1 ? access->then : decoded;
            if (order_comes_again(order, access, column))
                access->then = 0;
            continue;
        }
        if (access->step.kind == LWP_ORDER_STAYS && access->stream->stride.bytes)
            access->then = fmin(1, (double)access->stream->stride.bytes / line);
        if (access->step.kind == LWP_ORDER_ROW)
            access->then =
                !order_of_blocks(order, access) && (order_is_vector(order, access) || !order_follows(order, access, column)) ? 0 : 1;
    }
}

/* ---- advice ---- */

struct order_lines {
    double now, then, blocked;
};

/* An instruction that was seen on several data objects takes one line. */
static struct order_lines order_sum(const struct lwp_order *order)
{
    struct order_lines sum = {0};
    for (size_t i = 0; i < order->count; i++) {
        if (!lwp_order_stands(order, i))
            continue;
        sum.now += order->accesses[i].now;
        sum.then += order->accesses[i].then;
        sum.blocked += order->accesses[i].blocked;
    }
    return sum;
}

/* The part of the loop's time that columns stall, beyond what falls on their accesses by chance. */
static double order_stalled(const struct lwp_order *order)
{
    const struct lwp_region *region = &order->profile->regions[order->region];
    size_t columns = 0;
    for (size_t i = 0; i < order->count; i++)
        columns += order->accesses[i].step.kind == LWP_ORDER_COLUMN;
    double whole = fmax(region->weight.weight, order->stalled.weight), share = order->stalled.weight / whole;
    double chance = order->shape.work.instructions ? fmin(0.5, (double)columns / order->shape.work.instructions) : 0;
    return (share - chance) / (1 - chance);
}

/* Whether the lines of a whole column are still there when the next one comes: then each is brought from memory once,
 * and blocking would not save any. That they are too far for the first level is what interchange mends. */
static bool order_survives(const struct lwp_order *order)
{
    const struct lwp_caches caches = lwp_gain_caches(order->profile->machine);
    double columns = 0;
    uint64_t step = 0;
    for (size_t i = 0; i < order->count; i++)
        if (order->accesses[i].step.kind == LWP_ORDER_COLUMN) {
            columns += order->accesses[i].now;
            step = (uint64_t)llabs(order->accesses[i].step.bytes);
        }
    const double lines = order->rows * fmax(1, columns);
    return lines <= lwp_order_capacity(caches.l2_bytes, step, caches.line_bytes) / 2;
}

/* Whether all that the loop goes to fits the second level: lines come from there in any order, and how many there are says little. */
static bool order_fits(const struct lwp_order *order)
{
    const struct lwp_caches caches = lwp_gain_caches(order->profile->machine);
    double bytes = 0;
    for (size_t i = 0; i < order->count; i++) {
        const uint32_t object = order->accesses[i].stream->object;
        bool counted = false;
        for (size_t k = 0; k < i; k++)
            counted |= order->accesses[k].stream->object == object;
        if (!order->profile->objects[object].bytes)
            return false;
        if (!counted)
            bytes += (double)order->profile->objects[object].bytes;
    }
    return bytes <= (double)caches.l2_bytes;
}

/* Those that the loop goes over in another way then. */
static const uint32_t *order_objects(const struct lwp_order *order, size_t *count)
{
    uint32_t *objects = lwp_arena_alloc(order->profile->arena, order->count + 1, sizeof *objects);
    *count = 0;
    for (size_t i = 0; i < order->count; i++)
        if (order->accesses[i].step.kind == LWP_ORDER_COLUMN || order->accesses[i].step.kind == LWP_ORDER_ROW)
            objects[(*count)++] = order->accesses[i].stream->object;
    return objects;
}

/* No program is all one loop. */
static double order_loop(double w)
{
    return fmin(w, 0.99);
}

static double order_gain(double w, double left)
{
    return 1 / (1 - order_loop(w) * (1 - left));
}

/* As measured where that can be believed: of the whole loop, which a new order changes as a whole. That it is stalled need not be seen
 * then: sums that waited for each other no longer do. False: it cannot. */
static bool order_measured(const struct lwp_order *order, const struct lwp_order_access *column, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = order->profile;
    const struct lwp_share whole = lwp_share_of(&profile->regions[order->region].weight, &profile->total);
    const struct lwp_share of_all = lwp_gain_of_all(profile, whole);
    const struct lwp_share loop = {order_loop(of_all.value), order_loop(of_all.low), order_loop(of_all.high)};
    struct lwp_gain_measured measured;
    if (!lwp_order_measure(order, column, &measured))
        return false;
    const struct lwp_gain_range saved = lwp_gain_part(&measured, &loop);
    tip->speedup = order_gain(loop.value, measured.ratio);
    tip->gain.low = fmin(tip->speedup, 1 / (1 - saved.low));
    tip->gain.high = fmax(tip->speedup, 1 / (1 - saved.high));
    return true;
}

static bool order_has_row(const struct lwp_sampled_locality *sampled, uint32_t region)
{
    for (size_t i = 0; i < sampled->count; i++)
        if (sampled->rows[i].region == region)
            return true;
    return false;
}

/* The row that the tip is about; made where the column is hardly awaited. */
static void order_row(const struct lwp_order *order, const struct lwp_order_access *column, struct lwp_sampled_locality *sampled,
                      struct lwp_locality_tip *tip)
{
    for (tip->row = 0; tip->row < sampled->count; tip->row++)
        if (sampled->rows[tip->row].object == tip->object && sampled->rows[tip->row].region == tip->region)
            return;
    struct lwp_sampled_row *rows = lwp_arena_alloc(order->profile->arena, sampled->count + 1, sizeof *rows);
    if (sampled->count)
        memcpy(rows, sampled->rows, sampled->count * sizeof *rows);
    sampled->rows = rows;
    rows[sampled->count++] = (struct lwp_sampled_row){.object = tip->object,
                                                      .region = tip->region,
                                                      .share = lwp_share_of(&column->stream->weight, &order->profile->total).value,
                                                      .seen = column->stream->accesses,
                                                      .stride = column->step.bytes,
                                                      .stride_share = 1,
                                                      .outer = order->outer.level ? order->outer.by : (int64_t)column->columns.apart};
}

/* Lines say that there is something to gain, and not how much: whether the compiler finds vector instructions, what iterations wait for and
 * how far prefetchers run ahead decides that, which only a run shows (docs/gains.md). */
static void order_unknown(const struct lwp_order *order, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = order->profile;
    tip->gain = (struct lwp_gain_range){0, 0};
    tip->speedup = 0;
    tip->stake = lwp_share_of(&profile->regions[order->region].weight, &profile->total).high;
    tip->next_step = lwp_arena_printf(
        profile->arena, "%s What it gains is unknown, as the loop's accesses could not be run here in both orders.", tip->next_step);
}

/* `column`: the one that stalls most. */
static bool order_advise(struct lwp_order *order, const struct lwp_order_access *column, struct lwp_sampled_locality *sampled,
                         struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = order->profile;
    const struct lwp_share share = lwp_share_of(&order->stalled, &profile->total);
    const struct lwp_tally *whole = &profile->regions[order->region].weight;
    const double of_all = lwp_share_of(whole, &profile->total).value;
    if (!order->complete || of_all < share_least || whole->samples < SAMPLES_LEAST)
        return false;
    order_exchange(order, column);
    struct order_lines sum = order_sum(order);
    const bool interchange = sum.then <= lines_left * sum.now;
    if (interchange && lwp_order_is_kept(order, column))
        return false;
    const double left = (interchange ? sum.then : sum.blocked) / sum.now;
    if (left > lines_left)
        return false;
    *tip = (struct lwp_locality_tip){.kind = interchange ? LWP_TIP_INTERCHANGE : LWP_TIP_BLOCKING,
                                     .share = share.value,
                                     .samples = order->stalled.samples,
                                     .gain = {order_gain(share.low, left), order_gain(share.high, left)},
                                     .speedup = order_gain(share.value, left)};
    const bool run = interchange && order_measured(order, column, tip);
    if (run) {
        tip->share = of_all;
        tip->samples = whole->samples;
    } else if (!lwp_evidence_of_share(whole->samples, of_all) || order_fits(order) || (interchange && lwp_order_begins_sums(order)) ||
               !lwp_evidence_of(order->stalled.samples) || share.value < share_least || order_stalled(order) < stalled_least ||
               (!interchange && order_survives(order)))
        return false;
    if (tip->gain.low < gain_least)
        return false;
    lwp_order_text(order, column, interchange, tip);
    if (!run)
        order_unknown(order, tip);
    tip->objects = order_objects(order, &tip->object_count);
    tip->object = column->stream->object;
    tip->region = order->region;
    order_row(order, column, sampled, tip);
    return true;
}

/* What is known of columns goes into their rows. */
static void order_note(const struct lwp_order *order, struct lwp_sampled_locality *sampled)
{
    for (size_t r = 0; r < sampled->count; r++) {
        struct lwp_sampled_row *row = &sampled->rows[r];
        const bool open = row->stride_share == 0;
        uint64_t seen = 0;
        for (size_t i = 0; row->region == order->region && i < order->count; i++) {
            const struct lwp_order_access *access = &order->accesses[i];
            if (access->step.kind != LWP_ORDER_COLUMN || access->stream->object != row->object)
                continue;
            row->outer = order->outer.level ? order->outer.by : (int64_t)access->columns.apart;
            if (!open || (row->stride && row->stride != access->step.bytes))
                continue;
            row->stride = access->step.bytes;
            seen += access->stream->accesses;
        }
        if (open && seen)
            row->stride_share = fmin(1, (double)seen / (double)row->seen);
    }
}

void lwp_loop_order_advise(struct lwp_profile *profile, struct lwp_sampled_locality *sampled, struct lwp_locality_tips *tips)
{
    if (profile->engine == LWPS_ENGINE_EXACT || !profile->machine.line_bytes || !lwp_gain_known(profile))
        return;
    struct lwp_order *order = lwp_zeroed(1, sizeof *order);
    const size_t most = sampled->count + (size_t)(1 / share_least);
    struct lwp_locality_tip *all = lwp_arena_alloc(profile->arena, tips->count + most + 1, sizeof *all);
    if (tips->count)
        memcpy(all, tips->tips, tips->count * sizeof *all);
    const size_t room = tips->count + most;
    tips->tips = all;
    for (uint32_t region = 0; region < profile->region_count && tips->count < room; region++) {
        const bool heavy = lwp_share_of(&profile->regions[region].weight, &profile->total).value >= share_least;
        if (profile->regions[region].is_function || (!heavy && !order_has_row(sampled, region)))
            continue;
        *order = (struct lwp_order){.profile = profile, .region = region, .complete = true, .outer = {.region = LWP_NONE}};
        for (size_t i = 0; i < profile->stream_count; i++)
            if (profile->streams[i].region == region && profile->streams[i].object != LWP_NONE && profile->streams[i].module != LWP_NONE)
                order_add(order, &profile->streams[i]);
        for (size_t i = 0; heavy && i < order->count; i++)
            order_decode(order, &order->accesses[i]);
        if (heavy)
            order_pool(order);
        if (!order_has_column(order))
            continue;
        for (size_t i = 0; i < order->count; i++)
            order_inherit(order, &order->accesses[i]);
        for (size_t i = 0; i < order->count; i++)
            order_count(order, &order->accesses[i]);
        order->rows = lwp_order_longest(order);
        const struct lwp_order_access *column = lwp_order_nest(order);
        if (!column)
            continue;
        order_note(order, sampled);
        tips->count += order_advise(order, column, sampled, &tips->tips[tips->count]);
    }
    free(order);
}
