/* Stalls by context, object and time against a naive table, in whatever parts and order they are merged. */
#include "analysis/statistics/stall_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CONTEXTS = 7, OBJECTS = 5, SAMPLES = 4000, SHARDS = 3 };

struct sample {
    uint32_t context, object;
    uint64_t time, weight;
};

static void samples_make(struct sample *samples, uint64_t longest)
{
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < SAMPLES; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        samples[i] =
            (struct sample){(uint32_t)(state % CONTEXTS), (uint32_t)(state >> 8) % OBJECTS, (state >> 20) % longest, 1 + state % 1000};
    }
}

/* Sample i goes to shard i % SHARDS; shards are merged from `first` on. */
static struct lwp_stall_profile profile_of(const struct sample *samples, size_t first)
{
    struct lwp_stall_profile shards[SHARDS] = {0}, all = {0};
    uint32_t contexts[CONTEXTS], objects[OBJECTS];
    for (size_t i = 0; i < SAMPLES; i++)
        lwp_stall_profile_add(&shards[i % SHARDS], samples[i].context, samples[i].object, samples[i].time, samples[i].weight);
    for (size_t i = 0; i < SHARDS; i++)
        lwp_stall_profile_merge(&all, &shards[(first + i) % SHARDS]);
    for (uint32_t i = 0; i < CONTEXTS; i++)
        contexts[i] = CONTEXTS - 1 - i;
    for (uint32_t i = 0; i < OBJECTS; i++)
        objects[i] = (i + 2) % OBJECTS;
    lwp_stall_profile_renumber(&all, contexts, objects);
    return all;
}

static void sums_are_those_of_a_table(void **state)
{
    (void)state;
    static struct sample samples[SAMPLES];
    static const uint64_t longest[] = {1000, 1000000, 128ull << 20, 3600ull * 1000000000};
    for (size_t l = 0; l < sizeof longest / sizeof *longest; l++) {
        samples_make(samples, longest[l]);
        struct lwp_stall_profile all = profile_of(samples, 0), other = profile_of(samples, 2);
        uint64_t paths[CONTEXTS][OBJECTS] = {{0}}, times[OBJECTS][LWP_STALL_BINS] = {{0}};
        uint64_t last = 0;
        for (size_t i = 0; i < SAMPLES; i++) {
            last = samples[i].time > last ? samples[i].time : last;
            paths[CONTEXTS - 1 - samples[i].context][(samples[i].object + 2) % OBJECTS] += samples[i].weight;
            assert_true(samples[i].time >> all.bin_shift < LWP_STALL_BINS);
            times[(samples[i].object + 2) % OBJECTS][samples[i].time >> all.bin_shift] += samples[i].weight;
        }
        assert_true(all.bin_shift == 20 || last >> (all.bin_shift - 1) >= LWP_STALL_BINS); /* no wider than needed */
        assert_int_equal(all.path_count, CONTEXTS * OBJECTS);
        for (size_t i = 0; i < all.path_count; i++) {
            assert_int_equal(all.paths[i].sum.weight, paths[all.paths[i].context][all.paths[i].object]);
            assert_memory_equal(&all.paths[i].sum, &other.paths[i].sum, sizeof all.paths[i].sum);
        }
        for (size_t i = 0; i < all.time_count; i++) {
            assert_int_equal(all.times[i].weight, times[all.times[i].object][all.times[i].bin]);
            times[all.times[i].object][all.times[i].bin] = 0;
        }
        for (size_t o = 0; o < OBJECTS; o++)
            for (size_t b = 0; b < LWP_STALL_BINS; b++)
                assert_int_equal(times[o][b], 0);
        assert_int_equal(all.bin_shift, other.bin_shift);
        assert_int_equal(all.time_count, other.time_count);
        lwp_stall_profile_free(&all);
        lwp_stall_profile_free(&other);
    }
}

/* Of a damaged file, whose clock jumps: all bins of before become the first one. */
static void a_time_may_be_any(void **state)
{
    (void)state;
    struct lwp_stall_profile profile = {0}, early = {0};
    lwp_stall_profile_add(&profile, 0, 0, 100ull << 20, 5);
    lwp_stall_profile_add(&profile, 0, 0, UINT64_MAX, 7);
    lwp_stall_profile_add(&early, 0, 0, 100ull << 20, 11);
    lwp_stall_profile_merge(&profile, &early);
    assert_int_equal(profile.time_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(profile.times[i].weight, profile.times[i].bin ? 7 : 16);
    lwp_stall_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_those_of_a_table), cmocka_unit_test(a_time_may_be_any)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
