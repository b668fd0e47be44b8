/* Matches the loops of two results.
 *
 * Loops go by function and order within it: lines move when code is edited, functions and their order hardly do. Where
 * one result has more loops in a function, the pairing that keeps order and changes nesting, length and distance least.
 * Limits: a function that was given another name loses its loops. */
#include "analysis/diff/diff_parts.h"

#include <stdlib.h>
#include <string.h>

enum { FUNCTION_LOOPS_MAX = 64, OUTSIDE_DEPTH = 1000 /* from here on: code that is in no loop */ };

/* By function; code in no loop stands behind the function's loops. */
static int loops_compare_home(const struct lwp_diff_loop *x, const struct lwp_diff_loop *y)
{
    int order = strcmp(x->function ? x->function : "", y->function ? y->function : "");
    return order ? order : (x->depth >= OUTSIDE_DEPTH) - (y->depth >= OUTSIDE_DEPTH);
}

static int loops_compare(const void *a, const void *b, void *loops)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct lwp_diff_loop *x = (const struct lwp_diff_loop *)loops + i;
    const struct lwp_diff_loop *y = (const struct lwp_diff_loop *)loops + k;
    int order = loops_compare_home(x, y);
    if (order)
        return order;
    if (x->first_line != y->first_line)
        return x->first_line < y->first_line ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return i < k ? -1 : i > k;
}

static uint32_t *loops_sorted(const struct lwp_diff_result *result, struct lwp_arena *arena)
{
    uint32_t *order = lwp_arena_alloc(arena, result->loop_count + 1, sizeof *order);
    for (size_t i = 0; i < result->loop_count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, result->loop_count, sizeof *order, loops_compare, result->loops);
    return order;
}

static long loops_far(const struct lwp_diff_loop *a, const struct lwp_diff_loop *a0, const struct lwp_diff_loop *b,
                      const struct lwp_diff_loop *b0)
{
    long length = labs((long)(a->last_line - a->first_line) - (long)(b->last_line - b->first_line));
    long distance = labs((long)(a->first_line - a0->first_line) - (long)(b->first_line - b0->first_line));
    return labs((long)a->depth - (long)b->depth) * 10000 + length * 3 + distance;
}

/* n <= m loops of one function, each of the n gets one of the m, in order, at the least cost. */
static void loops_in_order(struct lwp_diff_result *few, const uint32_t *a, size_t n, struct lwp_diff_result *many, const uint32_t *b,
                           size_t m)
{
    static const long far_away = 1L << 40;
    long cost[FUNCTION_LOOPS_MAX + 1][FUNCTION_LOOPS_MAX + 1];
    bool taken[FUNCTION_LOOPS_MAX + 1][FUNCTION_LOOPS_MAX + 1];
    for (size_t j = 0; j <= m; j++)
        cost[0][j] = 0;
    for (size_t i = 1; i <= n; i++) {
        cost[i][0] = far_away;
        for (size_t j = 1; j <= m; j++) {
            long skip = cost[i][j - 1];
            long take =
                cost[i - 1][j - 1] + loops_far(&few->loops[a[i - 1]], &few->loops[a[0]], &many->loops[b[j - 1]], &many->loops[b[0]]);
            taken[i][j] = take < skip;
            cost[i][j] = taken[i][j] ? take : skip;
        }
    }
    for (size_t i = n, j = m; i > 0 && j > 0; j--)
        if (taken[i][j]) {
            few->loops[a[i - 1]].match = b[j - 1];
            many->loops[b[j - 1]].match = a[i - 1];
            i--;
        }
}

/* How many loops of one function follow each other from `at` on. */
static size_t loops_run(const struct lwp_diff_result *result, const uint32_t *order, size_t at)
{
    size_t end = at + 1;
    while (end < result->loop_count && loops_compare_home(&result->loops[order[end]], &result->loops[order[at]]) == 0)
        end++;
    return end - at;
}

static size_t loops_bounded(size_t count)
{
    return count < FUNCTION_LOOPS_MAX ? count : FUNCTION_LOOPS_MAX;
}

void lwp_diff_match_loops(struct lwp_diff_result *before, struct lwp_diff_result *after, struct lwp_arena *arena)
{
    uint32_t *a = loops_sorted(before, arena), *b = loops_sorted(after, arena);
    size_t i = 0, j = 0;
    while (i < before->loop_count && j < after->loop_count) {
        const struct lwp_diff_loop *x = &before->loops[a[i]], *y = &after->loops[b[j]];
        size_t n = loops_run(before, a, i), m = loops_run(after, b, j);
        int order = loops_compare_home(x, y);
        if (order == 0 && x->function) { /* nameless code is not the same code */
            if (loops_bounded(n) <= loops_bounded(m))
                loops_in_order(before, a + i, loops_bounded(n), after, b + j, loops_bounded(m));
            else
                loops_in_order(after, b + j, loops_bounded(m), before, a + i, loops_bounded(n));
        }
        i += order <= 0 ? n : 0;
        j += order >= 0 ? m : 0;
    }
}
