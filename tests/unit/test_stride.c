/* Strides with stray addresses against a naive search, and the probability stated against how often it holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/statistics/reservoir.h"
#include "analysis/statistics/stride.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum stray_kind { ANYWHERE, ODD, EVEN, DIVISOR, STRAY_KINDS };
static const char *const kind_names[] = {"anywhere", "odd", "even", "on a divisor of the stride"};

static uint64_t seed = 2463534242;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % limit;
}

static uint64_t stray(enum stray_kind kind, uint64_t stride, uint64_t elements)
{
    uint64_t range = stride * elements;
    switch (kind) {
    case ODD:
        return random_below(range / 2) * 2 + 1;
    case EVEN:
        return random_below(range / 2) * 2;
    case DIVISOR: {
        static const uint64_t parts[] = {2, 3, 4};
        uint64_t part = parts[random_below(3)];
        part = stride % part ? 4 : part; /* all strides here are multiples of 4 */
        return stride / part * random_below(elements * part);
    }
    default:
        return random_below(range);
    }
}

/* Addresses base + field + stride * i with random i; each a stray with a probability of strays in 1000. */
static void make_stream(uint64_t *addresses, size_t count, uint64_t stride, enum stray_kind kind, unsigned strays)
{
    uint64_t elements = 1000 + random_below(100000), base = 0x7f0000001010, field = random_below(stride / 4) * 4;
    for (size_t i = 0; i < count; i++) {
        bool astray = random_below(1000) < strays;
        addresses[i] = base + (astray ? stray(kind, stride, elements) : field + stride * random_below(elements));
    }
}

/* The largest stride that at least 80 % of the addresses agree with, by trying all of them. */
static uint64_t naive_stride(const uint64_t *addresses, size_t count)
{
    for (uint64_t stride = 600; stride > 1; stride--) {
        unsigned at[600] = {0};
        for (size_t i = 0; i < count; i++)
            if (++at[addresses[i] % stride] * 100 >= 80 * count)
                return stride;
    }
    return 1;
}

static void test_against_naive(void **state)
{
    (void)state;
    static const unsigned rates[] = {0, 10, 50};
    for (int kind = 0; kind < STRAY_KINDS; kind++)
        for (size_t r = 0; r < 3; r++)
            for (int run = 0; run < 150; run++) {
                uint64_t addresses[100], stride = 4 * (1 + random_below(64));
                size_t count = 50 + random_below(51);
                make_stream(addresses, count, stride, (enum stray_kind)kind, rates[r]);
                struct lwp_stride found = lwp_stride_estimate(addresses, count);
                uint64_t naive = naive_stride(addresses, count);
                if (found.bytes != naive || found.bytes != stride)
                    fail_msg("stride %llu, %zu addresses, %u of 1000 strays %s: found %llu, by trying all %llu",
                             (unsigned long long)stride, count, rates[r], kind_names[kind],
                             (unsigned long long)found.bytes, (unsigned long long)naive);
                assert_true(found.probability > 0.98);
            }
}

static void test_one_in_a_hundred(void **state)
{
    (void)state;
    for (uint64_t stride = 8; stride <= 512; stride += 4)
        for (int kind = 0; kind < STRAY_KINDS; kind++) {
            uint64_t addresses[100];
            make_stream(addresses, 100, stride, (enum stray_kind)kind, 0);
            addresses[random_below(100)] = 0x7f0000001010 + stray((enum stray_kind)kind, stride, 1000);
            struct lwp_stride found = lwp_stride_estimate(addresses, 100);
            assert_int_equal(found.bytes, stride);
            assert_true(found.probability > 0.9999);
        }
}

/* Addresses with no stride give none, whatever strays are allowed for. */
static void test_noise(void **state)
{
    (void)state;
    int invented = 0, sure = 0;
    for (int run = 0; run < 2000; run++) {
        uint64_t addresses[64];
        size_t count = 8 + random_below(57);
        for (size_t i = 0; i < count; i++)
            addresses[i] = random_below(1 << 24);
        struct lwp_stride found = lwp_stride_estimate(addresses, count);
        invented += found.bytes > 1;
        sure += found.bytes > 1 && found.probability > 0.99;
    }
    assert_true(invented < 40);
    assert_true(sure <= 4);
}

/* Of the cases where p is said at least p are right: with no strays, 1 % and 5 %. */
static void test_calibrated(void **state)
{
    (void)state;
    static const unsigned rates[] = {0, 10, 50};
    static const double edges[] = {0, 0.6, 0.8, 0.9, 0.95, 0.99, 0.999, 1.001};
    enum { BINS = 7, RUNS = 1200 };
    for (int kind = 0; kind < STRAY_KINDS; kind++)
        for (size_t r = 0; r < 3; r++) {
            double cases[BINS] = {0}, right[BINS] = {0}, said[BINS] = {0};
            for (size_t k = 2; k <= 40; k += k < 14 ? 1 : 13)
                for (int run = 0; run < RUNS; run++) {
                    uint64_t addresses[40], stride = 4 * (1 + random_below(50));
                    make_stream(addresses, k, stride, (enum stray_kind)kind, rates[r]);
                    struct lwp_stride found = lwp_stride_estimate(addresses, k);
                    int bin = 0;
                    while (found.probability >= edges[bin + 1])
                        bin++;
                    cases[bin]++;
                    right[bin] += found.bytes == stride;
                    said[bin] += found.probability;
                }
            for (int bin = 0; bin < BINS; bin++) {
                double p = cases[bin] ? said[bin] / cases[bin] : 0, got = cases[bin] ? right[bin] / cases[bin] : 1;
                double chance = 3 * sqrt(p * (1 - p) / fmax(cases[bin], 1)) + 2 / fmax(cases[bin], 1);
                if (got < p - chance)
                    fail_msg("%u of 1000 strays %s: said %.4f, right %.4f of %.0f", rates[r], kind_names[kind], p, got,
                             cases[bin]);
            }
        }
}

/* What is said is not only safe but of use: near the truth where there are no strays. */
static void test_not_too_modest(void **state)
{
    (void)state;
    for (size_t k = 8; k <= 16; k += 4) {
        double right = 0, said = 0;
        enum { RUNS = 2000 };
        for (int run = 0; run < RUNS; run++) {
            uint64_t addresses[16];
            make_stream(addresses, k, 40, ANYWHERE, 0);
            struct lwp_stride found = lwp_stride_estimate(addresses, k);
            right += found.bytes == 40;
            said += found.probability;
        }
        assert_true(said / RUNS > right / RUNS - 0.06);
        assert_true(k < 12 || said / RUNS > 0.95);
    }
}

/* Streams of threads that share an array, each with its own part of it: what is kept of all is what one stream would
 * have kept of the same accesses, none of the threads counts more than it should, and the stride is that of the array.
 */
static void test_merged_threads(void **state)
{
    (void)state;
    enum { THREADS = 4, RUNS = 200 };
    uint64_t kept[THREADS] = {0}, quarter = 25000, size = 40;
    for (int run = 0; run < RUNS; run++) {
        struct lwp_reservoir parts[THREADS], all = LWP_RESERVOIR_EMPTY;
        uint64_t merged[LWP_RESERVOIR], at_once[LWP_RESERVOIR];
        struct lwp_reservoir_pool pool = {0};
        struct lwp_reservoir_items of_parts = {.count = 0}, of_all = {.count = 0};
        for (int thread = 0; thread < THREADS; thread++)
            parts[thread] = LWP_RESERVOIR_EMPTY;
        for (int i = 0; i < 4000; i++) { /* the last thread takes twice as many samples */
            uint64_t pick = random_below(THREADS + 1), thread = pick < THREADS ? pick : THREADS - 1;
            uint64_t offset = size * (quarter * thread + random_below(quarter)) + 8;
            uint32_t rank = (uint32_t)random_below(1u << 31);
            lwp_reservoir_add(&pool, &parts[thread], rank, offset);
            lwp_reservoir_add(&pool, &all, rank, offset);
        }
        for (int thread = 0; thread < THREADS; thread++)
            lwp_reservoir_gather(&of_parts, &pool, &parts[thread]);
        lwp_reservoir_gather(&of_all, &pool, &all);
        assert_int_equal(lwp_reservoir_offsets(&of_parts, merged), LWP_RESERVOIR);
        assert_int_equal(lwp_reservoir_offsets(&of_all, at_once), LWP_RESERVOIR);
        assert_memory_equal(merged, at_once, sizeof merged);
        for (uint32_t i = 0; i < LWP_RESERVOIR; i++)
            kept[merged[i] / (size * quarter)]++;
        struct lwp_stride found = lwp_stride_estimate(merged, LWP_RESERVOIR);
        assert_int_equal(found.bytes, size);
        assert_true(found.probability > 0.999);
        lwp_reservoir_pool_free(&pool);
    }
    static const double shares[THREADS] = {0.2, 0.2, 0.2, 0.4};
    for (int thread = 0; thread < THREADS; thread++) {
        double share = (double)kept[thread] / (RUNS * LWP_RESERVOIR);
        assert_true(fabs(share - shares[thread]) < 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive),  cmocka_unit_test(test_one_in_a_hundred),
        cmocka_unit_test(test_noise),          cmocka_unit_test(test_calibrated),
        cmocka_unit_test(test_not_too_modest), cmocka_unit_test(test_merged_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
