/* How far apart blocks lie, against places that were made up: evenly, in two arenas, too few. */
#include "analysis/advice/placement/spread.h"

#include "base/arena.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BLOCKS = 100000, NODE = 40 };

static double spread_of(size_t samples, uint64_t apart, uint64_t gap)
{
    struct lwp_object object = {.single = true, .bytes = BLOCKS * NODE, .largest = NODE};
    struct lwp_profile profile = {.objects = &object, .object_count = 1};
    const uint32_t which = 0;
    uint64_t random = 1;
    for (size_t i = 0; i < samples; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t block = (random >> 33) % BLOCKS, start = 1 << 20;
        start += block * apart + (block > BLOCKS / 2 ? gap : 0);
        /* What follows in the same sample lies beside it, and counts for nothing. */
        const struct lwp_traversal_access accesses[2] = {{.address = start + 8, .offset = 8}, {.address = start + apart}};
        lwp_moves_sample(&profile.moves, &profile, accesses, 2);
    }
    double error, spread = lwp_placement_spread(&profile, &which, 1, &error);
    assert_true(fabs(error - spread / (0.693 * sqrt((double)samples))) <= 0.02 * spread);
    lwp_moves_fini(&profile.moves);
    return spread;
}

static void test_blocks(void **state)
{
    (void)state;
    const uint64_t aparts[] = {48, 112, 400};
    for (size_t i = 0; i < sizeof aparts / sizeof *aparts; i++) {
        const double apart = (double)aparts[i], even = spread_of(1000, aparts[i], 0), arenas = spread_of(1000, aparts[i], 1ull << 40);
        /* The median of 1000 exponential gaps is off by 1 / (ln 2 * sqrt(1000)), 5 %, as a standard deviation. */
        assert_true(even > 0.8 * apart && even < 1.2 * apart);
        assert_true(arenas > 0.8 * apart && arenas < 1.2 * apart);
    }
    assert_true(spread_of(20, 48, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
