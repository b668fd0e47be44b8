/* Reuse distances against what is counted one by one: of one core, of several, and the two tables of MACPO. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/caches/distance_counts.h"
#include "analysis/caches/reuse_distance.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum { ROW = 6000, CORES = 5 };

struct access {
    uint64_t line;
    unsigned core;
    bool store;
};

/* Different lines between two accesses, of one core or (core CORES) of all. */
static uint32_t between(const struct access *row, int from, int to, unsigned core)
{
    uint32_t count = 0;
    for (int i = from + 1; i < to; i++) {
        bool again = core < CORES && row[i].core != core;
        for (int k = from + 1; k < i && !again; k++)
            again = row[k].line == row[i].line && (core == CORES || row[k].core == core);
        count += !again;
    }
    return count;
}

/* By the definition: back to the core's own last access, unless another one wrote since; then to anyone's. */
static uint32_t by_hand(const struct access *row, int at, bool *restarted)
{
    int anyone = -1;
    bool taken = false;
    for (int i = at - 1; i >= 0; i--) {
        if (row[i].line != row[at].line)
            continue;
        anyone = anyone < 0 ? i : anyone;
        if (row[i].core == row[at].core && !taken) {
            *restarted = false;
            return between(row, i, at, row[at].core);
        }
        taken |= row[i].store && row[i].core != row[at].core;
    }
    *restarted = anyone >= 0;
    return anyone >= 0 ? between(row, anyone, at, CORES) : LWP_REUSE_FIRST;
}

static void test_one_core(void **state)
{
    (void)state;
    static const uint32_t spreads[] = {1, 2, 7, 300, 5000, 100000};
    for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
        struct lwp_reuse reuse;
        struct lwp_reuse_line *known;
        uint64_t *stack = calloc(200000, sizeof *stack);
        uint32_t random = 1 + (uint32_t)s, count = 0;
        lwp_reuse_init(&reuse);
        for (int i = 0; i < 40000; i++) {
            uint64_t line = i % 3 ? lwp_random_next(&random) % spreads[s] : (uint64_t)i % spreads[s];
            uint32_t at = 0;
            while (at < count && stack[at] != line)
                at++;
            uint32_t expected = at < count ? at : LWP_REUSE_FIRST;
            count += at == count;
            memmove(stack + 1, stack, at * sizeof *stack);
            stack[0] = line;
            assert_int_equal(lwp_reuse_access(&reuse, line, &known), expected);
            assert_int_equal(known->line, line);
        }
        lwp_reuse_free(&reuse);
        free(stack);
    }
}

static void test_cores(void **state)
{
    (void)state;
    static struct lwp_reuse_cores cores;
    static struct access row[ROW];
    uint32_t random = 77;
    for (unsigned lines = 3; lines < 200; lines *= 4) {
        lwp_reuse_cores_free(&cores);
        for (int i = 0; i < ROW / (lines < 20 ? 4 : 2); i++) {
            bool expected;
            row[i] = (struct access){lwp_random_next(&random) % lines, i < 50 ? 2 : lwp_random_next(&random) % CORES,
                                     lwp_random_next(&random) % 10 == 0};
            struct lwp_reused reused = lwp_reuse_cores_access(&cores, row[i].core, row[i].line, row[i].store);
            assert_int_equal(reused.distance, by_hand(row, i, &expected));
            assert_int_equal(reused.restarted, expected);
        }
    }
    lwp_reuse_cores_free(&cores);
}

static int distance_compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Many short traces, each of lines of its own, and the median of each: what stands in the middle of all distances in order, those never seen before last. */
static void test_small(void **state)
{
    (void)state;
    enum { TRACES = 10000, SHORT = 50 };
    static struct lwp_reuse_cores cores;
    uint32_t random = 4;
    for (unsigned trace = 0; trace < TRACES; trace++) {
        struct access row[SHORT];
        struct lwp_distance_counts counts = {{0}};
        uint32_t distances[SHORT], below = 0, median = LWP_REUSE_FIRST;
        const int length = 1 + (int)lwp_random_below(&random, SHORT);
        const uint32_t lines = 1 + lwp_random_below(&random, 20), threads = 1 + lwp_random_below(&random, CORES);
        for (int i = 0; i < length; i++) {
            bool expected;
            row[i] = (struct access){lwp_random_below(&random, lines), lwp_random_below(&random, threads), lwp_random_below(&random, 3) == 0};
            const struct lwp_reused reused = lwp_reuse_cores_access(&cores, row[i].core, row[i].line + trace * SHORT, row[i].store);
            distances[i] = by_hand(row, i, &expected);
            assert_int_equal(reused.distance, distances[i]);
            assert_int_equal(reused.restarted, expected);
            if (reused.distance != LWP_REUSE_FIRST)
                lwp_distance_counts_add(&counts, reused.distance);
        }
        for (uint32_t i = 0; i < LWP_DISTANCE_PAGE && counts.pages[0] && median == LWP_REUSE_FIRST; i++) {
            below += (uint32_t)counts.pages[0][i].count;
            median = 2 * below >= (uint32_t)length ? counts.pages[0][i].most : LWP_REUSE_FIRST;
        }
        qsort(distances, (size_t)length, sizeof *distances, distance_compare);
        assert_int_equal(median, distances[(length + 1) / 2 - 1]);
        lwp_distance_counts_free(&counts);
    }
    lwp_reuse_cores_free(&cores);
}

/* Tables II and III: a b c b d e a by cores 2 and 1; the last access to a is of its core, or of the other one. */
static void test_tables(void **state)
{
    (void)state;
    static const unsigned core[2][7] = {{1, 2, 1, 2, 2, 1, 1}, {1, 2, 1, 2, 2, 1, 2}};
    static const uint32_t distance[2] = {2, 4};
    for (int table = 0; table < 2; table++) {
        static struct lwp_reuse_cores cores;
        struct lwp_reused reused = {0};
        for (int i = 0; i < 7; i++)
            reused = lwp_reuse_cores_access(&cores, core[table][i], (uint64_t)"abcbdea"[i], true);
        assert_int_equal(reused.distance, distance[table]);
        assert_int_equal(reused.restarted, table);
        lwp_reuse_cores_free(&cores);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_core),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
