/* The published accesses: who sees whose accesses, and which stores can be had for a trial. */
#include "collector/light/watch/published_accesses.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { A = 101, B = 102 };

static void show(int slot, uint32_t tid, uint64_t address, bool store, uint64_t time)
{
    struct lwp_published_access entry = {.time = time, .weight = 1, .tid = tid};
    entry.access = (struct lwps_access){
        .address = address, .bytes = 8, .flags = LWPS_ACCESS_KNOWN | (store ? LWPS_ACCESS_STORE : LWPS_ACCESS_LOAD)};
    lwp_published_add(slot, &entry);
}

static void test_beside(void **state)
{
    (void)state;
    int a = lwp_published_join(A), b = lwp_published_join(B);
    struct lwp_published_access found;
    struct lwps_access load = {.address = 0x1010, .bytes = 8, .flags = LWPS_ACCESS_LOAD}, store = load;
    store.flags = LWPS_ACCESS_STORE;
    assert_true(a >= 0 && b >= 0 && a != b);
    show(a, A, 0x1000, true, 100);
    assert_true(lwp_published_beside(b, &load, 50, &found));
    assert_int_equal(found.tid, A);
    assert_false(lwp_published_beside(a, &load, 50, &found));  /* its own */
    assert_false(lwp_published_beside(b, &load, 101, &found)); /* long ago */
    load.address = store.address = 0x1040;
    assert_false(lwp_published_beside(b, &load, 50, &found)); /* the next line */
    show(a, A, 0x1040, false, 100);
    assert_false(lwp_published_beside(b, &load, 50, &found)); /* two loads share nothing */
    assert_true(lwp_published_beside(b, &store, 50, &found));
    lwp_published_leave(a);
    assert_false(lwp_published_beside(b, &store, 50, &found));
    lwp_published_leave(b);
}

static void test_stores(void **state)
{
    (void)state;
    enum { SHOWN = LWP_PUBLISHED_STORES + 6 };
    int a = lwp_published_join(A), b = lwp_published_join(B);
    struct lwp_published_access found[SHOWN];
    show(a, A, 0x2000, false, 90);
    assert_int_equal(lwp_published_writer((unsigned)a), 0); /* has stored nothing */
    assert_int_equal(lwp_published_stores((unsigned)a, 0, found, SHOWN), 0);
    for (unsigned i = 0; i < SHOWN; i++)
        show(a, A, 0x2000 + 64 * i, true, 100 + i);
    assert_int_equal(lwp_published_writer((unsigned)a), A);
    assert_int_equal(lwp_published_stores((unsigned)a, 0, found, SHOWN), LWP_PUBLISHED_STORES);
    for (unsigned i = 0; i < LWP_PUBLISHED_STORES; i++)
        assert_int_equal(found[i].access.address, 0x2000 + 64 * (SHOWN - 1 - i));
    assert_int_equal(lwp_published_stores((unsigned)a, 0, found, 3), 3);
    assert_int_equal(lwp_published_stores((unsigned)a, 100 + SHOWN - 2, found, SHOWN), 2); /* only what is fresh */
    assert_int_equal(lwp_published_stores((unsigned)a, 100 + SHOWN, found, SHOWN), 0);
    lwp_published_leave(a);
    lwp_published_leave(b);
    assert_int_equal(lwp_published_writer((unsigned)a), 0);
}

static void test_slots_end(void **state)
{
    (void)state;
    int taken[LWP_PUBLISHED_SLOTS];
    for (unsigned i = 0; i < LWP_PUBLISHED_SLOTS; i++)
        assert_true((taken[i] = lwp_published_join(1000 + i)) >= 0);
    assert_int_equal(lwp_published_join(5), -1);
    for (unsigned i = 0; i < LWP_PUBLISHED_SLOTS; i++)
        lwp_published_leave(taken[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_beside), cmocka_unit_test(test_stores),
                                       cmocka_unit_test(test_slots_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
