/* The library reads numbers as strtod does, without the C library's code for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collector/light/own/settings.c"

static double number(const char *text)
{
    setenv("LWP_NUMBER", text, 1);
    lwp_settings_take();
    return lwp_setting_number("LWP_NUMBER", -77);
}

static void decimal_numbers_are_those_of_strtod(void **state)
{
    static const char *const texts[] = {"0", "3", "65536", "0.5", ".25", "12.", "99.75", "-1", "1e-05", "2.5e+3", "1E6", "1000000000", "0.01"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(number(texts[i]) == strtod(texts[i], NULL));
}

static void what_is_none_is_not_taken_for_one(void **state)
{
    static const char *const texts[] = {"", ".", "-", "x", "3x", "1e", "1e+", "1 ", "nan", "1e999"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(number(texts[i]) == -77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decimal_numbers_are_those_of_strtod),
                                       cmocka_unit_test(what_is_none_is_not_taken_for_one)};
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
