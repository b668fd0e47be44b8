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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_walks), cmocka_unit_test(test_not_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
