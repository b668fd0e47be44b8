/* From pairs to findings: one for each line of code, of which enough was seen, with enough time at stake; none where values only come
 * near each other, or inside a library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/findings/finding_parts.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/regions.h"

#include <stdlib.h>

enum { WEIGHT = 1000 };

struct made {
    struct lwp_profile profile;
    uint32_t program, library;
    uint32_t wasteful, other, malloc_inside;
};

static void made_init(struct made *made)
{
    struct lwp_profile *profile = &made->profile;
    *made = (struct made){.profile = {0}};
    lwp_profile_init(profile);
    made->program = lwp_code_module(profile->code, "/nowhere/program", NULL, 0);
    made->library = lwp_code_module(profile->code, "/nowhere/libc.so.6", NULL, 0);
    uint32_t main = lwp_contexts_child(profile, 0, made->program, 10, false);
    made->wasteful = lwp_contexts_child(profile, main, made->program, 20, false);
    made->other = lwp_contexts_child(profile, main, made->program, 30, false);
    made->malloc_inside = lwp_contexts_child(profile, main, made->library, 40, false);
    lwp_watchpoint_begin(&profile->watchpoints);
}

static void made_add(struct made *made, enum lwp_watchpoint_kind kind, enum lwp_watchpoint_outcome outcome, uint32_t at, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        lwp_watchpoint_add(
            &made->profile.watchpoints,
            &(struct lwp_watchpoint_verdict){
                .kind = kind, .outcome = outcome, .first = at, .second = at, .object = LWP_NONE, .weight = WEIGHT, .count = 1, .bytes = 8});
}

/* `times`: of the time that is in the samples, the program runs so much longer. */
static size_t made_findings(struct made *made, double times, struct lwp_finding *findings, struct lwp_redundancies *found)
{
    struct lwp_profile *profile = &made->profile;
    double all = times * WEIGHT * 200;
    uint32_t *same = malloc(profile->context_count * sizeof *same);
    for (uint32_t i = 0; i < profile->context_count; i++)
        same[i] = i;
    lwp_watchpoint_end(&profile->watchpoints);
    lwp_watchpoints_renumber(&profile->watchpoints, same, NULL);
    free(same);
    profile->total = (struct lwp_tally){all, all * WEIGHT, (uint64_t)(200 * times)};
    lwp_redundancy_find(profile, found);
    return lwp_findings_of_redundancies(profile, found, &(struct lwp_locality_tips){0}, findings, 5);
}

static const struct example {
    const char *name;
    enum lwp_watchpoint_outcome outcome;
    unsigned wasted, used; /* pairs at the wasteful place */
    double times;
    size_t findings;
} examples[] = {
    {"enough", LWP_WATCHPOINT_WASTE, 95, 5, 1, 1},
    {"a value that changes at times", LWP_WATCHPOINT_WASTE, 60, 40, 1, 0},
    {"few pairs", LWP_WATCHPOINT_WASTE, 19, 0, 1, 0},
    {"low end below the bar", LWP_WATCHPOINT_WASTE, 20, 160, 1, 0},
    {"hardly any time", LWP_WATCHPOINT_WASTE, 60, 40, 20, 0},
    {"only about the same", LWP_WATCHPOINT_CLOSE, 100, 0, 1, 0},
};

static void test_evidence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *example = &examples[i];
        struct made made;
        struct lwp_finding findings[5];
        struct lwp_redundancies found;
        made_init(&made);
        made_add(&made, LWP_WATCHPOINT_SILENT_STORE, example->outcome, made.wasteful, example->wasted);
        made_add(&made, LWP_WATCHPOINT_SILENT_STORE, LWP_WATCHPOINT_USE, made.wasteful, example->used);
        size_t count = made_findings(&made, example->times, findings, &found);
        print_message("%s: %zu findings\n", example->name, count);
        assert_int_equal(count, example->findings);
        assert_int_equal(found.line_count, 1); /* it is listed */
        if (count)
            assert_true(findings[0].rank > 1 && findings[0].low == 0 && findings[0].stake > 0.4 && findings[0].stake < 0.5);
        if (example->outcome == LWP_WATCHPOINT_CLOSE)
            assert_true(found.totals[LWP_WATCHPOINT_SILENT_STORE].share.value == 0 &&
                        found.totals[LWP_WATCHPOINT_SILENT_STORE].close.value > 0.99);
        lwp_profile_fini(&made.profile);
    }
}

/* What a line's stores leave as it was and what nobody reads of them is one thing to change. */
static void test_one_line(void **state)
{
    (void)state;
    struct made made;
    struct lwp_finding findings[5];
    struct lwp_redundancies found;
    made_init(&made);
    made_add(&made, LWP_WATCHPOINT_SILENT_STORE, LWP_WATCHPOINT_WASTE, made.wasteful, 50);
    made_add(&made, LWP_WATCHPOINT_DEAD_STORE, LWP_WATCHPOINT_WASTE, made.wasteful, 50);
    made_add(&made, LWP_WATCHPOINT_DEAD_STORE, LWP_WATCHPOINT_WASTE, made.other, 40);
    assert_int_equal(made_findings(&made, 1, findings, &found), 2);
    assert_int_equal(found.line_count, 3);
    lwp_profile_fini(&made.profile);
}

static void test_library(void **state)
{
    (void)state;
    struct made made;
    struct lwp_finding findings[5];
    struct lwp_redundancies found;
    made_init(&made);
    made_add(&made, LWP_WATCHPOINT_DEAD_STORE, LWP_WATCHPOINT_WASTE, made.malloc_inside, 100);
    assert_int_equal(made_findings(&made, 1, findings, &found), 0);
    assert_true(found.line_count == 1 && found.lines[0].foreign);
    lwp_profile_fini(&made.profile);
}

/* The load of a loop of some dozen instructions. */
extern const char the_load[], __executable_start[];

__attribute__((noinline, noipa)) static unsigned long reload(const unsigned long *from, long times)
{
    unsigned long sum = 0, value;
    for (long i = 0; i < times; i++) {
        __asm__ volatile("the_load: movq (%1), %0" : "=r"(value) : "r"(from));
        sum = (sum * 1664525 + value) ^ (sum >> 7);
        sum = (sum * 1013904223 + value) ^ (sum >> 9);
        sum = (sum * 1103515245 + value) ^ (sum >> 11);
    }
    return sum;
}

extern const char the_store[];

/* However the test is compiled. */
__attribute__((noinline, noipa)) static void settle(unsigned long *to, unsigned long count)
{
    __asm__ volatile("1: movq (%0), %%rax\n\t"
                     "imulq $3, %%rax\n\t"
                     "the_store: movq %%rax, (%0)\n\t"
                     "addq $8, %0\n\t"
                     "decq %1\n\t"
                     "jnz 1b"
                     : "+r"(to), "+r"(count)
                     :
                     : "rax", "memory", "cc");
}

static uint32_t own_program(struct made *made)
{
    char *path = realpath("/proc/self/exe", NULL);
    uint32_t program = lwp_code_module(made->profile.code, path, NULL, 0);
    free(path);
    return program;
}

/* A loop that computes anew what is there already, which nobody reads: one thing to change, too. */
static void test_one_loop(void **state)
{
    (void)state;
    unsigned long none = 0;
    struct made made;
    struct lwp_finding findings[5];
    struct lwp_redundancies found;
    settle(&none, 1);
    made_init(&made);
    struct lwp_profile *profile = &made.profile;
    uint32_t program = own_program(&made);
    uint64_t store = (uint64_t)(the_store - __executable_start);
    uint32_t at = lwp_contexts_child(profile, 0, program, store, false);
    made_add(&made, LWP_WATCHPOINT_SILENT_STORE, LWP_WATCHPOINT_WASTE, at, 50);
    made_add(&made, LWP_WATCHPOINT_DEAD_STORE, LWP_WATCHPOINT_WASTE, at, 50);
    uint32_t loop = lwp_regions_final(profile, lwp_regions_at(profile, program, store));
    lwp_tally_add(&profile->regions[loop].weight, 100 * WEIGHT);
    assert_int_equal(made_findings(&made, 1, findings, &found), 1);
    assert_int_equal(found.line_count, 2);
    assert_true(found.lines[0].code != found.lines[1].code && found.lines[0].place == found.lines[1].place);
    lwp_profile_fini(profile);
}

extern const char settled_store[], counted_store[];

__attribute__((noinline, noipa)) static void settle_and_count(unsigned long *to, unsigned long count)
{
    __asm__ volatile("1: movq (%0), %%rax\n\t"
                     "imulq $3, %%rax\n\t"
                     "settled_store: movq %%rax, (%0)\n\t"
                     "counted_store: movq %1, 8(%0)\n\t"
                     "decq %1\n\t"
                     "jnz 1b"
                     : "+r"(to), "+r"(count)
                     :
                     : "rax", "memory", "cc");
}

/* Half of the stores of a loop that is stalled nine tenths of its time leave what is there, the others do so or do not: without them
 * there is the loop to skip, else what it computes. */
static double settled_stake(bool counts, double *rank)
{
    unsigned long none[2] = {0};
    struct made made;
    struct lwp_finding findings[5];
    struct lwp_redundancies found;
    settle_and_count(none, 1);
    made_init(&made);
    struct lwp_profile *profile = &made.profile;
    uint32_t program = own_program(&made);
    uint64_t settled = (uint64_t)(settled_store - __executable_start), counted = (uint64_t)(counted_store - __executable_start);
    uint32_t at = lwp_contexts_child(profile, 0, program, settled, false), other = lwp_contexts_child(profile, 0, program, counted, false);
    made_add(&made, LWP_WATCHPOINT_SILENT_STORE, LWP_WATCHPOINT_WASTE, at, 50);
    made_add(&made, LWP_WATCHPOINT_SILENT_STORE, counts ? LWP_WATCHPOINT_USE : LWP_WATCHPOINT_WASTE, other, 50);
    uint32_t loop = lwp_regions_final(profile, lwp_regions_at(profile, program, settled));
    lwp_tally_add(&profile->regions[loop].weight, 100 * WEIGHT);
    struct lwp_stream stalled = {.region = loop, .module = program, .address = settled - 1};
    lwp_tally_add(&stalled.weight, 90 * WEIGHT);
    profile->streams = &stalled;
    profile->stream_count = 1;
    made_findings(&made, 1, findings, &found);
    double stake = 0;
    for (size_t i = 0; i < found.line_count; i++)
        stake = found.items[found.lines[i].item].first == at ? found.lines[i].stake : stake;
    *rank = findings[0].rank;
    profile->streams = NULL;
    profile->stream_count = 0;
    lwp_profile_fini(profile);
    return stake;
}

static void test_loop_goes_on(void **state)
{
    (void)state;
    double rank, skipped = settled_stake(false, &rank);
    assert_true(rank > 1 && rank < 1.06); /* half of what the loop computes: what it waits for it may have to read */
    double computed = settled_stake(true, &rank);
    print_message("at stake: %g of the time, %g where the loop goes on\n", skipped, computed);
    assert_true(skipped > 0.2);
    assert_true(computed > 0.04 && computed <= 0.051); /* a twentieth: a tenth of half of the time */
}

/* What a cure spares is one instruction's time, however many callers and data its pairs are of, and stalls of the first load are not. */
static void test_one_instruction(void **state)
{
    (void)state;
    enum { CALLERS = 40 };
    const unsigned long one = 1;
    struct made made;
    struct lwp_finding findings[5];
    struct lwp_redundancies found;
    made_init(&made);
    struct lwp_profile *profile = &made.profile;
    const uint64_t load = (uint64_t)(the_load - __executable_start) + (uint64_t)(reload(&one, 2) & 0);
    uint32_t program = own_program(&made);
    for (unsigned i = 0; i < CALLERS; i++) {
        uint32_t caller = lwp_contexts_child(profile, 0, made.program, 100 + i, false);
        uint32_t at = lwp_contexts_child(profile, caller, program, load, false);
        made_add(&made, LWP_WATCHPOINT_SILENT_LOAD, LWP_WATCHPOINT_WASTE, at, 5);
        uint32_t loop = lwp_regions_final(profile, lwp_regions_at(profile, program, load));
        lwp_tally_add(&profile->regions[loop].weight, 5 * WEIGHT);
    }
    made_findings(&made, 1, findings, &found);
    print_message("at stake: %g of the time, %s\n", found.lines[0].stake, found.items[0].cause);
    assert_int_equal(found.line_count, 1);
    assert_true(found.lines[0].stake > 0 && found.lines[0].stake < 0.15);
    lwp_profile_fini(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_evidence), cmocka_unit_test(test_one_line),
                                       cmocka_unit_test(test_library),  cmocka_unit_test(test_one_instruction),
                                       cmocka_unit_test(test_one_loop), cmocka_unit_test(test_loop_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
