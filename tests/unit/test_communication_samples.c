/* What is handed over, estimated from few trials: against simulations whose truth is known. */
#include "analysis/profile/communication_samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PROCESS = 0, WRITER = 10, READER = 20, REGION = 0x10000, WEIGHT = 1000 };
static const uint64_t base = 0x7f0000004000;

static uint32_t seed = 1;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(seed >> 4) * n >> 28);
}

/* Instructions: of the program, and of a library that works for itself there. */
enum { HERE = 1, LIBRARY = 2 };
static uint32_t place = HERE;

static void store_at(struct lwp_communication_samples *samples, uint32_t writer, uint64_t address, uint64_t time, uint64_t weight)
{
    const struct lwp_communication_store store = {PROCESS, writer, place, address, time};
    lwp_communication_samples_store(samples, &store, weight);
}

static void trial_at(struct lwp_communication_samples *samples, uint32_t writer, uint32_t reader, uint64_t address, uint64_t time, bool read)
{
    const struct lwp_communication_store store = {PROCESS, writer, place, address, time};
    lwp_communication_samples_trial(samples, &store, reader, read, HERE);
}

static double total(const struct lwp_communication_estimate *estimate)
{
    return estimate->amount[LWP_COMMUNICATION_ALL];
}

/* Stores go to seven regions in turn, of which each third reader owns 4, 2 and 1. */
static unsigned owner(unsigned region)
{
    return region < 4 ? 0 : region < 6 ? 1 : 2;
}

static void simulate(struct lwp_communication_samples *samples, unsigned stores, unsigned trials, uint64_t sampled[])
{
    for (unsigned i = 0; i < stores; i++) {
        uint64_t time = seed;
        sampled[lwp_communication_samples_part(time)] += WEIGHT;
        store_at(samples, WRITER, base + REGION * below(7) + 8 * below(4096), time, WEIGHT);
    }
    for (unsigned reader = 0; reader < 3; reader++)
        for (unsigned i = 0; i < trials; i++) {
            unsigned region = below(7);
            trial_at(samples, WRITER, READER + reader, base + REGION * region + 8 * below(4096),
                                seed, owner(region) == reader);
        }
}

static void test_readers_of_regions(void **state)
{
    (void)state;
    enum { STORES = 3000, TRIALS = 60, RUNS = 50 };
    double worst = 0, squares = 0, variances = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct lwp_communication_samples samples = {0};
        uint64_t sampled[LWP_COMMUNICATION_PARTS] = {0};
        simulate(&samples, STORES, TRIALS, sampled);
        lwp_communication_samples_renumber(&samples);
        static const double truth[] = {4 / 7.0, 2 / 7.0, 1 / 7.0};
        for (unsigned reader = 0; reader < 3; reader++) {
            struct lwp_communication_estimate estimate;
            lwp_communication_samples_estimate(&samples, PROCESS, WRITER, READER + reader, sampled, &estimate);
            assert_int_equal(estimate.trials, TRIALS);
            assert_true(fabs(estimate.stored - (double)STORES * WEIGHT) < 1);
            double error = total(&estimate) / STORES / WEIGHT / truth[reader] - 1;
            worst = fmax(worst, fabs(error));
            squares += error * error;
            for (unsigned k = 0; k < LWP_COMMUNICATION_PARTS; k++) {
                double apart = (estimate.amount[k] - total(&estimate)) / STORES / WEIGHT / truth[reader];
                variances += apart * apart * (LWP_COMMUNICATION_PARTS - 1) / LWP_COMMUNICATION_PARTS;
            }
        }
        lwp_communication_samples_free(&samples);
    }
    /* the plain proportion of 60 trials of which a seventh is read would be off by a third */
    assert_true(sqrt(squares / (3 * RUNS)) < 0.09);
    assert_true(worst < 0.4);
    assert_true(variances > squares * 0.4 && variances < squares * 3);
}

/* Each place is tried, and where the reader was seen to read more often: that must not look like more reads. */
static void test_favoured_places(void **state)
{
    (void)state;
    enum { STORES = 3000, TRIALS = 60, RUNS = 100 };
    double sum = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct lwp_communication_samples samples = {0};
        uint64_t sampled[LWP_COMMUNICATION_PARTS] = {0};
        simulate(&samples, STORES, 0, sampled);
        for (unsigned i = 0; i < TRIALS; i++) {
            unsigned region = i < 14 ? i % 7 : below(4) ? 6 : below(7);
            trial_at(&samples, WRITER, READER, base + REGION * region + 8 * below(4096), seed,
                                region == 6);
        }
        lwp_communication_samples_renumber(&samples);
        struct lwp_communication_estimate estimate;
        lwp_communication_samples_estimate(&samples, PROCESS, WRITER, READER, sampled, &estimate);
        sum += total(&estimate) / STORES / WEIGHT / RUNS;
        lwp_communication_samples_free(&samples);
    }
    assert_true(fabs(sum * 7 - 1) < 0.08); /* the plain proportion is five times as much */
}

static void test_one_page(void **state)
{
    (void)state;
    struct lwp_communication_samples samples = {0};
    uint64_t sampled[LWP_COMMUNICATION_PARTS] = {0};
    for (unsigned i = 0; i < 1000; i++) {
        store_at(&samples, WRITER, base + 8 * below(512), i, WEIGHT);
        sampled[lwp_communication_samples_part(i)] += WEIGHT;
    }
    for (unsigned i = 0; i < 40; i++)
        trial_at(&samples, WRITER, READER, base + 8 * below(512), i, i % 4 == 0);
    lwp_communication_samples_renumber(&samples);
    struct lwp_communication_estimate estimate;
    lwp_communication_samples_estimate(&samples, PROCESS, WRITER, READER, sampled, &estimate);
    assert_true(fabs(total(&estimate) - 250.0 * WEIGHT) < 1);
    lwp_communication_samples_estimate(&samples, PROCESS, WRITER, READER + 1, sampled, &estimate); /* never tried */
    assert_true(total(&estimate) == 0 && estimate.trials == 0 && estimate.stored > 0);
    lwp_communication_samples_estimate(&samples, PROCESS, WRITER + 1, READER, sampled, &estimate); /* has stored nothing */
    assert_true(total(&estimate) == 0 && estimate.stored == 0);
    lwp_communication_samples_free(&samples);
}

/* Pages that were never tried are taken for those around them, and not for those far away. */
static void test_neighbours(void **state)
{
    (void)state;
    struct lwp_communication_samples samples = {0};
    uint64_t sampled[LWP_COMMUNICATION_PARTS] = {0}, far = base + ((uint64_t)1 << 33);
    for (unsigned i = 0; i < 64; i++) {
        store_at(&samples, WRITER, base + 4096 * (i % 8), i, WEIGHT);
        store_at(&samples, WRITER, far + 4096 * (i % 8), i, WEIGHT);
        sampled[lwp_communication_samples_part(i)] += 2 * WEIGHT;
    }
    for (unsigned i = 0; i < 20; i++) {
        trial_at(&samples, WRITER, READER, base + 4096 * 3, i, true);
        trial_at(&samples, WRITER, READER, far + 4096 * 3, i, false);
    }
    lwp_communication_samples_renumber(&samples);
    struct lwp_communication_estimate estimate;
    lwp_communication_samples_estimate(&samples, PROCESS, WRITER, READER, sampled, &estimate);
    assert_true(fabs(total(&estimate) - 64.0 * WEIGHT) < 0.03 * 64 * WEIGHT);
    lwp_communication_samples_free(&samples);
}

static void test_merged(void **state)
{
    (void)state;
    struct lwp_communication_samples parts[2] = {{0}}, whole = {0};
    uint64_t sampled[LWP_COMMUNICATION_PARTS] = {0};
    seed = 5;
    simulate(&whole, 500, 30, sampled);
    simulate(&whole, 300, 20, sampled);
    seed = 5;
    simulate(&parts[0], 500, 30, (uint64_t[LWP_COMMUNICATION_PARTS]){0});
    simulate(&parts[1], 300, 20, (uint64_t[LWP_COMMUNICATION_PARTS]){0});
    lwp_communication_samples_merge(&parts[1], &parts[0]);
    lwp_communication_samples_renumber(&parts[1]);
    lwp_communication_samples_renumber(&whole);
    struct lwp_communication_estimate a, b;
    lwp_communication_samples_estimate(&whole, PROCESS, WRITER, READER + 1, sampled, &a);
    lwp_communication_samples_estimate(&parts[1], PROCESS, WRITER, READER + 1, sampled, &b);
    assert_memory_equal(&a, &b, sizeof a);
    lwp_communication_samples_free(&parts[1]);
    lwp_communication_samples_free(&whole);
}

static bool is_library(void *context, uint32_t location)
{
    (void)context;
    return location == LIBRARY;
}

/* A barrier's words lie beside the data, take much of the time, and every thread reads them: what is left is as if there were none. */
static void test_library(void **state)
{
    (void)state;
    struct lwp_communication_samples samples = {0}, data = {0};
    uint64_t sampled[LWP_COMMUNICATION_PARTS] = {0};
    seed = 9;
    simulate(&data, 700, 40, sampled);
    seed = 9;
    simulate(&samples, 700, 40, (uint64_t[LWP_COMMUNICATION_PARTS]){0});
    place = LIBRARY;
    for (unsigned i = 0; i < 300; i++) {
        store_at(&samples, WRITER, base + 8 * below(8), i, WEIGHT);
        trial_at(&samples, WRITER, READER + i % 3, base + 8 * below(8), i, true);
    }
    place = HERE;
    for (unsigned i = 0; i < 50; i++) /* what the library reads of the program's, such as a thread's argument */
        lwp_communication_samples_trial(&samples, &(struct lwp_communication_store){PROCESS, WRITER, HERE, base, i}, READER, true, LIBRARY);
    assert_true(fabs(lwp_communication_samples_drop(&samples, is_library, NULL) - 0.3) < 1e-9);
    lwp_communication_samples_renumber(&samples);
    lwp_communication_samples_renumber(&data);
    for (uint32_t reader = READER; reader < READER + 3; reader++) {
        struct lwp_communication_estimate a, b;
        lwp_communication_samples_estimate(&data, PROCESS, WRITER, reader, sampled, &a);
        lwp_communication_samples_estimate(&samples, PROCESS, WRITER, reader, sampled, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
    lwp_communication_samples_free(&samples);
    lwp_communication_samples_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_readers_of_regions),
                                       cmocka_unit_test(test_favoured_places), cmocka_unit_test(test_one_page),
                                       cmocka_unit_test(test_neighbours), cmocka_unit_test(test_merged),
                                       cmocka_unit_test(test_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
