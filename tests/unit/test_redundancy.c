/* From decided watches to shares: proportional attribution where some pairs are seen far more often than others, and
 * intervals that hold what they promise, both against simulated programs whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/advice/redundancy/redundancy_cause.h"
#include "analysis/advice/redundancy/redundancy.h"
#include "analysis/profile/contexts.h"
#include "analysis/profile/thread_roots.h"
#include "tests/unit/amount.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct simulated {
    struct lwp_profile profile;
    uint64_t random;
    struct waiting {
        uint32_t first; /* 0: the register is free */
    } waiting;
    uint32_t since;
    unsigned decided[5][5];
};

static uint64_t simulated_random(struct simulated *s, uint64_t below)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (s->random >> 33) % below;
}

static void simulated_add(struct simulated *s, enum lwp_watchpoint_outcome outcome, uint32_t first, uint32_t second)
{
    lwp_watchpoint_add(&s->profile.watchpoints, &(struct lwp_watchpoint_verdict){.kind = LWP_WATCHPOINT_DEAD_STORE,
                                                                                 .outcome = outcome,
                                                                                 .first = first,
                                                                                 .second = second,
                                                                                 .object = LWP_NONE,
                                                                                 .weight = 1000,
                                                                                 .count = 1,
                                                                                 .bytes = 8});
    if (outcome >= LWP_WATCHPOINT_USE)
        s->decided[first][second]++;
}

/* One register; a candidate in `first` whose bytes the program touches next in `second`: at once, or much later. */
static void simulated_sample(struct simulated *s, uint32_t first, uint32_t second, bool at_once)
{
    bool taken = !s->waiting.first || simulated_random(s, ++s->since) == 0;
    if (!taken) {
        simulated_add(s, LWP_WATCHPOINT_OPEN, first, second);
        return;
    }
    if (s->waiting.first)
        simulated_add(s, LWP_WATCHPOINT_OPEN, s->waiting.first, 0);
    else
        s->since = 1;
    s->waiting.first = first;
    if (at_once) {
        simulated_add(s, LWP_WATCHPOINT_WASTE, first, second);
        s->waiting.first = 0;
    }
}

static void simulated_reach(struct simulated *s, uint32_t first, uint32_t second)
{
    if (s->waiting.first == first) {
        simulated_add(s, LWP_WATCHPOINT_WASTE, first, second);
        s->waiting.first = 0;
    }
}

/* Thesis, listing 4.3: lines 3 and 11 (here 1 and 4) wait long, 7 and 8 (2 and 3) do not; each is a quarter. */
static void test_mixed_density(void **state)
{
    (void)state;
    static struct simulated s;
    enum { ROUNDS = 4000, SAMPLES = 10 };
    lwp_profile_init(&s.profile);
    s.random = 99;
    lwp_watchpoint_begin(&s.profile.watchpoints);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SAMPLES; i++) {
            if (i == SAMPLES / 2)
                simulated_reach(&s, 4, 1);
            simulated_sample(&s, 1, 4, false);
        }
        for (int i = 0; i < 2 * SAMPLES; i++)
            simulated_sample(&s, 2 + (uint32_t)simulated_random(&s, 2), 0, false), simulated_reach(&s, 2, 3), simulated_reach(&s, 3, 2);
        for (int i = 0; i < SAMPLES; i++) {
            if (i == SAMPLES / 2)
                simulated_reach(&s, 1, 4);
            simulated_sample(&s, 4, 1, false);
        }
    }
    static const uint32_t same[5] = {0, 1, 2, 3, 4};
    lwp_watchpoint_end(&s.profile.watchpoints);
    lwp_watchpoints_renumber(&s.profile.watchpoints, same, NULL);
    struct lwp_redundancies found;
    s.profile.context_count = 5;
    free(s.profile.contexts);
    s.profile.contexts = calloc(5, sizeof *s.profile.contexts);
    for (int i = 0; i < 5; i++)
        s.profile.contexts[i].module = LWP_NONE;
    s.profile.total = (struct lwp_tally){1e9, 1e9, 1000};
    lwp_redundancy_find(&s.profile, &found);
    assert_int_equal(found.count, 4);
    double raw = 0;
    for (uint32_t first = 1; first <= 4; first++)
        for (uint32_t second = 1; second <= 4; second++)
            raw += s.decided[first][second];
    for (size_t i = 0; i < found.count; i++) {
        const struct lwp_redundancy *item = &found.items[i];
        double counted = s.decided[item->pair->first][item->pair->second] / raw;
        print_message("pair %u>%u: %.3f of the stores; of what was decided %.3f\n", item->pair->first, item->pair->second,
                      item->share.value, counted);
        assert_true(item->share.value > 0.23 && item->share.value < 0.27);
        assert_true(counted < 0.2 || counted > 0.3); /* what counting would say */
    }
    assert_true(found.totals[LWP_WATCHPOINT_DEAD_STORE].share.value > 0.999);
    free(s.profile.contexts);
    s.profile.contexts = NULL;
    lwp_profile_fini(&s.profile);
}

/* The share of stores that `see` has sampled and sometimes decided, of a program with three places. */
static struct lwp_redundancy_total simulated_total(uint64_t *random, unsigned samples, void (*see)(struct simulated *, unsigned))
{
    struct simulated s = {.random = *random};
    lwp_profile_init(&s.profile);
    lwp_watchpoint_begin(&s.profile.watchpoints);
    for (unsigned i = 0; i < samples; i++)
        see(&s, i);
    *random = s.random;
    static const uint32_t same[5] = {0, 1, 2, 3, 4};
    lwp_watchpoint_end(&s.profile.watchpoints);
    lwp_watchpoints_renumber(&s.profile.watchpoints, same, NULL);
    struct lwp_context_node nodes[5];
    for (int i = 0; i < 5; i++)
        nodes[i] = (struct lwp_context_node){.module = LWP_NONE};
    free(s.profile.contexts);
    s.profile.contexts = nodes;
    struct lwp_redundancies found;
    lwp_redundancy_find(&s.profile, &found);
    s.profile.contexts = NULL;
    lwp_profile_fini(&s.profile);
    return found.totals[LWP_WATCHPOINT_DEAD_STORE];
}

/* Always wasted, never, and one time in four; of one in three samples it is seen. Truth: 1.25 / 3. */
static void see_places(struct simulated *s, unsigned i)
{
    (void)i;
    uint32_t first = 1 + (uint32_t)simulated_random(s, 3);
    bool waste = first == 1 || (first == 3 && simulated_random(s, 4) == 0);
    bool seen = simulated_random(s, 3) == 0;
    simulated_add(s, !seen ? LWP_WATCHPOINT_OPEN : waste ? LWP_WATCHPOINT_WASTE : LWP_WATCHPOINT_USE, first, 1);
}

/* One place, wasted every second time; one in twenty-five is seen. */
static void see_half(struct simulated *s, unsigned i)
{
    (void)i;
    bool waste = simulated_random(s, 2), seen = simulated_random(s, 25) == 0;
    simulated_add(s, !seen ? LWP_WATCHPOINT_OPEN : waste ? LWP_WATCHPOINT_WASTE : LWP_WATCHPOINT_USE, 1, 1);
}

/* The same where seeing a use costs twice what seeing waste costs. */
static void see_costly(struct simulated *s, unsigned i)
{
    (void)i;
    bool waste = simulated_random(s, 2), seen = s->since == 0;
    s->since = seen ? (waste ? 16 : 32) : s->since - 1;
    simulated_add(s, !seen ? LWP_WATCHPOINT_OPEN : waste ? LWP_WATCHPOINT_WASTE : LWP_WATCHPOINT_USE, 1, 1);
}

/* The same where time goes by and waste with it: nine tenths first, one tenth later, when more is seen of it. */
static void see_phases(struct simulated *s, unsigned i)
{
    bool late = i >= 1000, waste = simulated_random(s, 10) < (late ? 1 : 9), seen = simulated_random(s, late ? 8 : 25) == 0;
    simulated_add(s, !seen ? LWP_WATCHPOINT_OPEN : waste ? LWP_WATCHPOINT_WASTE : LWP_WATCHPOINT_USE, 1, 1);
}

/* The same in four threads, each of which has run for a third of its time before anything of it is seen. */
static void see_late(struct simulated *s, unsigned i)
{
    unsigned of_thread = i % 600;
    if (!of_thread) {
        lwp_watchpoint_end(&s->profile.watchpoints);
        lwp_watchpoint_begin(&s->profile.watchpoints);
    }
    bool waste = simulated_random(s, 2), seen = of_thread >= 200 && simulated_random(s, 5) == 0;
    simulated_add(s, !seen ? LWP_WATCHPOINT_OPEN : waste ? LWP_WATCHPOINT_WASTE : LWP_WATCHPOINT_USE, 1, 1);
}

static const struct simulation {
    const char *name;
    void (*see)(struct simulated *, unsigned);
    unsigned samples;
    double truth, deviation; /* of the share; most of its estimate */
} simulations[] = {{"places", see_places, 300, 1.25 / 3, 0.045},
                   {"half", see_half, 2000, 0.5, 0.066}, /* 0.056 is that of 80 tosses; by mu - eta it is 0.078 */
                   {"costly", see_costly, 2000, 0.5, 0.063},
                   {"phases", see_phases, 2000, 0.5, 0.045},
                   {"late", see_late, 2400, 0.5, 0.04}}; /* 0.028 is that of 320 tosses; by the mean of the last four gaps it is 0.078 */

/* The estimate has no bias, no more deviation than it must, and its 95 % interval holds the truth as often as it says,
 * with few samples of which few are decided. */
static void test_interval(void **state)
{
    (void)state;
    enum { ROUNDS = AMOUNT(2000, 300) };
    uint64_t random = 5;
    for (unsigned k = 0; k < sizeof simulations / sizeof simulations[0]; k++) {
        const struct simulation *simulation = &simulations[k];
        double width = 0, sum = 0, squares = 0;
        unsigned inside = 0;
        for (int round = 0; round < ROUNDS; round++) {
            const struct lwp_share share = simulated_total(&random, simulation->samples, simulation->see).share;
            inside += share.low <= simulation->truth && simulation->truth <= share.high;
            width += (share.high - share.low) / ROUNDS;
            sum += share.value / ROUNDS;
            squares += (share.value - simulation->truth) * (share.value - simulation->truth) / ROUNDS;
        }
        print_message("%s: mean %.3f for %.3f, deviation %.3f; the interval (%.3f wide) holds the truth in %.1f %% of %d runs\n",
                      simulation->name, sum, simulation->truth, sqrt(squares), width, 100.0 * inside / ROUNDS, ROUNDS);
        assert_true(fabs(sum - simulation->truth) < 0.015);
        assert_true(sqrt(squares) < AMOUNT(1, 1.1) * simulation->deviation);
        assert_true(inside >= AMOUNT(0.945, 0.92) * ROUNDS);
        assert_true(simulation->see == see_phases || inside < AMOUNT(0.975, 0.99) * ROUNDS); /* no wider than it must be */
    }
}

/* What ended in ways that say nothing is not decided, and no part of what a share is of. */
static void see_dropped(struct simulated *s, unsigned i)
{
    simulated_add(s, i % 4 == 3 ? LWP_WATCHPOINT_WASTE : LWP_WATCHPOINT_DROPPED, i % 4 == 3 ? 2 : 1, 1);
}

static void test_dropped(void **state)
{
    (void)state;
    uint64_t random = 5;
    const struct lwp_redundancy_total total = simulated_total(&random, 400, see_dropped);
    assert_int_equal(total.candidates, 400);
    assert_int_equal(total.decided, 100);
    assert_true(fabs(total.undecided - 0.75) < 1e-9);
    assert_true(total.share.value > 0.999);
}

/* run() is called by main() in one thread and is what others start with; main() also calls work() itself. */
struct threads {
    uint32_t main, started, direct; /* contexts of an access in work() */
};

static struct threads threads_make(struct lwp_profile *profile)
{
    uint32_t library = lwp_code_module(profile->code, "/nowhere/libc.so.6", NULL, 0);
    uint32_t program = lwp_code_module(profile->code, "/nowhere/program", NULL, 0);
    enum { START = 1, MAIN = 2, RUN = 3, WORK = 4, CLONE = 5, START_THREAD = 6, START_MAIN = 7, ACCESS = 8 };
    uint32_t at_start = lwp_contexts_child(profile, 0, program, START, false);
    uint32_t in_library = lwp_contexts_child(profile, at_start, library, START_MAIN, false);
    uint32_t in_main = lwp_contexts_child(profile, in_library, program, MAIN, false);
    uint32_t clone = lwp_contexts_child(profile, 0, library, CLONE, false);
    uint32_t thread = lwp_contexts_child(profile, clone, library, START_THREAD, false);
    struct threads made = {0};
    uint32_t above[] = {lwp_contexts_child(profile, in_main, program, RUN, false), lwp_contexts_child(profile, thread, program, RUN, false),
                        in_main};
    uint32_t *contexts[] = {&made.main, &made.started, &made.direct};
    for (int i = 0; i < 3; i++)
        *contexts[i] = lwp_contexts_child(profile, lwp_contexts_child(profile, above[i], program, WORK, false), program, ACCESS, false);
    return made;
}

static void test_thread_roots(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_thread_roots roots;
    lwp_profile_init(&profile);
    struct threads at = threads_make(&profile);
    lwp_thread_roots_find(&profile, &roots);
    uint32_t cut = lwp_thread_roots_cut(&profile, &roots, at.main);
    assert_int_equal(cut, lwp_thread_roots_cut(&profile, &roots, at.started));
    assert_int_equal(profile.contexts[cut].depth, 3);
    assert_int_equal(lwp_thread_roots_cut(&profile, &roots, at.direct), at.direct);
    assert_int_equal(lwp_thread_roots_cut(&profile, &roots, 0), 0);
    lwp_thread_roots_free(&roots);
    lwp_profile_fini(&profile);
}

/* One third of the main thread's stores are dead and half of another thread's: one pair, with the interval of the
 * whole. */
static void test_pairs_of_threads(void **state)
{
    (void)state;
    struct lwp_profile profile;
    struct lwp_redundancies found;
    lwp_profile_init(&profile);
    struct threads at = threads_make(&profile);
    for (int thread = 0; thread < 2; thread++) {
        lwp_watchpoint_begin(&profile.watchpoints);
        for (int i = 0; i < 60; i++) {
            struct lwp_watchpoint_verdict verdict = {.kind = LWP_WATCHPOINT_DEAD_STORE, .object = LWP_NONE, .weight = 1000, .count = 1};
            verdict.first = verdict.second = thread ? at.started : at.main;
            verdict.outcome = i % (thread ? 2 : 3) ? LWP_WATCHPOINT_USE : LWP_WATCHPOINT_WASTE;
            verdict.address = thread ? 0x1000 : 0x2000 + 64 * (uint64_t)(i / 15);
            lwp_watchpoint_add(&profile.watchpoints, &verdict);
        }
        lwp_watchpoint_end(&profile.watchpoints);
    }
    uint32_t *same = malloc(profile.context_count * sizeof *same);
    for (uint32_t i = 0; i < profile.context_count; i++)
        same[i] = i;
    lwp_watchpoints_renumber(&profile.watchpoints, same, NULL);
    free(same);
    lwp_redundancy_find(&profile, &found);
    assert_int_equal(found.count, 1);
    const struct lwp_redundancy *item = &found.items[0];
    const struct lwp_share *total = &found.totals[LWP_WATCHPOINT_DEAD_STORE].share;
    assert_true(item->share.value > 5.0 / 12 - 1e-9 && item->share.value < 5.0 / 12 + 1e-9);
    assert_true(item->share.low > total->low - 1e-9 && item->share.low < total->low + 1e-9);
    assert_true(item->share.high > total->high - 1e-9 && item->share.high < total->high + 1e-9);
    assert_int_equal(item->samples, 50);
    assert_int_equal(item->pair->first, at.started);
    assert_int_equal(item->moved, 3); /* 20 stores to four places here, 30 to one there */
    assert_int_equal(item->again, 16 + 29);
    assert_int_equal(item->other_count, 1);
    assert_int_equal(item->others[0].pair->first, at.main);
    assert_int_equal(item->others[0].samples, 20);
    assert_int_equal(item->first, item->second);
    lwp_profile_fini(&profile);
}

static void test_constructors(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        bool constructs;
    } table[] = {{"Vec::Vec(double)", true},
                 {"geo::Grid<int>::Grid(int)", true},
                 {"a::b::Map<a::Key, std::less<a::Key> >::Map()", true},
                 {"Vec::length() const", false},
                 {"Vec::Vector(double)", false},
                 {"Vec::~Vec()", false},
                 {"Vec(double)", false},
                 {"main", false},
                 {"", false},
                 {"::(", false},
                 {"(anonymous namespace)::X::run()", false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(lwp_redundancy_constructs(table[i].function), table[i].constructs);
}

/* Counts come out as they went in, to the byte and without an interval; what was never decided is only said to be so. */
static void test_exact(void **state)
{
    (void)state;
    struct lwp_profile profile;
    lwp_profile_init(&profile);
    const uint64_t much = (uint64_t)1 << 50;
    const struct lwp_watchpoint_count counts[] = {
        {.kind = LWP_WATCHPOINT_DEAD_STORE, .first = 1, .second = 2, .waste = much + 1, .times = 5, .again = 4},
        {.kind = LWP_WATCHPOINT_DEAD_STORE, .first = 1, .second = 3, .use = much - 1},
        {.kind = LWP_WATCHPOINT_DEAD_STORE, .first = 2, .second = 1, .waste = 7, .use = 1, .times = 1},
        {.kind = LWP_WATCHPOINT_DEAD_STORE, .first = 4, .open = much},
        {.kind = LWP_WATCHPOINT_SILENT_STORE, .first = 1, .second = 2, .waste = 24, .close = 8, .use = 32, .times = 4},
    };
    static const uint32_t same[5] = {0, 1, 2, 3, 4};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct lwp_watchpoint_count count = counts[i];
        count.object = LWP_NONE;
        lwp_watchpoint_count(&profile.watchpoints, &count);
    }
    lwp_watchpoints_renumber(&profile.watchpoints, same, NULL);
    struct lwp_redundancies found;
    profile.context_count = 5;
    free(profile.contexts);
    profile.contexts = calloc(5, sizeof *profile.contexts);
    for (int i = 0; i < 5; i++)
        profile.contexts[i].module = LWP_NONE;
    lwp_redundancy_find(&profile, &found);
    const struct lwp_redundancy_total *dead = &found.totals[LWP_WATCHPOINT_DEAD_STORE];
    assert_true(dead->wasted == (double)much + 8 && dead->decided == 2 * much + 8);
    assert_true(dead->share.low == dead->share.value && dead->share.high == dead->share.value);
    assert_true(fabs(dead->undecided - 1 / 3.0) < 1e-9);
    const struct lwp_redundancy_total *silent = &found.totals[LWP_WATCHPOINT_SILENT_STORE];
    assert_true(silent->share.value == 24 / 64.0 && silent->close.value == 8 / 64.0 && silent->wasted == 24);
    assert_int_equal(found.count, 3); /* seven bytes are not worth a line */
    assert_true(found.items[0].amount == (double)much + 1 && found.items[0].share.low == found.items[0].share.high);
    assert_int_equal(found.items[0].samples, 5);
    assert_int_equal(found.items[0].again, 4);
    assert_int_equal(found.items[0].moved, 1);
    assert_true(found.items[1].amount == 24 && found.items[1].share.value == 24 / 64.0 && !found.items[1].approximate);
    assert_int_equal(found.items[1].samples, 3);
    assert_true(found.items[2].amount == 8 && found.items[2].share.value == 8 / 64.0 && found.items[2].approximate);
    assert_int_equal(found.items[2].samples, 1);
    assert_false(found.totals[LWP_WATCHPOINT_SILENT_LOAD].measured);
    lwp_profile_fini(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixed_density), cmocka_unit_test(test_interval),         cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_thread_roots),  cmocka_unit_test(test_pairs_of_threads), cmocka_unit_test(test_constructors),
        cmocka_unit_test(test_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
