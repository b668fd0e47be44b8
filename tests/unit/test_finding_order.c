/* The order of findings: by what they gain, or by half of what there is at most where that is all that is known, but never before one whose
 * gain is large for sure. */
#include "analysis/findings/finding_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_sure_gains_first(void **state)
{
    (void)state;
    struct lwp_finding findings[4] = {{.id = "bound"}, {.id = "sure"}, {.id = "unsure"}, {.id = "small"}};
    lwp_finding_gain_unknown(&findings[0], 0.9);
    lwp_finding_gain(&findings[1], 1.7, 1.6, 1.8);
    lwp_finding_gain(&findings[2], 3, 1.05, 9);
    lwp_finding_gain(&findings[3], 1.1, 1.05, 1.15);
    assert_true(findings[0].rank > findings[1].rank);
    lwp_finding_sort(findings, 4);
    const char *const in_order[] = {"unsure", "sure", "bound", "small"};
    for (int i = 0; i < 4; i++)
        assert_string_equal(findings[i].id, in_order[i]);
}

static void test_bound_before_small_gain(void **state)
{
    (void)state;
    struct lwp_finding findings[2] = {{.id = "small"}, {.id = "bound"}};
    lwp_finding_gain(&findings[0], 1.1, 1.05, 1.15);
    lwp_finding_gain_unknown(&findings[1], 0.9);
    lwp_finding_sort(findings, 2);
    assert_string_equal(findings[0].id, "bound");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sure_gains_first), cmocka_unit_test(test_bound_before_small_gain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
