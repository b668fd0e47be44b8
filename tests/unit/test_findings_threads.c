/* Which falsely shared lines become findings, and what is said of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/findings/findings.h"

#include <string.h>

static void test_sharing(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_interaction_use uses[2] = {{.offset = 24}, {.offset = 32}};
    const struct lwp_sharing item = {.is_false = true, .uses = {{&uses[0], "hits"}, {&uses[1], "misses"}}, .use_count = 2, .threads = 2,
                                     .lines = 1, .share = {.value = 0.3, .low = 0.25}, .name = "statistics", .advice = "part them"};
    struct lwp_sharing items[4] = {item, item, item, item};
    struct lwp_answers answers = {.threads.sharings = {items, 4}};
    lwp_profile_init(&profile);
    items[1].is_false = false;
    items[2].share = (struct lwp_share){.value = 0.05, .low = 0.02};
    items[2].lines = 3;
    items[2].uses[1].field = NULL;
    items[3].share.low = 0.019; /* could be nothing */
    lwp_findings_rank(&profile, &answers);
    const struct lwp_finding *findings = answers.findings.findings;
    assert_int_equal(answers.findings.count, 2);
    assert_int_equal(findings[0].index, 0);
    assert_string_equal(findings[0].severity, "high");
    assert_string_equal(findings[0].title,
                        "2 threads take a cache line of statistics from each other though they use other bytes (hits and misses)");
    assert_string_equal(findings[0].next_step, "part them");
    assert_int_equal(findings[1].index, 2);
    assert_string_equal(findings[1].severity, "medium");
    assert_string_equal(findings[1].title, "2 threads take 3 cache lines of statistics from each other though they use other bytes");
    /* by what it is about, not by where it stands in a list; equal ones get a number */
    assert_memory_equal(findings[0].id, findings[1].id, strlen(findings[0].id));
    assert_string_equal(findings[1].id + strlen(findings[0].id), "-1");
    lwp_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sharing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
