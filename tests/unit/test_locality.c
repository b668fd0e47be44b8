/* What traces show of each object and loop: what several files say adds up to the same in whatever order they are read,
 * and which advice follows from it, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/profile/locality_counts.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
