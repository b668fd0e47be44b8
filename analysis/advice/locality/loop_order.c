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
#include "analysis/advice/locality/loop_order.h"

#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITERATIONS_MOST = 64,
    PARTS_MOST = 12,
    MOVES_LEAST = 4,
    COLUMNS_LEAST = 4,
    PLACES_LEAST = 8,
    PAGE = 4096,
    ACCESSES_MOST = 64,
    SIBLINGS = 64
};

static const double regular_share = 0.75; /* of the moves that agree */
static const double share_least = 0.05;   /* of all time */
static const double stalled_least = 0.2;  /* of the loop's time, beyond what falls on its accesses by chance */
static const double lines_left = 0.5;     /* at most so much of the lines may remain */
static const double gain_least = 1.02;

/* ---- one access ---- */

/* Moves that are whole numbers of steps in one direction; returns how many, with the sign of the direction. */
static long moves_agreeing(const struct lwp_move *moves, size_t count, int64_t step)
{
    long up = 0, down = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t times = moves[i].bytes / step;
        if (!times || moves[i].bytes % step || llabs(times) > ITERATIONS_MOST || (moves[i].next && llabs(times) != 1))
            continue;
        up += times > 0;
        down += times < 0;
    }
    return up >= down ? up : -down;
}

/* The largest step that most moves are multiples of; 0: there is none. */
static int64_t moves_step(const struct lwp_move *moves, size_t count)
{
    int64_t best = 0;
    for (size_t i = 0; i < count; i++)
        for (int64_t parts = 1; parts <= (moves[i].next ? 1 : PARTS_MOST); parts++) {
            int64_t step = llabs(moves[i].bytes) / parts;
            if (!step || step * parts != llabs(moves[i].bytes) || step <= llabs(best))
                continue;
            long agreeing = moves_agreeing(moves, count, step);
            if ((double)labs(agreeing) >= regular_share * (double)count)
                best = agreeing > 0 ? step : -step;
        }
    return best;
}

static int length_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The step of moves from block to block, which need not be constant. */
static int64_t moves_median(const struct lwp_move *moves, size_t count)
{
    uint64_t lengths[LWP_MOVES_KEPT * 4];
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < sizeof lengths / sizeof *lengths; i++)
        lengths[kept++] = (uint64_t)llabs(moves[i].bytes);
    qsort(lengths, kept, sizeof *lengths, length_compare);
    return kept ? (int64_t)lengths[kept / 2] : 0;
}

struct lwp_order_step lwp_order_step(const struct lwp_move *moves, size_t count, int64_t by_code, bool stays,
                                     uint64_t line)
{
    size_t still = 0, blocks = 0, far = 0;
    for (size_t i = 0; i < count; i++) {
        still += moves[i].bytes == 0;
        blocks += moves[i].bytes != 0 && moves[i].within == 0;
        far += (uint64_t)llabs(moves[i].bytes) > line;
    }
    const double enough = regular_share * (double)count;
    struct lwp_order_step step = {.kind = LWP_ORDER_OTHER};
    if (count < MOVES_LEAST) {
        step.bytes = by_code;
        if (by_code || stays)
            step.kind = !by_code                           ? LWP_ORDER_STAYS
                        : (uint64_t)llabs(by_code) <= line ? LWP_ORDER_ROW
                                                           : LWP_ORDER_COLUMN;
        return step;
    }
    if ((double)still >= enough) {
        step.kind = LWP_ORDER_STAYS;
        return step;
    }
    if ((double)blocks >= enough && (double)far >= enough) {
        int64_t constant = moves_step(moves, count);
        return (struct lwp_order_step){LWP_ORDER_COLUMN, true, constant ? constant : moves_median(moves, count)};
    }
    step.bytes =
        by_code && (double)labs(moves_agreeing(moves, count, by_code)) >= enough ? by_code : moves_step(moves, count);
    if (step.bytes)
        step.kind = (uint64_t)llabs(step.bytes) <= line ? LWP_ORDER_ROW : LWP_ORDER_COLUMN;
    return step;
}

struct lwp_order_columns lwp_order_columns(const struct lwp_offsets *offsets, const struct lwp_order_step *step,
                                           uint64_t line)
{
    struct lwp_order_columns columns = {0};
    uint64_t places[256], size = (uint64_t)llabs(step->bytes), low = UINT64_MAX, high = 0;
    size_t count = 0, distinct = 0;
    for (uint32_t i = 0; i < offsets->count && count < sizeof places / sizeof *places; i++)
        places[count++] = step->blocks || !size ? offsets->items[i] : offsets->items[i] % size;
    qsort(places, count, sizeof *places, length_compare);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || places[i] != places[i - 1];
    struct lwp_stride apart = lwp_stride_estimate(places, count);
    if (distinct < COLUMNS_LEAST || !apart.bytes || apart.bytes >= line)
        return columns;
    for (size_t i = 0; i < count; i++)
        low = places[i] < low ? places[i] : low, high = places[i] > high ? places[i] : high;
    double range = (double)(high - low) / (double)apart.bytes + 1, width = (double)line;
    columns.apart = apart.bytes;
    columns.lines = ceil(range * (double)apart.bytes / width) / range;
    return columns;
}

double lwp_order_capacity(uint64_t bytes, uint64_t step, uint64_t line)
{
    uint64_t of_page = PAGE / line, lines = step / line;
    double part = step % line || !lines ? 1 : 1 / (double)lwp_stride_gcd(lines, of_page);
    return (double)bytes / (double)line * part;
}

/* ---- one loop ---- */

struct order_access {
    const struct lwp_stream *stream;
    struct lwp_order_step step;
    struct lwp_order_columns columns;
    bool small;                /* stays in the caches in any order */
    double now, then, blocked; /* lines an iteration: today, interchanged, blocked */
};

struct order {
    struct lwp_profile *profile;
    uint32_t region;
    struct order_access accesses[ACCESSES_MOST];
    size_t count;
    bool complete;            /* all accesses are there */
    struct lwp_tally stalled; /* of columns */
    struct lwp_loop_shape shape;
    double rows; /* longest column seen */
};

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
            places[count++] = (uint64_t)((siblings[i].delta % (int64_t)step + (int64_t)step) % (int64_t)step);
    *density = fmin(1, (double)stream->bytes / (double)line);
    if (!count)
        return 1;
    /* Clusters of places less than a line apart, also across the step's end; bytes of each count once. */
    double lines = 0, used = 0;
    qsort(places, count, sizeof *places, length_compare);
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
static size_t order_moves(const struct order *order, const struct lwp_stream *stream, struct lwp_move *moves,
                          size_t room)
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
        low = offsets->items[i] < low ? offsets->items[i] : low;
        high = offsets->items[i] > high ? offsets->items[i] : high;
    }
    return offsets->count ? (double)(high - low) : 0;
}

/* From the first to the last row seen. */
static double order_rows(const struct lwp_profile *profile, const struct order_access *access)
{
    if (access->step.blocks)
        return (double)profile->objects[access->stream->object].allocations;
    return order_range(&access->stream->offsets) / (double)llabs(access->step.bytes) + 1;
}

/* Whether all that the access goes to stays in the caches, in whatever order. */
static bool order_is_small(const struct lwp_profile *profile, const struct lwp_stream *stream)
{
    const struct lwp_object *object = &profile->objects[stream->object];
    const double most = (double)lwp_gain_caches(profile->machine).l2_bytes / 4;
    return stream->offsets.count >= PLACES_LEAST &&
           (object->allocations <= 1 ? 2 * order_range(&stream->offsets) : (double)object->bytes) <= most;
}

static void order_add(struct order *order, const struct lwp_stream *stream)
{
    enum { ROOM = LWP_MOVES_KEPT * 4 };
    struct lwp_profile *profile = order->profile;
    struct lwp_move moves[ROOM] = {0};
    struct lwp_loop_shape shape;
    if (order->count == ACCESSES_MOST) {
        order->complete = false;
        return;
    }
    struct order_access *access = &order->accesses[order->count++];
    bool shaped = lwp_loop_shape(profile->code, stream->module, stream->address, &shape);
    *access = (struct order_access){.stream = stream};
    access->step = lwp_order_step(moves, order_moves(order, stream, moves, ROOM), shaped ? shape.step : 0,
                                  shaped && shape.stays, profile->machine.line_bytes);
    if (shaped && stream->weight.weight > 0)
        order->shape = shape;
}

/* What is not known of an access is that of another one to the same place, or nearby, in the same iteration. */
static void order_inherit(struct order *order, struct order_access *access)
{
    struct lwp_sibling siblings[SIBLINGS];
    size_t count =
        lwp_code_siblings(order->profile->code, access->stream->module, access->stream->address, siblings, SIBLINGS);
    for (size_t i = 0; i < count && i < SIBLINGS && access->step.kind == LWP_ORDER_OTHER; i++)
        for (size_t k = 0; k < order->count; k++)
            if (order->accesses[k].stream->address == siblings[i].address &&
                order->accesses[k].stream->object == access->stream->object)
                access->step = order->accesses[k].step;
}

static void order_count(struct order *order, struct order_access *access)
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
        access->columns = lwp_order_columns(&stream->offsets, &access->step, profile->machine.line_bytes);
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
    order->rows = fmax(order->rows, order_rows(profile, access));
}

/* ---- what the loop around does to rows ---- */

/* Whether where the row lies goes with which column it is, in the samples that saw both. -1: not known. */
static int order_follows(const struct order *order, const struct order_access *row, const struct order_access *column)
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
        if ((!forward && (pair->a != b || pair->b != a)) ||
            lwp_regions_final(order->profile, pair->region) != order->region)
            continue;
        for (uint32_t k = 0; k < pair->close.count + pair->loose.count && count < sizeof x / sizeof *x; k++) {
            const struct lwp_traversal_meeting *m =
                k < pair->close.count ? &pair->close.kept[k] : &pair->loose.kept[k - pair->close.count];
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
static bool order_is_vector(const struct order *order, const struct order_access *row)
{
    return order_range(&row->stream->offsets) <= 1.5 * order->rows * (double)llabs(row->step.bytes);
}

/* Lines an iteration when loops are interchanged. */
static void order_exchange(struct order *order)
{
    const double line = (double)order->profile->machine.line_bytes;
    const struct order_access *column = NULL;
    for (size_t i = 0; i < order->count; i++)
        if (order->accesses[i].step.kind == LWP_ORDER_COLUMN &&
            (!column || order->accesses[i].stream->weight.weight > column->stream->weight.weight))
            column = &order->accesses[i];
    for (size_t i = 0; i < order->count; i++) {
        struct order_access *access = &order->accesses[i];
        if (access->small)
            continue;
        if (access->step.kind == LWP_ORDER_STAYS && access->stream->stride.bytes)
            access->then = fmin(1, (double)access->stream->stride.bytes / line);
        if (access->step.kind == LWP_ORDER_ROW)
            access->then = order_is_vector(order, access) ? 0 : order_follows(order, access, column) ? 1 : 0;
    }
}

/* ---- advice ---- */

struct order_lines {
    double now, then, blocked;
};

static struct order_lines order_sum(const struct order *order)
{
    struct order_lines sum = {0};
    for (size_t i = 0; i < order->count; i++) {
        sum.now += order->accesses[i].now;
        sum.then += order->accesses[i].then;
        sum.blocked += order->accesses[i].blocked;
    }
    return sum;
}

/* The part of the loop's time that columns stall, beyond what falls on their accesses by chance. */
static double order_stalled(const struct order *order)
{
    const struct lwp_region *region = &order->profile->regions[order->region];
    size_t columns = 0;
    for (size_t i = 0; i < order->count; i++)
        columns += order->accesses[i].step.kind == LWP_ORDER_COLUMN;
    double whole = fmax(region->weight.weight, order->stalled.weight), share = order->stalled.weight / whole;
    double chance = order->shape.instructions ? fmin(0.5, (double)columns / order->shape.instructions) : 0;
    return (share - chance) / (1 - chance);
}

/* Whether the lines of a whole column are still there when the next one comes: then each is brought from memory once,
 * and blocking would not save any. That they are too far for the first level is what interchange mends. */
static bool order_survives(const struct order *order)
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

static const char *order_place(struct lwp_profile *profile, const struct lwp_region *region)
{
    const char *lines = lwp_regions_lines(profile, region);
    return lines
               ? lwp_arena_printf(profile->arena, "at %s", lines)
               : lwp_arena_printf(profile->arena, "in %s", region->function ? region->function : "code without a name");
}

/* "b, c and d": the objects walked by column, the most stalled first. */
static const char *order_names(const struct order *order, const struct order_access **first)
{
    const struct order_access *sorted[ACCESSES_MOST] = {0};
    struct lwp_profile *profile = order->profile;
    size_t count = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct order_access *access = &order->accesses[i];
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
    *first = sorted[0];
    const char *names = lwp_objects_name(profile, sorted[0]->stream->object);
    for (size_t i = 1; i < count; i++)
        names = lwp_arena_printf(profile->arena, "%s%s%s", names, i + 1 < count ? ", " : " and ",
                                 lwp_objects_name(profile, sorted[i]->stream->object));
    return names;
}

static void order_text(const struct order *order, bool interchange, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = order->profile;
    const struct lwp_region *region = &profile->regions[order->region];
    const struct lwp_region *around =
        region->is_function || region->parent == LWP_NONE ? NULL : &profile->regions[region->parent];
    const struct order_access *first;
    const char *names = order_names(order, &first), *here = order_place(profile, region);
    const bool nest = around && !around->is_function;
    const char *outer =
        nest ? lwp_arena_printf(profile->arena, "the loop %s", order_place(profile, around)) : "the code around it";
    const char *step =
        first->step.blocks
            ? lwp_arena_printf(profile->arena, "from one block to the next (%lld bytes)", llabs(first->step.bytes))
            : lwp_arena_printf(profile->arena, "in steps of %lld bytes", llabs(first->step.bytes));
    tip->title =
        lwp_arena_printf(profile->arena, "The loop %s walks over %s column by column, %s; %s moves by %llu bytes: %s",
                         here, names, step, outer, (unsigned long long)first->columns.apart,
                         !interchange ? "block the two"
                         : nest       ? "exchange the two"
                                      : "exchange them or transpose");
    if (interchange && nest)
        tip->next_step =
            lwp_arena_printf(profile->arena,
                             "Loop interchange: make %s the inner one and the loop %s the outer one, where no "
                             "iteration needs what a later one would then "
                             "not have stored yet (a sum that the inner loop kept in a variable becomes an array of "
                             "sums). %s is then walked line by line: "
                             "%.0f iterations use a line that one uses now. Where the order must stay, keep a "
                             "transposed copy. lwp collect -e exact --detect "
                             "locality counts the misses. Then run lwp collect again and compare with lwp diff.",
                             outer, here, names, 1 / first->columns.lines);
    else if (interchange)
        tip->next_step = lwp_arena_printf(profile->arena,
                                          "The loop %s goes down one column of %s each time it is run, and other runs "
                                          "go down the columns beside it: let it go over "
                                          "several columns at a time (make the loop over columns the inner one), or "
                                          "keep %s transposed. Then run lwp collect again and "
                                          "compare with lwp diff.",
                                          here, names, names);
    else
        tip->next_step = lwp_arena_printf(profile->arena,
                                          "Blocking: in either order of the loops one array is walked column by "
                                          "column. Let both loops go over a block of %llu times %llu "
                                          "elements before the next block, so that each line brought is used up while "
                                          "it is there. Then run lwp collect again and "
                                          "compare with lwp diff.",
                                          (unsigned long long)(profile->machine.line_bytes / first->columns.apart),
                                          (unsigned long long)(profile->machine.line_bytes / first->columns.apart));
}

/* Those that the loop goes over in another way then. */
static const uint32_t *order_objects(const struct order *order, size_t *count)
{
    uint32_t *objects = lwp_arena_alloc(order->profile->arena, order->count + 1, sizeof *objects);
    *count = 0;
    for (size_t i = 0; i < order->count; i++)
        if (order->accesses[i].step.kind == LWP_ORDER_COLUMN || order->accesses[i].step.kind == LWP_ORDER_ROW)
            objects[(*count)++] = order->accesses[i].stream->object;
    return objects;
}

static double order_gain(double w, double left)
{
    return 1 / (1 - fmin(w, 0.99) * (1 - left));
}

static bool order_advise(struct order *order, const struct lwp_sampled_locality *sampled, struct lwp_locality_tip *tip)
{
    struct lwp_profile *profile = order->profile;
    const struct lwp_share share = lwp_share_of(&order->stalled, &profile->total);
    if (share.value < share_least || !order->complete || order_stalled(order) < stalled_least)
        return false;
    order_exchange(order);
    struct order_lines sum = order_sum(order);
    const bool interchange = sum.then <= lines_left * sum.now;
    const double left = (interchange ? sum.then : sum.blocked) / sum.now;
    if (left > lines_left || order_gain(share.value, left) < gain_least || (!interchange && order_survives(order)))
        return false;
    *tip = (struct lwp_locality_tip){.kind = interchange ? "interchange" : "blocking",
                                     .share = share.value,
                                     .gain = {order_gain(share.low, left), order_gain(share.high, left)},
                                     .speedup = order_gain(share.value, left)};
    order_text(order, interchange, tip);
    const struct order_access *first;
    order_names(order, &first);
    tip->objects = order_objects(order, &tip->object_count);
    tip->object = first->stream->object;
    tip->region = order->region;
    for (tip->row = 0; tip->row < sampled->count; tip->row++)
        if (sampled->rows[tip->row].object == tip->object && sampled->rows[tip->row].region == tip->region)
            return true;
    return false;
}

void lwp_loop_order_advise(struct lwp_profile *profile, const struct lwp_sampled_locality *sampled,
                           struct lwp_locality_tips *tips)
{
    if (profile->locality.traced || !profile->machine.line_bytes || !lwp_gain_known(profile))
        return;
    struct order *order = lwp_zeroed(1, sizeof *order);
    struct lwp_locality_tip *all = lwp_arena_alloc(profile->arena, tips->count + sampled->count + 1, sizeof *all);
    if (tips->count)
        memcpy(all, tips->tips, tips->count * sizeof *all);
    tips->tips = all;
    for (size_t r = 0; r < sampled->count; r++) {
        const uint32_t region = sampled->rows[r].region;
        bool seen = profile->regions[region].is_function;
        for (size_t k = 0; k < r && !seen; k++)
            seen = sampled->rows[k].region == region;
        if (seen)
            continue;
        *order = (struct order){.profile = profile, .region = region, .complete = true};
        for (size_t i = 0; i < profile->stream_count; i++)
            if (profile->streams[i].region == region && profile->streams[i].object != LWP_NONE &&
                profile->streams[i].module != LWP_NONE)
                order_add(order, &profile->streams[i]);
        for (size_t i = 0; i < order->count; i++)
            order_inherit(order, &order->accesses[i]);
        for (size_t i = 0; i < order->count; i++)
            order_count(order, &order->accesses[i]);
        tips->count += order_advise(order, sampled, &tips->tips[tips->count]);
    }
    free(order);
}
