/* What traces show of each object and loop: what several files say adds up to the same in whatever order they are read,
 * and which advice follows from it, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/locality/locality.h"
#include "analysis/caches/distance_counts.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

/* ---- several files ---- */

enum { FILES = 9, VALUES = 300, OBJECTS = 3, PARTS = 4, STEPS = 40 };

/* Parts 2 and 3 are of one region. */
static const uint32_t objects[OBJECTS] = {2, 0, 1}, regions[PARTS] = {1, 0, 2, 2};
static const uint64_t sizes[FILES] = {500, 800, 20, 800, 1, 3, 799, 800, 4};

static void read_file(struct lwp_locality_counts *counts, uint32_t file, uint64_t *sums)
{
    uint32_t random = file + 1; /* the state */
    lwp_trace_sample_begin(&counts->kept, file, sizes[file]);
    lwp_trace_sample_add(&counts->kept, &(struct lwp_trace_sample_access){.address = file, .object = 1});
    for (int i = 0; i < VALUES; i++) {
        struct lwp_locality_value value = {.object = lwp_random_below(&random, OBJECTS),
                                           .part = lwp_random_below(&random, PARTS),
                                           .of = lwp_random_below(&random, LWP_LOCALITY_VALUES),
                                           .count = lwp_random_below(&random, 1000) + 1};
        bool of_parts = value.of == LWP_LOCALITY_BEFORE;
        value.value = lwp_random_below(&random, of_parts ? PARTS : STEPS);
        lwp_locality_values_add(&counts->values, &value);
        uint32_t at = lwp_locality_counts_at(counts, value.object, value.part);
        counts->items[at].values[value.of] += value.count;
        uint64_t settled = of_parts ? regions[value.value] : (uint64_t)value.value;
        if (sums)
            sums[((objects[value.object] * PARTS + regions[value.part]) * LWP_LOCALITY_VALUES + value.of) * STEPS + settled] += value.count;
    }
}

static void assert_sums(const struct lwp_locality_counts *counts, const uint64_t *sums)
{
    size_t at = 0;
    for (uint32_t object = 0; object < OBJECTS; object++)
        for (uint32_t region = 0; region < PARTS; region++)
            for (unsigned of = 0; of < LWP_LOCALITY_VALUES; of++) {
                size_t count;
                const struct lwp_locality_value *values = lwp_locality_values_of(&counts->values, object, region, of, &count);
                const struct lwp_locality_value *most = lwp_locality_values_most(values, count);
                for (int64_t step = 0; step < STEPS; step++) {
                    uint64_t sum = sums[((object * PARTS + region) * LWP_LOCALITY_VALUES + of) * STEPS + (uint64_t)step];
                    if (!sum)
                        continue;
                    assert_ptr_equal(&counts->values.items[at++], values);
                    assert_int_equal(values->value, step);
                    assert_int_equal(values->count, sum);
                    assert_true(most->count > sum || (most->count == sum && most->value <= step));
                    values++;
                    count--;
                }
                assert_int_equal(count, 0);
            }
    assert_int_equal(at, counts->values.count);
}

/* Any number of readers that take files in any order, and are merged in any. */
static void test_order(void **state)
{
    (void)state;
    enum { TRIES = 60, READERS = 5 };
    static uint64_t sums[OBJECTS * PARTS * LWP_LOCALITY_VALUES * STEPS];
    uint32_t random = 4711;
    for (int try = 0; try < TRIES; try++) {
        struct lwp_locality_counts readers[READERS] = {{0}};
        uint32_t row[FILES];
        for (uint32_t i = 0; i < FILES; i++) {
            uint32_t to = lwp_random_below(&random, i + 1);
            row[i] = row[to];
            row[to] = i;
        }
        for (uint32_t i = 0; i < FILES; i++)
            read_file(&readers[lwp_random_below(&random, READERS)], row[i], try ? NULL : sums);
        for (unsigned left = READERS; left > 1; left--) {
            unsigned from = lwp_random_below(&random, left), into = lwp_random_below(&random, left);
            if (into == from)
                into = (from + 1) % left;
            lwp_locality_counts_merge(&readers[into], &readers[from]);
            struct lwp_locality_counts last = readers[left - 1];
            readers[left - 1] = readers[from];
            readers[from] = last;
        }
        lwp_locality_counts_renumber(&readers[0], objects, regions);
        assert_sums(&readers[0], sums);
        assert_int_equal(readers[0].kept.file, 1); /* the first of the largest */
        assert_int_equal(readers[0].kept.count, 1);
        assert_int_equal(readers[0].kept.accesses[0].address, 1);
        assert_int_equal(readers[0].kept.accesses[0].object, objects[1]);
        assert_int_equal(readers[0].count, OBJECTS * 3);
        for (size_t i = 0; i < readers[0].count; i++)
            for (unsigned of = 0; of < LWP_LOCALITY_VALUES; of++) {
                uint64_t all = 0;
                for (uint64_t step = 0; step < STEPS; step++)
                    all += sums[((readers[0].items[i].object * PARTS + readers[0].items[i].part) * LWP_LOCALITY_VALUES + of) * STEPS + step];
                assert_int_equal(readers[0].items[i].values[of], all);
            }
        lwp_locality_counts_free(&readers[0]);
    }
}

/* ---- medians ---- */

enum { DISTANCES = 2000 };

static void add_distances(struct lwp_locality_counts *counts, const uint32_t *distances, int count)
{
    struct lwp_distance_counts of = {{0}};
    for (int i = 0; i < count; i++)
        lwp_distance_counts_add(&of, distances[i]);
    for (unsigned page = 0; page < LWP_DISTANCE_PAGES; page++)
        for (unsigned i = 0; i < LWP_DISTANCE_PAGE && of.pages[page]; i++)
            if (of.pages[page][i].count)
                lwp_locality_values_add(&counts->values, &(struct lwp_locality_value){0, 0, LWP_LOCALITY_DISTANCE, of.pages[page][i].most,
                                                                                      of.pages[page][i].count});
    lwp_distance_counts_free(&of);
}

/* The median of distances of two files, `first` of them in the one, and of so many accesses beyond the window. */
static double median_of(const uint32_t *distances, int first, int count, int beyond)
{
    struct lwp_locality_counts counts = {0}, other = {0};
    add_distances(&counts, distances, first);
    add_distances(&other, distances + first, count - first);
    lwp_locality_counts_merge(&other, &counts);
    lwp_locality_values_join(&other.values);
    const struct lwp_locality_count all = {.accesses = (uint64_t)(count + beyond)};
    struct lwp_locality_row row = {.count = &all};
    struct lwp_locality_frequent *frequent = &row.values[LWP_LOCALITY_DISTANCE];
    frequent->items = lwp_locality_values_of(&other.values, 0, 0, LWP_LOCALITY_DISTANCE, &frequent->count);
    double median = lwp_locality_median(&row);
    lwp_locality_counts_free(&other);
    return median;
}

static int distance_compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Constant distances are the median, whatever they are; of others, what a sorted list has in its middle. */
static void test_medians(void **state)
{
    (void)state;
    static uint32_t distances[DISTANCES];
    uint32_t random = 99;
    for (uint32_t distance = 0; distance < 3 * LWP_DISTANCE_EXACT; distance++) {
        const uint32_t constant[] = {distance, distance, distance};
        assert_true(median_of(constant, 1, 3, 2) == distance);
    }
    static const uint32_t large[] = {1u << 20, (1u << 20) + 1, 1234567890, 1u << 31, UINT32_MAX - 1};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        assert_true(median_of(&large[i], 0, 1, 1) == large[i]);
    for (int try = 0; try < 10000; try++) {
        const int count = 1 + (int)lwp_random_below(&random, try % 10 ? DISTANCES / 40 : DISTANCES), beyond = (int)lwp_random_below(&random, (uint32_t)count * 5 / 4);
        const unsigned bits = 1 + lwp_random_below(&random, 31);
        for (int i = 0; i < count; i++)
            distances[i] = lwp_random_next(&random) >> (32 - bits);
        const double found = median_of(distances, (int)lwp_random_below(&random, (uint32_t)count), count, beyond);
        qsort(distances, (size_t)count, sizeof *distances, distance_compare);
        const int middle = (count + beyond + 1) / 2 - 1;
        if (middle >= count)
            assert_true(found < 0);
        else if (distances[middle] < LWP_DISTANCE_EXACT)
            assert_true(found == distances[middle]);
        else
            assert_true(found >= distances[middle] && found < distances[middle] * 1.008);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_medians),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
