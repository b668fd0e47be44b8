/* In: what samples saw of one access (moves.h, offsets). Out: how it goes on from iteration to iteration, and which
 * places it goes to within one such step. */
#include "analysis/advice/locality/loop_order_internal.h"

#include "analysis/advice/gain/gain_model.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS_MOST = 64, PARTS_MOST = 12, MOVES_LEAST = 4, COLUMNS_LEAST = 4, PLACES_LEAST = 8, PAGE = 4096, PLACES_MOST = 256 };

static const double regular_share = 0.75; /* of the moves that agree */
static const double gap_sure = 7;         /* ... between rows is none by chance: in one of a thousand cases it is */

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

/* The step that the most moves are multiples of, the largest of several; 0: too few agree. (Where moves are several steps long, by
 * chance most may be multiples of twice the step, too.) */
static int64_t moves_step(const struct lwp_move *moves, size_t count)
{
    int64_t best = 0;
    long most = 0;
    for (size_t i = 0; i < count; i++)
        for (int64_t parts = 1; parts <= (moves[i].next ? 1 : PARTS_MOST); parts++) {
            int64_t step = llabs(moves[i].bytes) / parts;
            if (!step || step * parts != llabs(moves[i].bytes))
                continue;
            long agreeing = moves_agreeing(moves, count, step);
            if ((double)labs(agreeing) < regular_share * (double)count || labs(agreeing) < most ||
                (labs(agreeing) == most && step <= llabs(best)))
                continue;
            best = agreeing > 0 ? step : -step;
            most = labs(agreeing);
        }
    return best;
}

/* Of a loop of few iterations that begins again a whole number of steps away, as one over a window that slides along does: only an
 * execution and the very next one are a step apart. 0: it is none. */
static int64_t moves_window(const struct lwp_move *moves, size_t count)
{
    struct lwp_move next[LWP_MOVES_KEPT * 4];
    size_t kept = 0, whole = 0;
    for (size_t i = 0; i < count && kept < sizeof next / sizeof *next; i++)
        if (moves[i].next)
            next[kept++] = moves[i];
    const int64_t step = kept < MOVES_LEAST ? 0 : moves_step(next, kept);
    for (size_t i = 0; i < count && step; i++)
        whole += moves[i].bytes % step == 0 && llabs(moves[i].bytes / step) <= ITERATIONS_MOST;
    return (double)whole >= regular_share * (double)count ? step : 0;
}

/* The step of moves from block to block, which need not be constant. */
static int64_t moves_median(const struct lwp_move *moves, size_t count)
{
    uint64_t lengths[LWP_MOVES_KEPT * 4];
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < sizeof lengths / sizeof *lengths; i++)
        lengths[kept++] = (uint64_t)llabs(moves[i].bytes);
    qsort(lengths, kept, sizeof *lengths, lwp_by_first);
    return kept ? (int64_t)lengths[kept / 2] : 0;
}

struct lwp_order_step lwp_order_step(const struct lwp_move *moves, size_t count, int64_t by_code, bool stays, uint64_t line)
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
            step.kind = !by_code ? LWP_ORDER_STAYS : (uint64_t)llabs(by_code) <= line ? LWP_ORDER_ROW : LWP_ORDER_COLUMN;
        return step;
    }
    if ((double)still >= enough) {
        step.kind = LWP_ORDER_STAYS;
        return step;
    }
    if ((double)blocks >= enough && (double)far >= enough) {
        int64_t constant = moves_step(moves, count);
        step.kind = LWP_ORDER_COLUMN;
        step.blocks = true;
        step.bytes = (uint64_t)llabs(constant) > line ? constant : moves_median(moves, count);
        return step;
    }
    step.bytes = by_code && (double)labs(moves_agreeing(moves, count, by_code)) >= enough ? by_code : moves_step(moves, count);
    if (!step.bytes) {
        step.bytes = moves_window(moves, count);
        step.window = step.bytes != 0;
    }
    if (step.bytes)
        step.kind = (uint64_t)llabs(step.bytes) <= line ? LWP_ORDER_ROW : LWP_ORDER_COLUMN;
    return step;
}

/* The limit below which what was counted `seen` times is not in the mean, with a probability of 95 % (Wilson and Hilferty's approximation
 * of the Poisson distribution's). */
static double count_least(double seen)
{
    return seen < 1 ? 0 : seen * pow(1 - 1 / (9 * seen) - 1.645 / (3 * sqrt(seen)), 3);
}

/* Rows that a run goes down at least, by how far the next one begins above where it was seen last; the longest run where they differ, as
 * in a triangle: of n even chances the greatest misses as much as they lie apart. Sorts `backs`. */
static double trips_back(uint64_t *backs, size_t count)
{
    size_t alike = 0;
    if (!count)
        return 0;
    qsort(backs, count, sizeof *backs, lwp_by_first);
    const double least = (double)backs[0], middle = (double)backs[count / 2], most = (double)backs[count - 1];
    for (size_t i = 0; i < count; i++)
        alike += fabs((double)backs[i] - middle) <= 0.25 * middle;
    if ((double)alike >= regular_share * (double)count)
        return middle;
    return most + (most - least) / (double)(count - 1);
}

double lwp_order_trips_most(const struct lwp_move *moves, size_t count, const struct lwp_order_step *step)
{
    uint64_t backs[LWP_MOVES_KEPT * 4];
    double times = 0;
    size_t goes_on = 0, back = 0;
    if (step->kind != LWP_ORDER_COLUMN || step->blocks || step->window)
        return INFINITY;
    for (size_t i = 0; i < count; i++) {
        const int64_t rows = moves[i].bytes / step->bytes;
        if (rows < 0 && back < sizeof backs / sizeof *backs)
            backs[back++] = (uint64_t)-rows;
        if (moves[i].bytes % step->bytes || rows < 1 || rows > ITERATIONS_MOST)
            continue;
        times += (double)rows;
        goes_on++;
    }
    const double ends = count_least((double)(count - goes_on));
    return goes_on && ends > 0 ? fmax((double)count * times / (double)goes_on / ends, trips_back(backs, back)) : INFINITY;
}

struct lwp_order_columns lwp_order_columns(const struct lwp_offsets *offsets, const struct lwp_order_step *step, uint64_t line)
{
    struct lwp_order_columns columns = {0};
    uint64_t places[PLACES_MOST], size = (uint64_t)llabs(step->bytes);
    size_t count = 0, distinct = 0;
    for (uint32_t i = 0; i < offsets->count && count < PLACES_MOST; i++)
        places[count++] = step->blocks || !size ? offsets->items[i] : offsets->items[i] % size;
    qsort(places, count, sizeof *places, lwp_by_first);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || places[i] != places[i - 1];
    struct lwp_stride apart = lwp_stride_estimate(places, count);
    if (distinct < COLUMNS_LEAST || !apart.bytes || apart.bytes >= line)
        return columns;
    double range = (double)(places[count - 1] - places[0]) / (double)apart.bytes + 1, width = (double)line;
    columns.apart = apart.bytes;
    columns.span = places[count - 1] - places[0];
    columns.places = (uint32_t)count;
    columns.lines = ceil(range * (double)apart.bytes / width) / range;
    return columns;
}

/* A uniform sample of n places misses (2 +- sqrt(2)) / (n + 1) of the column: it is all of the object's if it may be that long. What a
 * cache or a TLB just holds, a few rows more do not. */
double lwp_order_column(double seen, uint32_t places, double whole)
{
    if (places < PLACES_LEAST || whole <= seen)
        return seen;
    const double misses = seen / (places - 1);
    return whole <= seen + (2 + lwp_gain_deviations * M_SQRT2) * misses ? whole : seen + 2 * misses;
}

/* The largest of n gaps between uniform places is more than ln(n) + x of them on average in one of e^x cases. A few places beyond it are
 * the thin end of a triangle. */
uint32_t lwp_order_run(const uint64_t *sorted, uint32_t count, uint32_t *first)
{
    const uint64_t whole = count ? sorted[count - 1] - sorted[0] : 0;
    uint64_t gaps = 0, least = UINT64_MAX; /* of all that are left out, and the least of them */
    bool more = count >= PLACES_LEAST;
    while (more) {
        uint64_t largest = 0, at_least = 0;
        uint32_t left = 0;
        for (uint32_t i = 1; i < count; i++) {
            const uint64_t gap = sorted[i] - sorted[i - 1];
            left += gap < least;
            largest = gap < least && gap > largest ? gap : largest;
        }
        for (uint32_t i = 1; i < count; i++)
            at_least += sorted[i] - sorted[i - 1] == largest;
        more = left > at_least &&
               (double)largest > (log(count) + gap_sure) * (double)(whole - gaps - largest * at_least) / (double)(left - at_least);
        gaps += more ? largest * at_least : 0;
        least = more ? largest : least;
    }
    uint32_t most = 0, begin = 0;
    uint64_t longest = 0;
    *first = 0;
    for (uint32_t i = 1; i <= count; i++) {
        if (i < count && sorted[i] - sorted[i - 1] < least)
            continue;
        if (!most || sorted[i - 1] - sorted[begin] > longest) {
            longest = sorted[i - 1] - sorted[begin];
            most = i - begin;
            *first = begin;
        }
        begin = i;
    }
    if ((double)most > regular_share * (double)count)
        *first = 0, most = count;
    return most;
}

double lwp_order_capacity(uint64_t bytes, uint64_t step, uint64_t line)
{
    uint64_t of_page = PAGE / line, lines = step / line;
    double part = step % line || !lines ? 1 : 1 / (double)lwp_stride_gcd(lines, of_page);
    return (double)bytes / (double)line * part;
}
