/* What interchanging two loops does to their time: the accesses of the inner loop are run on this machine in both orders.
 *
 * Accesses to one data object that both loops move alike are to one array, as far from each other as the code says. The inner loop's step
 * and that of the loop around are changed round. A sum that the inner loop keeps in a register stays there if the loop around goes on with
 * it. Else it becomes an array of sums, or is loaded from where it is stored, and no iteration waits for the one before then; the other way
 * round, what is stored at one place each time becomes such a sum.
 * Limits: of a window that slides along a column most lines are in the caches already; that is not run. The compiler may find vector
 * instructions for the new inner loop, which the run does not have. */
#include "analysis/advice/gain/guesses.h"
#include "analysis/advice/gain/loop_pattern.h"
#include "analysis/advice/gain/measured.h"
#include "analysis/advice/gain/pace.h"
#include "analysis/advice/gain/timed.h"
#include "analysis/advice/locality/loop_order_internal.h"
#include "analysis/program/flow/machine_code.h"
#include "analysis/statistics/stride.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double cut_caches = 3, page_bytes = 4096;
static const double chain_sum = 2.5;                      /* cycles: longer than counting takes */
static const double add_cycles = 1, float_add_cycles = 4; /* of a sum */

/* Bytes that the loop so many around moves the access by each time, where the code says so. */
static bool measured_constant(const struct lwp_order *order, const struct lwp_order_access *access, unsigned level, uint64_t *by)
{
    int64_t constant;
    if (!level || lwp_order_moves(order, access, level, &constant) != LWP_LOOP_STEP_CONSTANT)
        return false;
    *by = (uint64_t)llabs(constant);
    return true;
}

/* Bytes that the loop around moves the access by each time; false: not known. */
static bool measured_outer(const struct lwp_order *order, const struct lwp_order_access *access, uint64_t *by)
{
    const uint64_t step = (uint64_t)llabs(access->step.bytes);
    if (measured_constant(order, access, order->outer.level, by)) /* 0: a pivot's column */
        return *by < INT32_MAX;
    if (access->step.kind == LWP_ORDER_COLUMN)
        *by = access->columns.apart;
    else if (access->step.kind == LWP_ORDER_STAYS)
        *by = access->stream->stride.bytes;
    else if (access->step.kind == LWP_ORDER_ROW) /* what `then` says: nothing, or a row becomes a column */
        *by = access->then > 0 ? (uint64_t)(order->rows * (double)step) : 0;
    else
        return false;
    return *by < INT32_MAX;
}

/* Loops further out than the one that goes from column to column begin another plane, or a row further on. */
double lwp_order_rows(const struct lwp_order *order, const struct lwp_order_access *column, bool *triangle)
{
    double rows = order->rows;
    for (unsigned level = order->outer.level + 1; order->outer.level; level++) {
        const double plane = lwp_order_plane(order, column, level);
        if (plane < 0)
            break;
        *triangle |= plane == 1;
        rows = plane > 1 ? fmin(rows, plane) : rows;
    }
    return rows;
}

/* Where an access begins in the step: an unrolled loop has one for each of several rows. */
static int64_t measured_begin(const struct lwp_order_access *access)
{
    const uint64_t step = (uint64_t)llabs(access->step.bytes);
    uint64_t least = step;
    for (uint32_t i = 0; i < access->stream->offsets.count && step; i++)
        least = access->stream->offsets.items[i] % step < least ? access->stream->offsets.items[i] % step : least;
    return least < step ? (int64_t)least : 0;
}

/* How far the access lies from the first one to its object, when the code does not say: from the samples, and of rows in blocks of their
 * own they share the step evenly. */
static int64_t measured_share(const struct lwp_order *order, size_t first, size_t access)
{
    const struct lwp_order_access *from = &order->accesses[first], *to = &order->accesses[access];
    size_t before = 0, all = 0;
    if (from->step.kind != LWP_ORDER_COLUMN || to->step.kind != LWP_ORDER_COLUMN || from->step.bytes != to->step.bytes)
        return 0;
    if (!to->step.blocks)
        return measured_begin(to) - measured_begin(from);
    for (size_t i = 0; i < order->count; i++)
        if (order->accesses[i].stream->object == to->stream->object && order->accesses[i].step.kind == LWP_ORDER_COLUMN) {
            all++;
            before += i < access;
        }
    return llabs(to->step.bytes) / (int64_t)all * (int64_t)before;
}

struct measured_nest {
    double rows, columns;             /* rounds of the inner loop, and of the one that it is interchanged with, today */
    double whole;                     /* columns that there are: fewer may be run */
    double between;                   /* ... of a loop between the two, which stays there; 0: none moves the column */
    size_t first[LWP_PATTERN_ARRAYS]; /* access of each array */
    int64_t low[LWP_PATTERN_ARRAYS], high[LWP_PATTERN_ARRAYS];
    int64_t at[LWP_ORDER_ACCESSES]; /* of each access from the first of its array */
    size_t array[LWP_ORDER_ACCESSES];
    bool runs[LWP_ORDER_ACCESSES]; /* others stand for those that it does not */
    size_t arrays;
    bool sums;     /* kept in a register */
    bool goes_on;  /* ... one of both loops, which stays there in either order */
    bool stored;   /* ... and stored each time: at one place, which then is another one each time */
    bool triangle; /* rows and columns are the most that there are */
    bool reloads;  /* what begins to be a sum is stored and loaded again in each iteration */
    double guesses; /* jumps a round that are guessed wrong: of those past code it is not known */
};

/* Whole blocks of what the code has several of. */
static double measured_blocks(double rounds)
{
    return floor(rounds / LWP_PATTERN_UNROLLED) * LWP_PATTERN_UNROLLED;
}

/* Whether both loops move the two alike. */
static bool measured_alike(const struct lwp_order *order, const struct lwp_order_access *one, const struct lwp_order_access *other)
{
    uint64_t by[2];
    return llabs(one->step.bytes) == llabs(other->step.bytes) && measured_outer(order, one, &by[0]) &&
           measured_outer(order, other, &by[1]) && by[0] == by[1];
}

/* The array that an access is to. A pivot's column, which stays where it is while others come beside it, is one of its own, as far as there
 * is room. nest->arrays: a new one; LWP_PATTERN_ARRAYS: there are too many. */
static size_t measured_array(const struct lwp_order *order, const struct measured_nest *nest, size_t access)
{
    const struct lwp_order_access *to = &order->accesses[access];
    size_t same = LWP_PATTERN_ARRAYS;
    for (size_t a = 0; a < nest->arrays; a++) {
        const struct lwp_order_access *first = &order->accesses[nest->first[a]];
        if (first->stream->object != to->stream->object)
            continue;
        if (measured_alike(order, first, to) && !lwp_order_other_array(order, first, to))
            return a;
        same = a;
    }
    return nest->arrays < LWP_PATTERN_ARRAYS ? nest->arrays : same;
}

/* How far the access lies from the first one of its array: from any of them, as far as code says. */
static int64_t measured_at(const struct lwp_order *order, const struct measured_nest *nest, size_t access)
{
    int64_t apart;
    for (size_t i = 0; i < access; i++)
        if (nest->runs[i] && nest->array[i] == nest->array[access] &&
            lwp_order_apart(order, &order->accesses[i], &order->accesses[access], &apart))
            return nest->at[i] + apart;
    return measured_share(order, nest->first[nest->array[access]], access);
}

/* From the first to the last column that samples saw: not all of a row need be in use. */
static double measured_columns(const struct lwp_order *order, const struct lwp_order_access *column)
{
    const double apart = (double)column->columns.apart, whole = floor((double)llabs(column->step.bytes) / apart);
    double most = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *access = &order->accesses[i];
        if (access->step.kind == LWP_ORDER_COLUMN && access->step.bytes == column->step.bytes && access->columns.places)
            most = fmax(most, lwp_order_column((double)access->columns.span / apart + 1, access->columns.places, whole));
    }
    return most > 0 ? fmin(most, whole) : whole;
}

/* What is many times as large as all caches takes as long an element in a part of it: of columns of more lines than the last cache holds
 * fewer rows are run, and of rows fewer columns where all are still more than that cache, though no less than a page. A virtual machine may
 * have all of a cache that many share: a part that fits it is not taken for the whole. */
static void measured_cut(const struct lwp_order *order, struct measured_nest *nest)
{
    const struct lwp_caches caches = lwp_gain_caches(order->profile->machine);
    const double most = fmax(cut_caches * (double)caches.l3_bytes, (double)caches.l3_whole), line = (double)caches.line_bytes;
    double lines = 0, across = 0, least = INFINITY;
    uint64_t by;
    for (size_t a = 0; a < nest->arrays && most > 0; a++) {
        const struct lwp_order_access *first = &order->accesses[nest->first[a]];
        if (!measured_outer(order, first, &by))
            return;
        lines += fmin(line, (double)llabs(first->step.bytes));
        if (first->step.kind == LWP_ORDER_COLUMN && by) {
            across += (double)by;
            least = fmin(least, (double)by);
        }
    }
    if (lines <= 0 || across <= 0 || most <= 0)
        return;
    const double held = most / fmax(1, nest->between);
    nest->rows = fmin(nest->rows, fmax(LWP_PATTERN_UNROLLED, measured_blocks(held / lines)));
    nest->columns = fmin(nest->columns, fmax(measured_blocks(page_bytes / least), measured_blocks(held / across / nest->rows)));
}

/* A loop between the two that goes to other lines of the same rows: by the time that the next column comes, none of this one's need be in
 * the caches any more. (Rows that it goes on to are among those of the column.) */
static void measured_third(const struct lwp_order *order, const struct lwp_order_access *column, struct measured_nest *nest)
{
    const uint64_t step = (uint64_t)llabs(column->step.bytes);
    uint64_t by;
    if (order->outer.level != 2 || column->step.blocks || !measured_constant(order, column, 1, &by) || by >= step ||
        by < order->profile->machine.line_bytes)
        return;
    nest->between = floor((double)step / (double)by);
    nest->columns = fmin(nest->columns, measured_blocks((double)by / (double)column->columns.apart));
}

static bool measured_gather(const struct lwp_order *order, const struct lwp_order_access *column, struct measured_nest *nest)
{
    bool stores = false;
    uint64_t by;
    if (!column->columns.apart || column->step.kind != LWP_ORDER_COLUMN || order->rows < LWP_PATTERN_UNROLLED || column->step.window ||
        llabs(column->step.bytes) < (int64_t)(LWP_PATTERN_UNROLLED * column->columns.apart) || order->count > LWP_PATTERN_ACCESSES)
        return false;
    nest->rows = measured_blocks(lwp_order_rows(order, column, &nest->triangle));
    nest->columns = measured_blocks(measured_columns(order, column));
    measured_third(order, column, nest);
    nest->whole = nest->columns;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_stream *stream = order->accesses[i].stream;
        nest->runs[i] = lwp_order_stands(order, i);
        if (!nest->runs[i])
            continue;
        const size_t a = measured_outer(order, &order->accesses[i], &by) ? measured_array(order, nest, i) : LWP_PATTERN_ARRAYS;
        if (a == LWP_PATTERN_ARRAYS)
            return false;
        if (a == nest->arrays) {
            nest->first[nest->arrays++] = i;
            nest->low[a] = nest->high[a] = 0;
        }
        nest->array[i] = a;
        nest->at[i] = measured_at(order, nest, i);
        nest->low[a] = nest->at[i] < nest->low[a] ? nest->at[i] : nest->low[a];
        nest->high[a] = nest->at[i] > nest->high[a] ? nest->at[i] : nest->high[a];
        stores |= stream->stores > 0;
        nest->stored |= stream->stores > 0 && order->accesses[i].step.kind == LWP_ORDER_STAYS;
    }
    const bool chain = order->shape.work.loaded_chain > chain_sum;
    nest->goes_on = !stores && chain && lwp_order_sums_on(order, column);
    nest->sums = !stores && chain && !nest->goes_on && nest->arrays < LWP_PATTERN_ARRAYS;
    return nest->arrays > 0 && nest->rows > 0;
}

/* Cycles that an iteration would wait for the one before once the access is at the same place in each: what is loaded there, added to
 * and stored becomes a sum. 0: it does not, or does so today. */
static double measured_new_sum(const struct lwp_order *order, const struct lwp_order_access *access, bool *vector)
{
    uint64_t by;
    bool loaded = access->stream->loads > 0;
    if (!access->stream->stores || !access->step.bytes || !measured_outer(order, access, &by) || by)
        return 0;
    for (size_t i = 0; i < order->count; i++) {
        int64_t apart;
        loaded |= order->accesses[i].stream->object == access->stream->object && order->accesses[i].stream->loads &&
                  lwp_order_apart(order, access, &order->accesses[i], &apart) && !apart;
    }
    if (!loaded)
        return 0;
    *vector = lwp_code_operand(order->profile->code, access->stream->module, access->stream->address).vector;
    return *vector ? float_add_cycles : add_cycles;
}

/* Whether the access only loads what becomes a sum, which is in a register then. */
static bool measured_kept(const struct lwp_order *order, const struct measured_nest *nest, size_t access)
{
    bool vector, kept = false;
    for (size_t i = 0; i < order->count && !order->accesses[access].stream->stores; i++)
        kept |= nest->runs[i] && nest->array[i] == nest->array[access] && nest->at[i] == nest->at[access] &&
                measured_new_sum(order, &order->accesses[i], &vector) > 0;
    return kept;
}

bool lwp_order_begins_sums(const struct lwp_order *order)
{
    bool vector;
    for (size_t i = 0; i < order->count; i++)
        if (measured_new_sum(order, &order->accesses[i], &vector) > 0)
            return true;
    return false;
}

bool lwp_order_sums_on(const struct lwp_order *order, const struct lwp_order_access *column)
{
    return lwp_code_loop_sums_on(order->profile->code, column->stream->module, column->stream->address, order->outer.level);
}

/* The array of sums that takes a register's place. */
static void measured_sums(const struct measured_nest *nest, unsigned bytes, bool vector, struct lwp_pattern *pattern)
{
    const size_t a = pattern->array_count++;
    const uint64_t row = (uint64_t)nest->columns * bytes;
    pattern->arrays[a] = (struct lwp_pattern_array){.walk = LWP_PATTERN_NESTED,
                                                    .spacing = bytes,
                                                    .outer = nest->between > 0 ? row : 0,
                                                    .extent = row * (uint64_t)fmax(1, nest->between)};
    for (int store = 0; store < 2 && pattern->access_count < LWP_PATTERN_ACCESSES; store++)
        pattern->accesses[pattern->access_count++] =
            (struct lwp_pattern_access){.array = a, .bytes = bytes, .store = store, .vector = vector};
}

/* A pivot's column lies in the rows of the others, on the same pages where these are no longer: twice as many would not fit into the TLB as
 * soon. It is the first of them, as where a triangle is gone through. */
static void measured_pivots(const struct lwp_order *order, const struct measured_nest *nest, struct lwp_pattern *pattern)
{
    uint64_t by;
    for (size_t a = 0; a < nest->arrays; a++) {
        const struct lwp_order_access *pivot = &order->accesses[nest->first[a]];
        if (pivot->step.kind != LWP_ORDER_COLUMN || !measured_outer(order, pivot, &by) || by)
            continue;
        for (size_t other = 0; other < nest->arrays && !pattern->arrays[a].within; other++) {
            const struct lwp_order_access *columns = &order->accesses[nest->first[other]];
            if (columns->stream->object == pivot->stream->object && columns->step.kind == LWP_ORDER_COLUMN &&
                columns->step.bytes == pivot->step.bytes && measured_outer(order, columns, &by) && by &&
                pattern->arrays[a].extent <= pattern->arrays[other].extent)
                pattern->arrays[a].within = 1 + other;
        }
    }
}

/* Bytes from one row to the next in the new order, where rows are as long as `step` today. Of fewer columns they are shorter: prefetchers
 * go on from the end of a row to the next one, which has to be as near. */
static uint64_t measured_row(const struct measured_nest *nest, uint64_t step, uint64_t spacing)
{
    const double left_out = (nest->whole - nest->columns) * (double)spacing;
    return nest->between > 0 || nest->whole * (double)spacing > (double)step ? step : step - (uint64_t)left_out;
}

static bool measured_fill(const struct lwp_order *order, const struct measured_nest *nest, bool interchanged, struct lwp_pattern *pattern)
{
    memset(pattern, 0, sizeof *pattern); /* padding too: patterns are compared as bytes */
    const double inner = interchanged ? nest->columns : nest->rows, outer = interchanged ? nest->rows : nest->columns;
    pattern->inner = (uint64_t)inner;
    pattern->runs = (uint64_t)nest->between;
    pattern->elements = (uint64_t)inner * (uint64_t)outer * (uint64_t)fmax(1, nest->between);
    lwp_gain_computes(&order->shape.work, 1, pattern);
    const bool in_memory = interchanged && (nest->sums || nest->stored);
    pattern->chain = in_memory ? 1 : pattern->chain;
    pattern->floating &= !in_memory;
    pattern->through_memory &= !in_memory;
    pattern->scaled = in_memory ? 0 : pattern->scaled;
    pattern->threads = 1;
    pattern->array_count = nest->arrays;
    for (size_t i = 0; i < order->count; i++) {
        const struct lwp_order_access *access = &order->accesses[i];
        const size_t a = nest->array[i];
        uint64_t step = (uint64_t)llabs(access->step.bytes), by = 0, between = 0;
        if (!nest->runs[i])
            continue;
        if (!measured_outer(order, access, &by) ||
            (pattern->runs && (!measured_constant(order, access, 1, &between) || between >= INT32_MAX)))
            return false;
        bool vector = false;
        const double sum = interchanged ? measured_new_sum(order, access, &vector) : 0;
        if (sum > 0) {
            pattern->chain = fmax(pattern->chain, sum);
            pattern->floating |= vector;
            pattern->through_memory = nest->reloads;
        }
        struct lwp_pattern_array *array = &pattern->arrays[a];
        uint64_t spacing = interchanged ? by : step, around = interchanged ? measured_row(nest, step, by) : by;
        /* Of accesses to one object that go on in different ways the one that goes farthest counts. */
        if (spacing + around + between >= array->spacing + array->outer + array->plane) {
            array->walk = LWP_PATTERN_NESTED;
            array->spacing = spacing;
            array->outer = pattern->runs ? between : around;
            array->plane = pattern->runs ? around : 0;
        }
        const double runs = pattern->runs ? nest->between : outer;
        array->extent = (uint64_t)((inner - 1) * (double)array->spacing + (runs - 1) * (double)array->outer) +
                        (uint64_t)(outer - 1) * array->plane + (uint64_t)(nest->high[a] - nest->low[a]) +
                        order->profile->machine.line_bytes;
        const unsigned bytes = access->stream->bytes;
        if (interchanged && nest->sums && spacing == 0 && !access->stream->stores)
            continue; /* stays in a register: sums in an array of their own are stored nowhere else */
        if (interchanged && !nest->reloads && spacing == 0 && measured_kept(order, nest, i))
            continue;
        pattern->accesses[pattern->access_count++] = (struct lwp_pattern_access){.array = a,
                                                                                 .offset = (uint64_t)(nest->at[i] - nest->low[a]),
                                                                                 .bytes = bytes,
                                                                                 .store = access->stream->stores > access->stream->loads,
                                                                                 .vector = access->stream->vector};
        if (interchanged && nest->stored && access->step.kind == LWP_ORDER_STAYS && access->stream->stores && !access->stream->loads &&
            pattern->access_count < LWP_PATTERN_ACCESSES) { /* has to be loaded then */
            pattern->accesses[pattern->access_count] = pattern->accesses[pattern->access_count - 1];
            pattern->accesses[pattern->access_count - 1].store = false; /* not what was stored just now */
            pattern->access_count++;
        }
    }
    measured_pivots(order, nest, pattern);
    if (interchanged && nest->sums)
        measured_sums(nest, order->accesses[0].stream->bytes < 8 ? 4 : 8, order->shape.work.chain_of_vectors, pattern);
    return true;
}

bool lwp_order_pattern(const struct lwp_order *order, const struct lwp_order_access *column, bool interchanged, struct lwp_pattern *pattern)
{
    struct measured_nest nest = {0};
    if (!measured_gather(order, column, &nest))
        return false;
    measured_cut(order, &nest);
    return measured_fill(order, &nest, interchanged, pattern);
}

static int pace_compare(const void *a, const void *b)
{
    const struct lwp_traversal_pace *x = a, *y = b;
    return LWP_COMPARE(x->ns, y->ns);
}

/* Nanoseconds a round in the program, from where two samples are: so many rows and columns apart; 0: not known. Nor is it where both
 * loops are gone through again between two samples (`round_ns`: about what a round takes), or where a loop between the two does so: how
 * often, nobody counted. */
static double measured_pace(const struct lwp_order *order, const struct lwp_order_access *column, const struct measured_nest *nest,
                            double round_ns)
{
    const struct lwp_traversal *traversal = lwp_traversals_of(&order->profile->traversals, column->stream->object, order->region);
    struct lwp_traversal_pace paces[LWP_TRAVERSAL_PACES];
    const int64_t step = llabs(column->step.bytes);
    uint32_t count = 0;
    for (uint32_t i = 0; traversal && !column->step.blocks && i < traversal->pace_count; i++) {
        int64_t bytes = column->step.bytes < 0 ? -traversal->paces[i].bytes : traversal->paces[i].bytes,
                across = (int64_t)lwp_stride_residue(bytes, (uint64_t)step);
        const int64_t steps = (bytes - across) / step;
        double rounds = (double)across / (double)column->columns.apart * nest->rows + (double)steps;
        paces[count++] = (struct lwp_traversal_pace){.ns = traversal->paces[i].ns, .bytes = (int64_t)rounds};
    }
    qsort(paces, count, sizeof *paces, pace_compare);
    const uint32_t middle = count / 2;
    if (!count || order->outer.level > 1 || (double)paces[middle].ns > round_ns * nest->rows * nest->columns)
        return 0;
    return lwp_pace(paces, count, 1, nest->rows * nest->columns);
}

/* The truth lies between `measured` and what it is if the loop waits for memory as much as samples say. */
static void measured_between(const struct lwp_pattern_times *times, const struct lwp_gain_range *stalls, double pace,
                             struct lwp_gain_measured *measured)
{
    struct lwp_gain_measured sampled = *measured;
    lwp_gain_interval(times, stalls, pace, &sampled);
    measured->ratio = sqrt(measured->ratio * sampled.ratio);
    measured->low = fmin(measured->low, sampled.low);
    measured->high = fmax(measured->high, sampled.high);
}

/* False: it could not be run. *resembles: it is the loop, as far as that is known. */
static bool measured_run(const struct lwp_order *order, const struct lwp_order_access *column, const struct measured_nest *nest,
                         struct lwp_gain_measured *measured, bool *resembles)
{
    static const struct lwp_gain_range any = {0, 1};
    struct lwp_pattern before, after;
    struct lwp_pattern_times times;
    struct lwp_profile *profile = order->profile;
    struct measured_nest cut = *nest;
    measured_cut(order, &cut);
    if (!measured_fill(order, &cut, false, &before) || !measured_fill(order, &cut, true, &after) ||
        !lwp_gain_times(profile, order->region, &before, &after, &times))
        return false;
    if (nest->guesses > 0) {
        struct lwp_pattern_times with;
        before.guesses = after.guesses = true;
        if (!lwp_gain_times(profile, order->region, &before, &after, &with))
            return false;
        times = lwp_gain_mixed(&times, &with, nest->guesses);
    }
    const struct lwp_gain_range sampled = lwp_gain_stall_share(profile, order->region, &order->shape);
    const double pace = nest->triangle ? 0 : measured_pace(order, column, nest, times.before);
    const bool sums = nest->sums || nest->goes_on || nest->stored;
    bool same;
    lwp_gain_interval(&times, &any, pace, measured); /* it may compute where memory is fast enough */
    measured->pattern = times.before;
    const bool as_sampled = lwp_gain_resembles(&times, &(struct lwp_gain_range){sums ? 0 : sampled.low, sampled.high}, pace, &same);
    /* Where sums are awaited at the place where loads are, which of the two it is no sample says. */
    if (!as_sampled && sums && lwp_gain_resembles(&times, &any, pace, &same)) {
        measured_between(&times, &sampled, pace, measured);
        *resembles = true;
    }
    *resembles |= as_sampled;
    return true;
}

/* With the lengths that runs have; each counts as long as it takes. */
static bool measured_lengths(const struct lwp_order *order, const struct lwp_order_access *column, const struct measured_nest *nest,
                             struct lwp_gain_measured *measured, bool *resembles)
{
    struct lwp_order_length lengths[2];
    const bool planes = nest->rows < measured_blocks(order->rows);
    const unsigned count = lwp_order_lengths(order, column, planes, nest->triangle, lengths);
    double all = 0;
    *measured = (struct lwp_gain_measured){0};
    for (unsigned i = 0; i < count; i++) {
        struct lwp_gain_measured of = {0};
        struct measured_nest part = *nest;
        part.triangle = count > 1;
        part.rows = fmax(LWP_PATTERN_UNROLLED, measured_blocks(lengths[i].rows * nest->rows));
        part.columns = fmax(LWP_PATTERN_UNROLLED, measured_blocks(lengths[i].columns * nest->columns));
        if (!measured_run(order, column, &part, &of, resembles))
            return false;
        const double takes = lengths[i].visits * of.pattern;
        measured->ratio += takes * of.ratio;
        measured->low += takes * of.low;
        measured->high += takes * of.high;
        measured->today = fmax(measured->today, of.today);
        measured->unsteady = fmax(measured->unsteady, of.unsteady);
        all += takes;
    }
    measured->ratio /= all;
    measured->low /= all;
    measured->high /= all;
    return true;
}

/* Whether a compiler may have to load a sum again in each iteration: another store of the loop may be to its place. Where there is none,
 * what was stored is still in a register. */
static bool measured_reloads(const struct lwp_order *order)
{
    return order->shape.stores > 1 && lwp_order_begins_sums(order);
}

/* What is not known is run both ways: whether sums stay in registers, and whether jumps are guessed. */
bool lwp_order_measure(const struct lwp_order *order, const struct lwp_order_access *column, struct lwp_gain_measured *measured)
{
    struct measured_nest nest = {0};
    bool resembles = false;
    *measured = (struct lwp_gain_measured){0};
    if (!order->shape.work.instructions || !measured_gather(order, column, &nest))
        return false;
    const struct lwp_guesses jumps = lwp_gain_guesses(order->profile, order->region);
    const double guesses = fmin(1, jumps.ways + jumps.past + jumps.open);
    const int sums = measured_reloads(order) ? 2 : 1, ways = guesses > 0 ? 2 * sums : sums;
    for (int i = 0; i < ways; i++) {
        struct lwp_gain_measured of;
        nest.reloads = i % sums;
        nest.guesses = i / sums ? guesses : 0;
        if (!measured_lengths(order, column, &nest, &of, &resembles))
            return false;
        measured->ratio = i ? measured->ratio * of.ratio : of.ratio;
        measured->low = i ? fmin(measured->low, of.low) : of.low;
        measured->high = i ? fmax(measured->high, of.high) : of.high;
        measured->today = fmax(measured->today, of.today);
        measured->unsteady = fmax(measured->unsteady, of.unsteady);
    }
    measured->ratio = pow(measured->ratio, 1.0 / ways);
    return resembles;
}
