/* Programs by name (base/pattern.h). */
#include "base/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *list, *name;
        bool listed;
    } rows[] = {
        {"cc1plus", "cc1plus", true},
        {"cc1plus", "cc1", false},
        {"cc1", "cc1plus", false},
        {"a,b", "b", true},
        {"a,b", "a", true},
        {"a,b", "a,b", false},
        {"", "", false},
        {"", "a", false},
        {",", "", false},
        {"*", "", true},
        {"*", "any", true},
        {"cc1*", "cc1", true},
        {"cc1*", "cc1plus", true},
        {"*plus", "cc1plus", true},
        {"*p*s", "cc1plus", true},
        {"*p*x", "cc1plus", false},
        {"c?1", "cc1", true},
        {"c?1", "c1", false},
        {"?", "", false},
        {"x*,a*b", "aab", true},
        {"x*,a*b", "ax", false},
        {"*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaa", false},
        {"a*,b", "b", true},
        {"a,", "", false},
        {"**", "x", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (lwp_pattern_lists(rows[i].list, rows[i].name) != rows[i].listed)
            fail_msg("'%s' and '%s'", rows[i].list, rows[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
