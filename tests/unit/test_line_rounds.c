/* Conflicts of cores over cache lines, from traces of one turn after the other: closed forms, however long the turns are, and a naive
 * reference that mixes the accesses at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/caches/line_rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BYTES = 1024, TIMES = 4000 };

struct sums {
    double mean, least, most, other_bytes;
    uint64_t lines;
};

static void add_line(void *to, const struct lwp_round_line *line)
{
    struct sums *sums = to;
    sums->lines++;
    for (uint32_t i = 0; i < line->count; i++) {
        struct lwp_round_conflicts of = lwp_round_conflicts(line, &line->part[i]);
        assert_true(of.least <= of.mean + 1 && of.mean <= of.most + 1e-9);
        sums->mean += of.mean;
        sums->least += of.least;
        sums->most += of.most;
        sums->other_bytes += lwp_round_false(line, &line->part[i]);
    }
}

/* MACPO's listing 4: each thread increments the bytes i, i + 4, ...; `apart`: each has a quarter. So many increments a turn. */
static struct sums listing_4(unsigned turn, bool apart)
{
    struct lwp_rounds rounds = {0};
    struct sums sums = {0};
    unsigned done[THREADS] = {0}, running = THREADS;
    lwp_rounds_turn(&rounds, THREADS, 1, add_line, &sums); /* who made them */
    while (running) {
        running = 0;
        for (unsigned t = 0; t < THREADS; t++) {
            unsigned now = done[t] + turn < TIMES ? turn : TIMES - done[t];
            if (!now)
                continue;
            running++;
            lwp_rounds_turn(&rounds, t, 2 * now, add_line, &sums);
            for (unsigned i = 0; i < now; i++, done[t]++) {
                unsigned which = done[t] % (BYTES / THREADS), at = apart ? t * (BYTES / THREADS) + which : which * THREADS + t;
                lwp_rounds_access(&rounds, at / 64, at % 64, 1, false, t);
                lwp_rounds_access(&rounds, at / 64, at % 64, 1, true, t);
            }
        }
    }
    lwp_rounds_end(&rounds, add_line, &sums);
    lwp_rounds_free(&rounds);
    return sums;
}

static void test_turns(void **state)
{
    (void)state;
    static const unsigned turns[] = {1, 8, 64, 1000, TIMES};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct sums sums = listing_4(turns[i], false);
        const double stores = (double)THREADS * TIMES;
        assert_true(fabs(sums.mean / (0.75 * stores) - 1) < 0.03);
        assert_true(sums.least <= sums.mean && sums.most >= sums.mean && sums.most <= stores);
        assert_true(sums.other_bytes > 0.8 * stores && sums.other_bytes < 2 * stores);
        sums = listing_4(turns[i], true);
        assert_true(sums.mean == 0 && sums.other_bytes == 0);
    }
}

/* In an even mix: what lwp_round_conflicts() says is how often the storing core changes, on average of random orders. */
static void test_mixed(void **state)
{
    (void)state;
    enum { MOST = 40, ORDERS = 300, LINES = 60 };
    srand(7);
    for (int n = 0; n < LINES; n++) {
        struct lwp_round_line line = {.count = 2 + (uint32_t)(rand() % 3)};
        uint32_t order[4 * MOST], count = 0;
        for (uint32_t i = 0; i < line.count; i++) {
            line.part[i].stores = 1 + (uint32_t)(rand() % MOST);
            for (uint32_t k = 0; k < line.part[i].stores; k++)
                order[count++] = i;
        }
        double changes = 0, mean = 0;
        for (int o = 0; o < ORDERS; o++) {
            for (uint32_t i = count - 1; i > 0; i--) {
                uint32_t k = (uint32_t)rand() % (i + 1), swapped = order[i];
                order[i] = order[k];
                order[k] = swapped;
            }
            for (uint32_t i = 0; i < count; i++) /* in a circle: rounds follow each other */
                changes += order[i] != order[(i + 1) % count];
        }
        for (uint32_t i = 0; i < line.count; i++)
            mean += lwp_round_conflicts(&line, &line.part[i]).mean;
        assert_true(fabs(changes / ORDERS - mean) < 0.1 * mean + 1);
    }
}

/* What a thread does alone has no company: neither before the others start, nor between their turns, but for its end. */
static void test_alone(void **state)
{
    (void)state;
    struct lwp_rounds rounds = {0};
    struct sums sums = {0};
    for (int chunk = 0; chunk < 100; chunk++) {
        lwp_rounds_turn(&rounds, 0, 10, add_line, &sums);
        for (unsigned i = 0; i < 10; i++)
            lwp_rounds_access(&rounds, 5, i, 1, true, 0);
    }
    lwp_rounds_turn(&rounds, 1, 10, add_line, &sums);
    for (unsigned i = 0; i < 10; i++)
        lwp_rounds_access(&rounds, 5, 32 + i, 1, true, 0);
    for (int chunk = 0; chunk < 100; chunk++) { /* not more than twice as long as the other's turn */
        lwp_rounds_turn(&rounds, 0, 10, add_line, &sums);
        for (unsigned i = 0; i < 10; i++)
            lwp_rounds_access(&rounds, 5, i, 1, true, 0);
    }
    assert_true(sums.lines == 0);
    lwp_rounds_turn(&rounds, 1, 10, add_line, &sums);
    lwp_rounds_access(&rounds, 5, 32, 1, true, 0);
    lwp_rounds_end(&rounds, add_line, &sums);
    assert_true(sums.lines == 1 && sums.most <= 2);
    lwp_rounds_free(&rounds);
}

/* Of one that goes over all of a line, and of the same bytes, nothing is false sharing. */
static void test_same_bytes(void **state)
{
    (void)state;
    struct lwp_round_line line = {.count = 3};
    line.part[0] = (struct lwp_round_part){.accesses = 64, .stores = 64, .stored = UINT64_MAX};
    line.part[1] = (struct lwp_round_part){.accesses = 10, .stores = 10, .stored = 0xff};
    line.part[2] = (struct lwp_round_part){.accesses = 10, .loaded = 0xff00};
    assert_true(lwp_round_false(&line, &line.part[0]) == 0);
    assert_true(lwp_round_false(&line, &line.part[1]) == 5 && lwp_round_false(&line, &line.part[2]) == 5);
    line.part[2].loaded = 0xff;
    assert_true(lwp_round_false(&line, &line.part[1]) == 0 && lwp_round_false(&line, &line.part[2]) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns), cmocka_unit_test(test_mixed), cmocka_unit_test(test_alone),
                                       cmocka_unit_test(test_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
