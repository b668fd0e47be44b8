/* Different values of an array against what is counted one by one; the exact engine's files are included, as they are no part of lwp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "collector/exact/detect/registers/stored_elements.c"
#include "collector/exact/detect/registers/unique.c"
#include "collector/record/value.c"
#include "tests/unit/shadow_port.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 600, ARRAYS = 12000 };

static int double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t naive_unique(const unsigned char *at, size_t count, size_t step, size_t size)
{
    size_t unique = 0;
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        while (before < i && memcmp(at + before * step, at + i * step, size))
            before++;
        unique += before == i;
    }
    return unique;
}

static void test_random(void **state)
{
    (void)state;
    static unsigned char bytes[ELEMENTS * 32];
    uint32_t random = 11;
    for (unsigned array = 0; array < ARRAYS; array++) {
        const size_t size = 1 + lwp_random_below(&random, 16), step = size + lwp_random_below(&random, 17);
        const size_t count = 1 + lwp_random_below(&random, array % 50 ? 60 : ELEMENTS);
        const uint32_t values = 1 + lwp_random_below(&random, 300);
        for (size_t i = 0; i < count; i++) {
            uint32_t of = lwp_random_below(&random, values) * 2654435761u;
            for (size_t k = 0; k < size; k++)
                bytes[i * step + k] = (unsigned char)(of >> 8 * (k % 4));
        }
        struct lwp_unique unique;
        assert_true(lwp_unique_count(&port, bytes, count, step, size, false, &unique));
        assert_int_equal(unique.values, naive_unique(bytes, count, step, size));
        assert_int_equal(unique.groups, unique.values);
    }
    assert_int_equal(mapped, 0);
}

static bool are_close(double a, double b)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return lwp_value_compare(x, y, sizeof x, sizeof x) != LWPS_VALUE_OTHER;
}

/* A group's least number and all that are within 1 % of it. */
static void test_close(void **state)
{
    (void)state;
    static double numbers[ELEMENTS], sorted[ELEMENTS];
    uint32_t random = 13;
    for (unsigned array = 0; array < 2000; array++) {
        const size_t count = 1 + lwp_random_below(&random, 100);
        for (size_t i = 0; i < count; i++)
            numbers[i] = (lwp_random_below(&random, 2) ? -1 : 1) * (100 + lwp_random_below(&random, 2000) * 0.05);
        if (array % 3 == 0)
            numbers[0] = 0;
        memcpy(sorted, numbers, sizeof numbers);
        qsort(sorted, count, sizeof *sorted, double_compare);
        size_t groups = 0;
        double base = 0;
        for (size_t i = 0; i < count; i++)
            if (!i || !are_close(base, sorted[i])) {
                base = sorted[i];
                groups++;
            }
        struct lwp_unique unique;
        assert_true(lwp_unique_count(&port, numbers, count, sizeof *numbers, sizeof *numbers, true, &unique));
        assert_int_equal(unique.values, naive_unique((const unsigned char *)numbers, count, sizeof *numbers, sizeof *numbers));
        assert_int_equal(unique.groups, groups);
    }
}

/* One quarter scattered fives (RedSpy's S is 0.25); and more values than are kept, within 1 %. */
static void test_scattered(void **state)
{
    (void)state;
    enum { MANY = 1 << 20, MORE = 12 << 20 };
    uint32_t *elements = malloc(MORE * sizeof *elements), random = 3;
    struct lwp_unique unique;
    size_t fives = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        elements[i] = lwp_random_below(&random, 4) ? 1000 + i : 5;
        fives += elements[i] == 5;
    }
    assert_true(lwp_unique_count(&port, elements, MANY, 4, 4, false, &unique));
    assert_int_equal(MANY - unique.values, fives - 1);
    for (uint32_t i = 0; i < MORE; i++)
        elements[i] = i % 3 ? i * 2654435761u : 5;
    assert_true(lwp_unique_count(&port, elements, MORE, 4, 4, false, &unique));
    assert_true(fabs((double)unique.values / (MORE * 2 / 3.0) - 1) < 0.01);
    free(elements);
    assert_int_equal(mapped, 0);
}

/* Which elements were stored to and how far apart most are, against an array of what was put in. */
static void test_stored(void **state)
{
    (void)state;
    enum { ROOM = 400 };
    uint32_t random = 17;
    for (unsigned trace = 0; trace < ARRAYS; trace++) {
        bool stored[ROOM] = {false};
        const size_t size = 1 + lwp_random_below(&random, 8), room = 1 + lwp_random_below(&random, ROOM);
        const uint64_t low = 0x1000 + lwp_random_below(&random, 5000), step = 1 + lwp_random_below(&random, 5),
                       block = 1 + lwp_random_below(&random, 40);
        struct lwp_stored_elements set;
        assert_true(lwp_stored_begin(&set, &port, low, low + room * size, size));
        for (uint64_t i = 0; i < room; i += lwp_random_below(&random, 8) ? step : block) { /* evenly, with jumps; now and then a vector */
            const size_t lanes = trace % 3 ? 1 : 1 + lwp_random_below(&random, 4);
            lwp_stored_put(&set, low + i * size, lanes * size);
            for (size_t k = 0; k < lanes && i + lanes <= room; k++)
                stored[i + k] = true;
            if (size > 1)
                lwp_stored_put(&set, low + i * size + 1, size); /* of no element */
        }
        size_t gaps[ROOM + 1] = {0}, pairs = 0, count = 0, before = 0, most = 0;
        for (size_t i = 0; i < room; i++) {
            if (!stored[i])
                continue;
            if (count++)
                gaps[i - before]++, pairs++;
            before = i;
        }
        for (size_t gap = 1; gap <= room; gap++)
            most = gaps[gap] > gaps[most] ? gap : most;
        uint64_t times, seen = 0;
        assert_int_equal(set.count, count);
        assert_int_equal(lwp_stored_step(&set, &times), 2 * gaps[most] > pairs ? most : 0);
        if (2 * gaps[most] > pairs)
            assert_int_equal(times, gaps[most]);
        for (uint64_t at = lwp_stored_next(&set, 0); at < set.room; at = lwp_stored_next(&set, at + 1), seen++)
            assert_true(stored[at]);
        assert_int_equal(seen, count);
        lwp_stored_end(&set);
    }
    assert_int_equal(mapped, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_close), cmocka_unit_test(test_scattered),
                                       cmocka_unit_test(test_stored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
