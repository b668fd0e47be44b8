/* Strides, intervals, affinities and groups: the parts of the layout analysis that are plain functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/layout/split_internal.h"
#include "analysis/statistics/share.h"
#include "analysis/statistics/stride.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 12345;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % limit;
}

static double random_unit(void)
{
    return (double)random_below(1 << 30) / (1 << 30);
}

/* Every element size from 8 to 136: exact without strays, and with up to 10 % of them. */
static void test_strides(void **state)
{
    (void)state;
    for (uint64_t size = 8; size <= 136; size += 4)
        for (int strays = 0; strays <= 4; strays++) {
            uint64_t addresses[40];
            for (int i = 0; i < 40; i++)
                addresses[i] = 0x7f0000001000 + size * random_below(100000) + 4;
            for (int i = 0; i < strays; i++)
                addresses[random_below(40)] = 0x7f0000001000 + random_below(8000000);
            struct lwp_stride stride = lwp_stride_estimate(addresses, 40);
            if (stride.bytes != size)
                fail_msg("size %llu with %d strays: stride %llu", (unsigned long long)size, strays,
                         (unsigned long long)stride.bytes);
            assert_true(stride.probability > 0.999);
        }
}

static void test_stride_edges(void **state)
{
    (void)state;
    uint64_t one[] = {7, 7, 7};
    assert_int_equal(lwp_stride_estimate(one, 0).bytes, 0);
    assert_int_equal(lwp_stride_estimate(one, 3).bytes, 0);
    assert_true(lwp_stride_estimate(one, 3).probability == 0);
    uint64_t two[] = {0, UINT64_MAX};
    assert_true(lwp_stride_estimate(two, 2).bytes == UINT64_MAX);
    assert_true(lwp_stride_estimate(two, 2).probability == 0); /* two addresses prove nothing */
    uint64_t huge[20];
    for (int i = 0; i < 20; i++)
        huge[i] = (uint64_t)i * i * 1000000007u;
    assert_int_equal(lwp_stride_estimate(huge, 20).bytes, 1000000007u);
    uint64_t noise[64];
    for (int i = 0; i < 64; i++)
        noise[i] = random_below(1000000);
    assert_true(lwp_stride_estimate(noise, 64).bytes <= 2);
}

/* 95 % intervals hold the truth about 95 times of 100, for equal and for unequal weights. */
static void test_coverage(void **state)
{
    (void)state;
    static const double truths[] = {0.01, 0.1, 0.5, 0.9};
    for (size_t t = 0; t < 4; t++)
        for (int unequal = 0; unequal < 2; unequal++) {
            int inside = 0;
            enum { RUNS = 2000, SAMPLES = 400 };
            for (int run = 0; run < RUNS; run++) {
                struct lwp_tally part = {0}, whole = {0};
                for (int i = 0; i < SAMPLES; i++) {
                    double weight = unequal ? -log(1 - random_unit()) : 1;
                    lwp_tally_add(&whole, weight);
                    if (random_unit() < truths[t])
                        lwp_tally_add(&part, weight);
                }
                struct lwp_share share = lwp_share_of(&part, &whole);
                inside += share.low <= truths[t] && truths[t] <= share.high;
                assert_true(0 <= share.low && share.low <= share.value && share.value <= share.high && share.high <= 1);
            }
            double covered = (double)inside / RUNS;
            /* Four expected hits are too few for any interval to be exact: Wilson's truth there is 0.92. */
            if (covered < (truths[t] < 0.05 ? 0.90 : 0.925) || covered > 0.995)
                fail_msg("truth %.2f, unequal %d: covered %.3f", truths[t], unequal, covered);
        }
    struct lwp_tally none = {0};
    struct lwp_share share = lwp_share_of(&none, &none);
    assert_true(share.value == 0 && share.low == 0 && share.high == 1);
}

enum { I, W, X, V, U, P, Q, R, FIELDS };

struct art_loop {
    double weight;
    const char *fields;
};

static size_t load_loops(const struct art_loop *from, size_t count, bool uses[][FIELDS],
                         struct lwp_affinity_loop *loops)
{
    for (size_t i = 0; i < count; i++) {
        for (int f = 0; f < FIELDS; f++)
            uses[i][f] = strchr(from[i].fields, "IWXVUPQR"[f]) != NULL;
        loops[i] = (struct lwp_affinity_loop){from[i].weight, uses[i]};
    }
    return count;
}

static void weigh(const struct lwp_affinity_loop *loops, size_t count, double *weights)
{
    for (size_t i = 0; i < count; i++) {
        int used = 0;
        for (int f = 0; f < FIELDS; f++)
            used += loops[i].uses[f];
        for (int f = 0; f < FIELDS; f++)
            weights[f] += loops[i].uses[f] ? loops[i].weight / used : 0;
    }
}

/* Tables 5 and 6, figures 7 and 8 of the LWPTool paper. */
static const struct art_loop art[] = {{0.7, "UP"}, {8.2, "IWU"}, {10.7, "W"}, {6.5, "XQ"}, {11.3, "V"},
                                      {0.5, "UP"}, {10.3, "P"},  {51.6, "P"}, {0.2, "I"}};

static void test_art(void **state)
{
    (void)state;
    bool uses[9][FIELDS];
    struct lwp_affinity_loop loops[9];
    double affinity[FIELDS * FIELDS], weights[FIELDS] = {0};
    int group[FIELDS];
    size_t count = load_loops(art, 9, uses, loops);
    lwp_affinity_compute(loops, count, FIELDS, affinity);
    weigh(loops, count, weights);
    assert_true(affinity[I * FIELDS + U] > 0.8); /* figure 7: 0.92 */
    assert_true(affinity[X * FIELDS + Q] == 1);
    assert_true(affinity[I * FIELDS + W] < 0.4 && affinity[U * FIELDS + W] < 0.4);
    assert_true(affinity[U * FIELDS + P] < 0.05); /* 0.02 */
    assert_true(affinity[V * FIELDS + P] == 0);
    size_t groups = lwp_affinity_cluster(affinity, weights, FIELDS, 0.5, 0.01, group);
    assert_int_equal(groups, 5); /* P, W, V, XQ, IU; and R, cold */
    assert_int_equal(group[P], 0);
    assert_int_equal(group[X], group[Q]);
    assert_int_equal(group[I], group[U]);
    assert_int_equal(group[R], -1);
    int alone[] = {P, V, W};
    for (int i = 0; i < 3; i++)
        for (int f = 0; f < FIELDS; f++)
            assert_true(f == alone[i] || group[f] != group[alone[i]]);
    assert_int_not_equal(group[X], group[I]);
}

static void test_all_together(void **state)
{
    (void)state;
    static const struct art_loop whole[] = {{70, "IWXVUPQR"}, {29, "IWXVUPQR"}};
    bool uses[2][FIELDS];
    struct lwp_affinity_loop loops[2];
    double affinity[FIELDS * FIELDS], weights[FIELDS] = {0};
    int group[FIELDS];
    load_loops(whole, 2, uses, loops);
    lwp_affinity_compute(loops, 2, FIELDS, affinity);
    weigh(loops, 2, weights);
    assert_int_equal(lwp_affinity_cluster(affinity, weights, FIELDS, 0.5, 0.01, group), 1);
    for (int f = 0; f < FIELDS; f++)
        assert_int_equal(group[f], 0);
}

/* Second route: affinity counted access by access over a whole synthetic trace. */
static void test_against_trace(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        enum { LOOPS = 6 };
        bool uses[LOOPS][FIELDS];
        struct lwp_affinity_loop loops[LOOPS];
        double per_field[LOOPS][FIELDS] = {{0}}, affinity[FIELDS * FIELDS];
        for (int l = 0; l < LOOPS; l++) {
            int trips = 10 + (int)random_below(200);
            bool any = false;
            for (int f = 0; f < FIELDS; f++)
                any |= uses[l][f] = random_below(3) == 0;
            if (!any)
                uses[l][random_below(FIELDS)] = true;
            double weight = 0;
            for (int trip = 0; trip < trips; trip++)
                for (int f = 0; f < FIELDS; f++)
                    if (uses[l][f]) { /* one access of the trace */
                        per_field[l][f] += 1;
                        weight += 1;
                    }
            loops[l] = (struct lwp_affinity_loop){weight, uses[l]};
        }
        lwp_affinity_compute(loops, LOOPS, FIELDS, affinity);
        for (int i = 0; i < FIELDS; i++)
            for (int j = 0; j < FIELDS; j++) {
                double common = 0, all = 0;
                for (int l = 0; l < LOOPS; l++) {
                    all += per_field[l][i] + per_field[l][j];
                    if (per_field[l][i] > 0 && per_field[l][j] > 0)
                        common += per_field[l][i] + per_field[l][j];
                }
                double truth = all > 0 ? common / all : 0;
                assert_true(fabs(truth - affinity[i * FIELDS + j]) < 1e-9);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_stride_edges),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_art),
        cmocka_unit_test(test_all_together),
        cmocka_unit_test(test_against_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
