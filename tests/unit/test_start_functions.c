/* Which functions' threads all end soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/process/start_functions.c"

static const char runs[FUNCTIONS + 1];

static void many_that_ended_soon_are_believed(void **state)
{
    (void)state;
    struct lwp_start_function *one = lwp_start_function(&runs[0]), *other = lwp_start_function(&runs[1]);
    assert_true(one && other && one != other && lwp_start_function(&runs[0]) == one);
    for (unsigned i = 0; i < KNOWN; i++) {
        assert_false(lwp_start_function_ends_soon(one));
        lwp_start_function_ended(one);
    }
    assert_true(lwp_start_function_ends_soon(one));
    assert_false(lwp_start_function_ends_soon(other));
}

static void one_that_runs_long_is_enough(void **state)
{
    (void)state;
    struct lwp_start_function *one = lwp_start_function(&runs[0]);
    lwp_start_function_runs_long(one);
    assert_false(lwp_start_function_ends_soon(one));
    for (unsigned i = 0; i < KNOWN; i++)
        lwp_start_function_ended(one);
    assert_true(lwp_start_function_ends_soon(one));
    lwp_start_functions_forget();
    assert_false(lwp_start_function_ends_soon(lwp_start_function(&runs[0])));
}

static void of_too_many_nothing_is_known(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        assert_non_null(lwp_start_function(&runs[i]));
    assert_null(lwp_start_function(&runs[FUNCTIONS]));
    lwp_start_function_ended(NULL);
    lwp_start_function_runs_long(NULL);
    assert_false(lwp_start_function_ends_soon(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_that_ended_soon_are_believed), cmocka_unit_test(one_that_runs_long_is_enough),
                                       cmocka_unit_test(of_too_many_nothing_is_known)};
    return cmocka_run_group_tests_name("start_functions", tests, NULL, NULL);
}
