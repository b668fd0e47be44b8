/* What lwp doctor --self-test says of hardware that is right, and of hardware that is wrong in one way or another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/perf/self_test.h"

#include <string.h>

#define S(field, value) ((uint64_t)PERF_MEM_##field##_##value << PERF_MEM_##field##_SHIFT)
#define HIT(level)      (S(OP, LOAD) | S(LVL, HIT) | S(LVL, level) | S(LVLNUM, level))

enum { LOW = 1 << 20, HIGH = 2 << 20, EACH = 300 };

static const uint64_t memory = S(OP, LOAD) | S(LVL, HIT) | S(LVL, LOC_RAM) | S(LVLNUM, RAM), walk = S(TLB, MISS) | S(TLB, L2);

static struct lwp_self_samples samples[LWP_SELF_LOOPS];

static void add(enum lwp_self_loop loop, unsigned count, uint64_t address, uint64_t source, uint64_t latency)
{
    struct lwp_perf_sample sample = {.address = address,
                                     .has_address = true,
                                     .weight = latency,
                                     .has_weight = true,
                                     .data_source = source,
                                     .has_data_source = true,
                                     .period = 1000,
                                     .user = true};
    for (unsigned i = 0; i < count; i++)
        lwp_self_add(&samples[loop], &sample, LOW, HIGH);
}

/* A tenth of the second level's lines are in the first one, a third of memory's in the last. */
static void right_hardware(void **state)
{
    (void)state;
    memset(samples, 0, sizeof samples);
    add(LWP_SELF_L1, EACH, LOW, HIT(L1), 5);
    add(LWP_SELF_L2, EACH, LOW + 64, HIT(L2), 14);
    add(LWP_SELF_L2, EACH / 10, LOW + 64, HIT(L1), 5);
    add(LWP_SELF_MEMORY, EACH, HIGH - 8, memory, 300);
    add(LWP_SELF_MEMORY, EACH / 2, HIGH - 8, HIT(L3), 60);
    add(LWP_SELF_PAGES, EACH, LOW, memory | walk, 400);
    add(LWP_SELF_STORES, EACH, LOW, S(OP, STORE) | S(LVL, HIT) | S(LVL, L1), 0);
}

static void assert_verdicts(const enum lwp_self_verdict *wanted)
{
    char text[200];
    for (unsigned i = 0; i < LWP_SELF_OF_FAULTS; i++) {
        enum lwp_self_verdict got = lwp_self_judge(samples, (enum lwp_self_question)i, text, sizeof text);
        if (got != wanted[i])
            print_error("%s: %d, not %d (%s)\n", lwp_self_question_name((enum lwp_self_question)i), got, wanted[i], text);
        assert_int_equal(got, wanted[i]);
        assert_true(*text);
    }
}

#define R LWP_SELF_RIGHT
#define W LWP_SELF_WRONG
#define U LWP_SELF_UNKNOWN
typedef const enum lwp_self_verdict verdicts[LWP_SELF_OF_FAULTS];

static void test_right(void **state)
{
    right_hardware(state);
    assert_verdicts((verdicts){R, R, R, R, R, R, R});
    right_hardware(state); /* IBS: no latency where the first level has it */
    samples[LWP_SELF_L1].latency_count = 0;
    assert_verdicts((verdicts){R, R, R, R, R, R, R});
}

static void test_wrong(void **state)
{
    right_hardware(state); /* addresses of something else */
    for (unsigned loop = 0; loop < LWP_SELF_FAULTS; loop++)
        add((enum lwp_self_loop)loop, EACH, HIGH, HIT(L1), 5);
    assert_verdicts((verdicts){W, R, R, R, R, R, R});
    right_hardware(state); /* everything comes from the first level */
    memset(samples[LWP_SELF_L2].levels, 0, sizeof samples->levels);
    samples[LWP_SELF_L2].levels[1] = samples[LWP_SELF_L2].inside;
    memset(samples[LWP_SELF_MEMORY].levels, 0, sizeof samples->levels);
    samples[LWP_SELF_MEMORY].levels[1] = samples[LWP_SELF_MEMORY].inside;
    assert_verdicts((verdicts){R, R, W, W, R, R, R});
    right_hardware(state); /* latencies that say nothing */
    for (unsigned loop = 0; loop < LWP_SELF_FAULTS; loop++)
        for (unsigned i = 0; i < samples[loop].latency_count; i++)
            samples[loop].latencies[i] = 40;
    assert_verdicts((verdicts){R, R, R, R, W, R, R});
    right_hardware(state); /* no walks, stores that are loads */
    samples[LWP_SELF_PAGES].walks = samples[LWP_SELF_STORES].stores = 0;
    assert_verdicts((verdicts){R, R, R, R, R, W, W});
}

static void test_unknown(void **state)
{
    (void)state;
    memset(samples, 0, sizeof samples);
    assert_verdicts((verdicts){U, U, U, U, U, U, U});
    add(LWP_SELF_L1, 5, LOW, HIT(L1), 5);
    assert_verdicts((verdicts){U, U, U, U, U, U, U});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right), cmocka_unit_test(test_wrong), cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
