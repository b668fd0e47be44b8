/* Which falsely shared lines become findings, what is said of them, and of findings about one loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/findings/findings.h"
#include "analysis/tables/severity.h"

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
    assert_string_equal(findings[0].title, "False sharing: 2 threads use different bytes of a cache line of statistics (hits and misses)");
    assert_string_equal(findings[0].next_step, "part them");
    assert_int_equal(findings[1].index, 2);
    assert_string_equal(findings[1].severity, "medium");
    assert_string_equal(findings[1].title, "False sharing: 2 threads use different bytes of 3 cache lines of statistics");
    /* by what it is about, not by where it stands in a list; equal ones get a number */
    assert_memory_equal(findings[0].id, findings[1].id, strlen(findings[0].id));
    assert_string_equal(findings[1].id + strlen(findings[0].id), "-1");
    lwp_profile_fini(&profile);
}

/* Three orders of loops to change, two of them in one loop; what is sure decides how much each matters. */
static void test_same_loop(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_locality_tip tips[5] = {
        {.kind = LWP_TIP_INTERCHANGE, .region = 0, .title = "a", .next_step = "first.", .speedup = 9, .gain = {1.04, 17}},
        {.kind = LWP_TIP_PADDING, .region = 0, .title = "b", .next_step = "second.", .speedup = 3, .gain = {2, 4}},
        {.kind = LWP_TIP_INTERCHANGE, .region = 1, .title = "c", .next_step = "third.", .speedup = 2, .gain = {1.1, 3}},
        {.kind = LWP_TIP_PAGES, .region = 2, .title = "d", .next_step = "fourth.", .speedup = 1.5, .gain = {1.2, 3}, .samples = 49},
        {.kind = LWP_TIP_PAGES, .region = 3, .title = "e", .next_step = "fifth.", .speedup = 1.4, .gain = {1.2, 3}, .samples = 100}};
    struct lwp_answers answers = {.tips = {.tips = tips, .count = 5}};
    struct lwp_locality_row row = {0};
    answers.locality = (struct lwp_locality){.rows = &row, .count = 1};
    lwp_profile_init(&profile);
    LWP_PUSH(profile.object, (struct lwp_object){.label = "a"});
    LWP_PUSH(profile.region, (struct lwp_region){.function = "f", .module = LWP_NONE});
    LWP_PUSH(profile.region, (struct lwp_region){.function = "g", .same_as = 1, .module = LWP_NONE});
    LWP_PUSH(profile.region, (struct lwp_region){.function = "h", .same_as = 2, .module = LWP_NONE});
    LWP_PUSH(profile.region, (struct lwp_region){.function = "i", .same_as = 3, .module = LWP_NONE});
    lwp_findings_rank(&profile, &answers);
    const struct lwp_finding *findings = answers.findings.findings;
    assert_int_equal(answers.findings.count, 5);
    assert_string_equal(findings[0].title, "a"); /* the likeliest first */
    assert_string_equal(findings[0].severity, "low");
    assert_null(findings[0].shares_with);
    assert_string_equal(findings[1].severity, "high");
    assert_string_equal(findings[1].shares_with, findings[0].id);
    assert_memory_equal(findings[1].next_step, "second. It saves time of the same loop as finding 1: ", 53);
    assert_null(findings[2].shares_with); /* another loop */
    assert_string_equal(findings[2].next_step, "third.");
    /* The layout of the same data, padded already; and 49 samples make nothing severe. */
    assert_string_equal(findings[3].shares_with, findings[1].id);
    assert_memory_equal(findings[3].next_step, "fourth. It is about the same data as finding ", 45);
    assert_string_equal(findings[3].severity, "medium");
    assert_string_equal(findings[4].severity, "high");
    assert_int_equal(lwp_evidence_of(39), LWP_EVIDENCE_NONE);
    assert_int_equal(lwp_evidence_of(99), LWP_EVIDENCE_THIN);
    assert_int_equal(lwp_evidence_of_share(39, 0), LWP_EVIDENCE_NONE);
    assert_int_equal(lwp_evidence_of_share(39, 0.1), LWP_EVIDENCE_THIN); /* as well known as a small share of 43 samples */
    assert_int_equal(lwp_evidence_of_share(30, 0.2), LWP_EVIDENCE_NONE);
    assert_int_equal(lwp_evidence_of_share(28, 0.99), LWP_EVIDENCE_NONE);
    assert_int_equal(lwp_evidence_of_share(500, 0.99), LWP_EVIDENCE_MUCH);
    assert_int_equal(lwp_evidence_of(499), LWP_EVIDENCE_GOOD);
    assert_int_equal(lwp_evidence_of(500), LWP_EVIDENCE_MUCH);
    lwp_profile_fini(&profile);
}

/* A loop whose orders were not run: how much there is to gain at most decides, and nothing is severe for that alone. */
static void test_gain_unknown(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_locality_tip tips[2] = {{.kind = LWP_TIP_INTERCHANGE, .region = LWP_NONE, .title = "most", .next_step = "?", .stake = 0.9},
                                       {.kind = LWP_TIP_BLOCKING, .region = LWP_NONE, .title = "little", .next_step = "?", .stake = 0.05}};
    struct lwp_answers answers = {.tips = {.tips = tips, .count = 2}};
    struct lwp_locality_row row = {.region = LWP_NONE};
    answers.locality = (struct lwp_locality){.rows = &row, .count = 1};
    lwp_profile_init(&profile);
    LWP_PUSH(profile.object, (struct lwp_object){.label = "a"});
    lwp_findings_rank(&profile, &answers);
    const struct lwp_finding *findings = answers.findings.findings;
    assert_int_equal(answers.findings.count, 2);
    assert_string_equal(findings[0].title, "most");
    assert_string_equal(findings[0].severity, "medium");
    assert_true(findings[0].low == 0 && findings[0].stake == 0.9);
    assert_string_equal(findings[1].severity, "low");
    lwp_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sharing), cmocka_unit_test(test_same_loop), cmocka_unit_test(test_gain_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
