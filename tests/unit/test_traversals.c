/* Observations of array traversals: bounded, fair, and the same in pieces as in one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/profile/traversals.h"

static const struct lwp_traversal_access both[] = {
    {3, 7, 1000, 80, false, 0, 0, 0}, {1, 7, 1004, 88, false, 0, 0, 0}, {3, 7, 1000, 96, true, 0, 0, 0}, {2, 7, 1004, 104, true, 0, 0, 0}};

static void test_pairs(void **state)
{
    (void)state;
    struct lwp_traversals traversals;
    struct lwp_traversal_thread thread = {.thread = 5};
    lwp_traversals_init(&traversals);
    lwp_traversals_sample(&traversals, &thread, both, 4, 1000);
    const struct lwp_traversal *traversal = lwp_traversals_of(&traversals, 3, 7);
    assert_non_null(traversal);
    assert_int_equal(traversal->accesses, 2);
    assert_int_equal(traversal->alone, 0);
    assert_int_equal(traversal->paired, 3);
    assert_int_equal(traversal->places[0].offset, 80);
    assert_int_equal(traversal->places[0].time, 1000);
    assert_int_equal(traversal->step_count, 1);
    assert_int_equal(traversal->steps[0], 16);
    const struct lwp_traversal_pair *pair = lwp_traversals_pair(&traversals, 3, 1, 7);
    assert_non_null(pair);
    assert_int_equal(pair->a, 1);
    assert_int_equal(pair->loose.count, 1);
    assert_int_equal(pair->loose.kept[0].a, 88);
    assert_int_equal(pair->loose.kept[0].b, 80);
    assert_int_equal(pair->close.count, 1);
    assert_int_equal(pair->close.kept[0].b, 96);
    assert_int_equal(pair->close.kept[0].thread, 5);
    assert_int_equal(pair->next.count, 0);
    pair = lwp_traversals_pair(&traversals, 1, 2, 7); /* two accesses on, still close */
    assert_int_equal(pair->close.count, 1);
    assert_int_equal(pair->close.kept[0].b, 104);
    assert_null(lwp_traversals_of(&traversals, 3, 8));
    assert_null(lwp_traversals_pair(&traversals, 3, 4, 7));
    /* The next sample of the thread: from object 3 to object 1. Later ones or another loop's say nothing. */
    struct lwp_traversal_access next = {1, 7, 1004, 160, false, 0, 0, 0}, far = {3, 7, 1000, 800, false, 0, 0, 0},
                           elsewhere = {1, 8, 1008, 8, false, 0, 0, 0};
    lwp_traversals_sample(&traversals, &thread, &next, 1, 2000);
    lwp_traversals_sample(&traversals, &thread, &far, 1, 2000 + 50000000);
    lwp_traversals_sample(&traversals, &thread, &elsewhere, 1, 3000 + 50000000);
    pair = lwp_traversals_pair(&traversals, 2, 1, 7);
    assert_int_equal(pair->next.count, 1);
    assert_int_equal(pair->next.kept[0].a, 160);
    assert_int_equal(pair->next.kept[0].b, 104);
    assert_null(lwp_traversals_pair(&traversals, 3, 1, 8));
    lwp_traversals_fini(&traversals);
}

static void many(struct lwp_traversals *traversals, uint32_t object, uint64_t base, int samples)
{
    struct lwp_traversal_thread thread = {.thread = object};
    for (int i = 0; i < samples; i++) {
        struct lwp_traversal_access accesses[2] = {{object, 0, 1, base + (uint64_t)i, false, 0, 0, 0},
                                              {object + 1, 0, 2, base + (uint64_t)i, true, 0, 0, 0}};
        lwp_traversals_sample(traversals, &thread, accesses, 2, (uint64_t)i);
    }
}

/* Early and late samples are kept with the same chance. */
static void test_fair(void **state)
{
    (void)state;
    enum { ROUNDS = 200, SAMPLES = 1000 };
    uint64_t sum = 0, count = 0;
    struct lwp_traversals traversals;
    lwp_traversals_init(&traversals);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        many(&traversals, round * 2, 0, SAMPLES);
        const struct lwp_traversal *traversal = lwp_traversals_of(&traversals, round * 2, 0);
        assert_int_equal(traversal->count, LWP_TRAVERSAL_PLACES);
        assert_int_equal(traversal->accesses, SAMPLES);
        for (uint32_t i = 0; i < traversal->count; i++)
            sum += traversal->places[i].offset;
        count += traversal->count;
    }
    double mean = (double)sum / (double)count; /* 9600 of a uniform 0..999: its deviation is 3 */
    assert_true(mean > 480 && mean < 520);
    lwp_traversals_fini(&traversals);
}

/* Two parts, of which one saw four times as much, with other numbers for objects and loops. */
static void test_merge(void **state)
{
    (void)state;
    struct lwp_traversals to, from;
    uint64_t later = 0, all = 0;
    for (int round = 0; round < 100; round++) {
        lwp_traversals_init(&to);
        lwp_traversals_init(&from);
        to.random += (uint64_t)round * 0x12345678u;
        from.random += (uint64_t)round * 0x87654321u;
        many(&to, 0, 0, 200);
        many(&from, 1, 1000000, 800);
        const uint32_t objects[] = {9, 1, 0}, regions[] = {0}; /* 1 and 2 there are 1 and 0 here: swapped */
        lwp_traversals_merge(&to, &from, objects, regions);
        const struct lwp_traversal *traversal = lwp_traversals_of(&to, 0, 0);
        assert_int_equal(traversal->accesses, 1000);
        assert_int_equal(traversal->paired, 1000);
        assert_int_equal(traversal->count, LWP_TRAVERSAL_PLACES);
        for (uint32_t i = 0; i < traversal->count; i++)
            later += traversal->places[i].offset >= 1000000;
        all += traversal->count;
        const struct lwp_traversal_pair *pair = lwp_traversals_pair(&to, 0, 1, 0);
        assert_int_equal(pair->close.seen, 1000);
        assert_int_equal(pair->close.count, LWP_TRAVERSAL_MEETINGS);
        for (uint32_t i = 0; i < pair->close.count; i++)
            assert_int_equal(pair->close.kept[i].a, pair->close.kept[i].b);
        lwp_traversals_fini(&to);
        lwp_traversals_fini(&from);
    }
    double share = (double)later / (double)all;
    assert_true(share > 0.7 && share < 0.9); /* 0.8 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_fair),
        cmocka_unit_test(test_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
