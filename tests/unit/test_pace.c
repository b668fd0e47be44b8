/* The time of one element, from pairs of samples: against walks of which it is known. */
#include "analysis/advice/gain/pace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PAIRS = 48 };

static uint64_t pace_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Samples some `apart` ns apart of a walk that takes `ns` for each of `elements`, over and over; of `strays` in ten pairs something
 * else ran between the two. */
static double pace_found(double ns, double elements, double apart, unsigned strays)
{
    struct lwp_traversal_pace paces[PAIRS];
    uint64_t state = 7;
    for (int i = 0; i < PAIRS; i++) {
        double from = (double)(pace_random(&state) % (uint64_t)elements), took = apart * (0.5 + (double)(pace_random(&state) % 1000) / 1000);
        double to = fmod(from + took / ns, elements);
        if (pace_random(&state) % 10 < strays)
            to = (double)(pace_random(&state) % (uint64_t)elements);
        paces[i] = (struct lwp_traversal_pace){(uint64_t)took, (int64_t)((floor(to) - from) * 64)};
    }
    return lwp_pace(paces, PAIRS, 64, elements * 64);
}

static void test_known_walks(void **state)
{
    (void)state;
    const double elements[] = {1e5, 4e5, 3e6, 5e7};
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        for (double ns = 0.3; ns < 30; ns *= 2.1)
            if (1e6 / ns < 5 * elements[i]) { /* some walks lie between two samples, not many */
                assert_true(fabs(pace_found(ns, elements[i], 1e6, 0) / ns - 1) < 0.05);
                assert_true(fabs(pace_found(ns, elements[i], 1e6, 4) / ns - 1) < 0.05);
            }
}

static void test_not_known(void **state)
{
    (void)state;
    assert_true(pace_found(1, 1e6, 1e6, 10) == 0);   /* anywhere */
    assert_true(pace_found(1, 300, 1e6, 0) == 0);    /* thousands of walks lie between two samples */
    assert_true(lwp_pace(NULL, 0, 64, 6400000) == 0);
}

/* Threads that go over a part each: as long as one of them takes for an element. `shifted`: bytes that the second one's part begins
 * too early. */
static double pace_of_parts(double ns, uint64_t elements, unsigned threads, uint64_t shifted)
{
    struct lwp_traversal_pace paces[PAIRS];
    struct lwp_traversal_place places[PAIRS];
    const struct lwp_traversal traversal = {.paces = paces, .pace_count = PAIRS, .places = places, .count = PAIRS};
    const uint64_t part = elements / threads;
    uint64_t state = 7;
    for (unsigned i = 0; i < PAIRS; i++) {
        const uint64_t took = 500000 + pace_random(&state) % 1000000, from = pace_random(&state) % part, thread = i % threads;
        paces[i] = (struct lwp_traversal_pace){took, ((int64_t)((from + (uint64_t)((double)took / ns)) % part) - (int64_t)from) * 64};
        places[i] =
            (struct lwp_traversal_place){.offset = (thread * part + from) * 64 - (thread ? shifted : 0), .thread = (uint32_t)thread};
    }
    return lwp_pace_of(&traversal, 64, (double)elements * 64);
}

static void test_threads(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++)
        assert_true(fabs(pace_of_parts(3, 1200000, threads, 0) / 3 - 1) < 0.05);
    assert_true(pace_of_parts(3, 1200000, 2, 600000 * 32) == 0); /* no part of its own */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_walks), cmocka_unit_test(test_not_known),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
