/* Shares of bytes from shares of time: what places of one loop do compares as their samples do, whatever the loop costs; what loops do
 * is known as well as their rates are, and the interval says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/redundancy/redundancy_counts.h"

#include <math.h>
#include <stdlib.h>

static const double observations[] = {1000, 1000}, all_waste[] = {1, 0};

static struct lwp_share share_of(double rate_a, double rate_b, double doubt, uint32_t groups)
{
    const struct lwp_access_place places[] = {{.weight = 600}, {.weight = 400}};
    const struct lwp_access_rate rates[] = {{rate_a, doubt, 0}, {rate_b, doubt, groups - 1}};
    return lwp_access_share(places, rates, 2, groups, all_waste, observations, 2000);
}

static void test_one_group(void **state)
{
    (void)state;
    struct lwp_share same = share_of(3, 3, 1, 1), wide = share_of(1, 8, 1, 1); /* bytes of one place and eight of the other */
    assert_true(fabs(same.value - 0.6) < 1e-9 && same.low > 0.57 && same.high < 0.63);
    assert_true(fabs(wide.value - 600 / 3800.0) < 1e-9 && wide.low > 0.12 && wide.high < 0.2);
}

/* The doubt is that of the logarithm of both rates, so of the log odds it is sqrt(2) as much. */
static void test_two_groups(void **state)
{
    (void)state;
    struct lwp_share share = share_of(1, 1, 0.5, 2), sure = share_of(1, 1, 0, 2);
    double centre = log(0.6 / 0.4), half = 1.96 * 0.5 * sqrt(2);
    assert_true(fabs(share.low - 1 / (1 + exp(half - centre))) < 0.02 && fabs(share.high - 1 / (1 + exp(-half - centre))) < 0.02);
    assert_true(sure.low > 0.57 && sure.high < 0.63);
    const struct lwp_access_place places[] = {{.weight = 600}, {.weight = 400}};
    const struct lwp_access_rate rates[] = {{1, 2, 0}, {1, 2, 1}};
    const double alike[] = {0.3, 0.3};
    struct lwp_share equal = lwp_access_share(places, rates, 2, 2, alike, observations, 2000); /* however the loops compare */
    assert_true(fabs(equal.value - 0.3) < 1e-9 && equal.low > 0.27 && equal.high < 0.33);
}

/* Rates that are off as they are said to be: the interval holds the truth as often as it says. */
static void test_coverage(void **state)
{
    (void)state;
    enum { RUNS = 4000, PLACES = 6 };
    uint64_t random = 7;
    unsigned inside = 0;
    for (int run = 0; run < RUNS; run++) {
        struct lwp_access_place places[PLACES];
        struct lwp_access_rate rates[PLACES];
        double p[PLACES], m[PLACES], truth = 0, all = 0;
        for (uint32_t i = 0; i < PLACES; i++) {
            double normal = -6; /* the sum of twelve */
            for (int k = 0; k < 12; k++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                normal += (double)(random >> 11) / 9007199254740992.0;
            }
            places[i] = (struct lwp_access_place){.weight = 100};
            rates[i] = (struct lwp_access_rate){1, 0.8, i};
            p[i] = i % 3 == 0;
            m[i] = 1e6;
            truth += exp(0.8 * normal) * p[i];
            all += exp(0.8 * normal);
        }
        struct lwp_share share = lwp_access_share(places, rates, PLACES, PLACES, p, m, 1e6);
        inside += share.low <= truth / all && truth / all <= share.high;
    }
    print_message("the interval holds the truth in %.1f %% of %d runs\n", 100.0 * inside / RUNS, RUNS);
    assert_true(inside > 0.94 * RUNS && inside < 0.97 * RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_group), cmocka_unit_test(test_two_groups),
                                       cmocka_unit_test(test_coverage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
