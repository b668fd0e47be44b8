/* Which memory that nobody could touch becomes a data object once some of it can be touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/record/reserved.c"

enum { MIB = 1 << 20 };

static uint64_t low, bytes;

static void test_take(void **state)
{
    (void)state;
    assert_false(lwp_reserved_take(5 * MIB, &low, &bytes));
    lwp_reserved_add(4 * MIB, 8 * MIB);
    assert_false(lwp_reserved_take(12 * MIB, &low, &bytes));
    assert_true(lwp_reserved_take(6 * MIB, &low, &bytes));
    assert_true(low == 4 * MIB && bytes == 8 * MIB);
    assert_false(lwp_reserved_take(6 * MIB, &low, &bytes)); /* is one object already */
}

/* More is reserved than wanted, and both ends are given back. */
static void test_aligned(void **state)
{
    (void)state;
    lwp_reserved_add(4 * MIB, 8 * MIB);
    lwp_reserved_remove(4 * MIB, MIB);
    lwp_reserved_remove(9 * MIB, 3 * MIB);
    assert_false(lwp_reserved_take(4 * MIB, &low, &bytes));
    assert_false(lwp_reserved_take(9 * MIB, &low, &bytes));
    assert_true(lwp_reserved_take(5 * MIB, &low, &bytes));
    assert_true(low == 5 * MIB && bytes == 4 * MIB);
}

static void test_gone(void **state)
{
    (void)state;
    lwp_reserved_add(4 * MIB, 8 * MIB);
    lwp_reserved_remove(5 * MIB, MIB); /* a hole: the longer side stays */
    assert_false(lwp_reserved_take(4 * MIB, &low, &bytes));
    lwp_reserved_remove(0, 64 * MIB);
    assert_false(lwp_reserved_take(8 * MIB, &low, &bytes));
}

static void test_many(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= RESERVED_MOST + 1; i++)
        lwp_reserved_add(i * MIB, MIB);
    assert_false(lwp_reserved_take((RESERVED_MOST + 1) * (uint64_t)MIB, &low, &bytes));
    for (uint64_t i = 1; i <= RESERVED_MOST; i++)
        assert_true(lwp_reserved_take(i * MIB, &low, &bytes) && low == i * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_take), cmocka_unit_test(test_aligned), cmocka_unit_test(test_gone),
                                       cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
