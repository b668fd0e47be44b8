/* The budget without a program: what a simulated thread spends on samples, watches, trials and allocations together stays
 * within its share, whatever each of them costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/own/budget.c"

static const uint64_t second = 1000000000;

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

/* Mean costs of each in ns; `heap` of each ms of CPU time while allocations are recorded as the program makes them, which are `kept`. */
struct costs {
    uint64_t sample, watch, trial, heap;
    double kept;
};

/* Runs for `cpu` ns of CPU time as the sampler does. */
static struct lwp_time_budget run(const struct costs *costs, uint64_t cpu, double share)
{
    struct lwp_time_budget budget = {.share = share, .watches = costs->watch || costs->trial};
    unsigned thinning = 0;
    for (uint64_t now = 0; now < cpu;) {
        uint64_t period = lwp_budget_period(&budget, costs->sample, now), alone = second / 1000;
        now += period > alone ? period : alone;
        lwp_budget_spend(&budget, LWP_COST_SAMPLES, costs->sample / 2 + random_below(costs->sample));
        lwp_budget_spend(&budget, LWP_COST_HEAP, (costs->heap * (period > alone ? period : alone) / 1000000) >> thinning);
        if (lwp_budget_affords_heap(&budget, now, costs->kept))
            thinning -= thinning > 0;
        else
            thinning += thinning < 10;
        if (costs->trial && lwp_budget_affords_trial(&budget, now, 0))
            lwp_budget_spend(&budget, LWP_COST_TRIALS, costs->trial / 2 + random_below(costs->trial));
        if (costs->watch && lwp_budget_affords_watch(&budget, now, costs->trial != 0, 0))
            lwp_budget_spend(&budget, LWP_COST_WATCHES, costs->watch / 2 + random_below(costs->watch));
    }
    return budget;
}

/* The same, of a run's only thread, whose start has cost something already. */
static uint64_t run_from_start(const struct costs *costs, uint64_t cpu, uint64_t own_ns, uint64_t start_ns)
{
    struct lwp_run_account account = {.own_ns = own_ns, .spent_ns = start_ns, .set_up = 1};
    struct lwp_time_budget budget = {.share = 0.03, .watches = costs->watch, .run = &account};
    unsigned thinning = 0;
    while (account.cpu_ns < cpu) {
        const uint64_t wanted = lwp_budget_period(&budget, costs->sample, account.cpu_ns),
                       period = wanted < second / 20 ? wanted : second / 20;
        account.cpu_ns += period;
        lwp_budget_spend(&budget, LWP_COST_SAMPLES, period == wanted ? costs->sample : 0);
        lwp_budget_spend(&budget, LWP_COST_HEAP, (costs->heap * period / 1000000) >> thinning);
        if (lwp_budget_affords_heap(&budget, account.cpu_ns, costs->kept))
            thinning -= thinning > 0;
        else
            thinning += thinning < 10;
        if (costs->watch && lwp_budget_affords_watch(&budget, account.cpu_ns, false, 0))
            lwp_budget_spend(&budget, LWP_COST_WATCHES, costs->watch);
        account.spent_ns = start_ns + lwp_budget_spent(&budget);
    }
    return account.spent_ns + account.own_ns;
}

/* What the start of lwp and the first allocations cost is paid back before a run of a second and a half ends. */
static void a_run_of_a_second_and_a_half_stays_within_the_share(void **state)
{
    (void)state;
    static const struct costs all[] = {
        {80000, 0, 0, 0, 0}, {80000, 100000, 0, 0, 0}, {150000, 300000, 0, 50000, 1}, {80000, 100000, 0, 50000, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint64_t cpu = second * 3 / 2; cpu < 8 * second; cpu += second / 2) {
            const double used = (double)run_from_start(&all[i], cpu, 8000000, 4000000) / (double)cpu;
            if (used > 0.03 * 1.1 || used < 0.03 * 0.7)
                fail_msg("costs %zu, after %.1f s: %.4f", i, (double)cpu / (double)second, used);
        }
}

static double part(const struct lwp_time_budget *budget, enum lwp_cost cost, uint64_t cpu)
{
    return (double)budget->spent[cost] / (double)cpu;
}

static void everything_stays_within_the_share(void **state)
{
    (void)state;
    static const struct costs all[] = {
        {30000, 0, 0, 0, 0},
        {55000, 100000, 0, 0, 0},
        {90000, 400000, 300000, 0, 0},
        {20000, 3000, 50000, 0, 0},
        {55000, 100000, 0, 8000, 0.5},
        {55000, 200000, 100000, 200000, 1},
        {200000, 1000000, 1000000, 900000, 0},
    };
    static const double shares[] = {0.01, 0.03, 0.15};
    const uint64_t cpu = 40 * second;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            struct lwp_time_budget budget = run(&all[i], cpu, shares[k]);
            double used = (double)lwp_budget_spent(&budget) / (double)cpu;
            double advance = (double)watch_advance_ns / (double)cpu;
            double last = (double)(2 * all[i].watch + 2 * all[i].trial) / (double)cpu; /* begun while there was some left */
            if (used > shares[k] * 1.02 + advance + last)
                fail_msg("costs %zu, share %.2f: %.4f", i, shares[k], used);
        }
}

static void what_is_not_needed_goes_to_samples(void **state)
{
    (void)state;
    const uint64_t cpu = 20 * second;
    struct lwp_time_budget alone = run(&(struct costs){55000, 0, 0, 0, 0}, cpu, 0.03);
    struct lwp_time_budget watched = run(&(struct costs){55000, 100000, 0, 0, 0}, cpu, 0.03);
    struct lwp_time_budget heap = run(&(struct costs){55000, 100000, 0, 100000, 0}, cpu, 0.03);
    assert_true(part(&alone, LWP_COST_SAMPLES, cpu) > 0.0235 && part(&alone, LWP_COST_SAMPLES, cpu) < 0.0245);
    assert_true(part(&watched, LWP_COST_SAMPLES, cpu) > 0.017 && part(&watched, LWP_COST_SAMPLES, cpu) < 0.019);
    assert_true(part(&watched, LWP_COST_WATCHES, cpu) > 0.011 && part(&watched, LWP_COST_WATCHES, cpu) < 0.0125);
    assert_true(part(&heap, LWP_COST_SAMPLES, cpu) > 0.004); /* a quarter of the share is never the heap's */
    assert_true(part(&heap, LWP_COST_WATCHES, cpu) > 0.0025);
}

static void trials_have_half_where_a_thread_reads(void **state)
{
    (void)state;
    const uint64_t cpu = 20 * second;
    struct lwp_time_budget both = run(&(struct costs){55000, 100000, 100000, 0, 0}, cpu, 0.03);
    struct lwp_time_budget few = run(&(struct costs){55000, 100000, 1000, 0, 0}, cpu, 0.03); /* what trials need is theirs */
    assert_true(part(&both, LWP_COST_TRIALS, cpu) > 0.0055);
    assert_true(part(&few, LWP_COST_WATCHES, cpu) > 0.005 && part(&few, LWP_COST_WATCHES, cpu) < 0.0065);
}

static void a_costly_start_is_paid_for_later(void **state)
{
    (void)state;
    struct lwp_time_budget budget = {.share = 0.03, .watches = true};
    assert_true(lwp_budget_affords_watch(&budget, 0, false, 0)); /* the advance */
    lwp_budget_spend(&budget, LWP_COST_WATCHES, 40000000);
    assert_false(lwp_budget_affords_watch(&budget, second, false, 0));
    assert_true(lwp_budget_affords_watch(&budget, 4 * second, false, 0));
}

static void only_blocks_that_stay_get_an_advance(void **state)
{
    (void)state;
    struct lwp_time_budget budget = {.share = 0.03};
    lwp_budget_spend(&budget, LWP_COST_HEAP, 22000000); /* what three quarters of a second earn */
    assert_true(lwp_budget_affords_heap(&budget, second / 5, 1));
    assert_false(lwp_budget_affords_heap(&budget, second / 5, 0.9));
    assert_false(lwp_budget_affords_heap(&budget, second / 5, 0.1));
    assert_true(lwp_budget_affords_heap(&budget, 10 * second, 0.1));
    lwp_budget_spend(&budget, LWP_COST_HEAP, 210000000); /* an advance, no gift */
    assert_false(lwp_budget_affords_heap(&budget, 10 * second, 1));
    budget = (struct lwp_time_budget){.share = 0.01};
    lwp_budget_spend(&budget, LWP_COST_HEAP, 11000000);
    assert_false(lwp_budget_affords_heap(&budget, second / 5, 1));
}

/* Call paths, too, cost no more than the share allows. */
static void paths_are_within_the_share(void **state)
{
    (void)state;
    struct lwp_time_budget budget = {.share = 0.001};
    assert_true(lwp_budget_paths_ns(&budget, 0) < lwp_run_advance(0.001) / 2);
    assert_true(lwp_budget_paths_ns(&budget, 100 * second) < 0.001 * 100 * second / 2);
    struct lwp_run_account run = {.spent_ns = 2000000};
    const double advance = lwp_budget_paths_ns(&budget, 0);
    budget.run = &run;
    assert_true(lwp_budget_paths_ns(&budget, 0) < advance / 10);
    assert_true(lwp_budget_paths_ns(&budget, 100 * second) > advance); /* what was earned is not lost */
    run.spent_ns = (uint64_t)(lwp_run_advance(0.001) / 2);             /* by lwp collect, and by what does not allocate */
    assert_true(lwp_budget_paths_ns(&budget, 0) < advance * 0.6 && lwp_budget_paths_ns(&budget, 0) > advance * 0.4);
    run.spent_ns *= 2;
    lwp_budget_spend(&budget, LWP_COST_HEAP, run.spent_ns / 2 - 1); /* what was unwound is not counted twice */
    run.spent_ns--;
    assert_true(lwp_budget_paths_ns(&budget, 0) > advance * 0.4);
}

/* Nothing of what armed registers slow is let off, whoever has armed them. */
static void what_registers_slow_is_paid_for(void **state)
{
    (void)state;
    for (unsigned armed = 0; armed < 4; armed++) {
        const bool watches = armed & 1, trial = armed & 2;
        struct lwp_time_budget budget = {.share = 0.03};
        lwp_budget_spend_armed(&budget, 1001, watches, trial);
        assert_int_equal(lwp_budget_spent(&budget), 1001);
        assert_int_equal(budget.spent[LWP_COST_WATCHES], !watches ? 0 : trial ? 500 : 1001);
    }
}

/* Threads that leave the processor often have fewer samples and allocations recorded, and watches only where those can stay. */
static void switches_are_paid_for_first(void **state)
{
    (void)state;
    struct lwp_time_budget budget = {.share = 0.03, .watches = true};
    const uint64_t cpu = 10 * second, before = lwp_budget_period(&budget, 50000, cpu);
    assert_true(lwp_budget_affords_heap(&budget, cpu, 1));
    assert_true(lwp_budget_affords_watch(&budget, cpu, false, 100000000) && lwp_budget_affords_trial(&budget, cpu, 100000000));
    assert_false(lwp_budget_is_dear(&budget, 200000, 20000000, cpu));
    lwp_budget_spend(&budget, LWP_COST_SWITCHES, 150000000);
    lwp_budget_spend(&budget, LWP_COST_HEAP, 130000000);
    assert_true(lwp_budget_period(&budget, 50000, cpu) > 3 * before);
    assert_false(lwp_budget_affords_heap(&budget, cpu, 0));
    assert_false(lwp_budget_affords_watch(&budget, cpu, false, 100000000) || lwp_budget_affords_trial(&budget, cpu, 100000000));
    assert_true(lwp_budget_affords_watch(&budget, cpu, false, 0) && lwp_budget_affords_trial(&budget, cpu, 0));
    assert_true(lwp_budget_is_dear(&budget, 200000, 20000000, cpu));
}

/* Beginnings of processes and lwp collect itself: samples pay for them, but for a quarter that is always theirs. */
static void what_the_run_owes_is_paid_by_samples(void **state)
{
    (void)state;
    struct lwp_run_account run = {.cpu_ns = 10 * second, .spent_ns = 290000000};
    struct lwp_time_budget budget = {.share = 0.03, .run = &run};
    lwp_budget_spend(&budget, LWP_COST_SAMPLES, 15000000); /* none of the first */
    const uint64_t before = lwp_budget_period(&budget, 50000, second);
    run.own_ns = 12500000; /* 2.5 ms too much */
    const uint64_t owes = lwp_budget_period(&budget, 50000, second);
    assert_true(owes > before * 4 / 3 && owes < before * 5 / 3);
    run.spent_ns = 900000000;
    const uint64_t much = lwp_budget_period(&budget, 50000, second);
    assert_true(much > before * 7 / 2 && much < before * 9 / 2);
    run = (struct lwp_run_account){.cpu_ns = second, .spent_ns = 29000000}; /* short runs have it in advance */
    assert_int_equal(lwp_budget_period(&budget, 50000, second), before);
}

/* What debts kept samples from comes later, where nobody else may want it. */
static void what_was_not_spent_is_paid_out(void **state)
{
    (void)state;
    struct lwp_run_account run = {.cpu_ns = 4 * second, .spent_ns = 110000000, .set_up = 1};
    struct lwp_time_budget budget = {.share = 0.03, .run = &run};
    lwp_budget_spend(&budget, LWP_COST_SAMPLES, 15000000);
    const uint64_t usual = lwp_budget_period(&budget, 50000, 4 * second);
    run.spent_ns = 88000000; /* 20 ms less than nine tenths of what it earned */
    const uint64_t sooner = lwp_budget_period(&budget, 50000, 4 * second);
    assert_true(sooner < usual * 6 / 10 && sooner > usual / 2);
    run.spent_ns = 0;
    const uint64_t most = lwp_budget_period(&budget, 50000, 4 * second);
    assert_true(most < sooner && most > usual * 4 / 10);
    budget.watches = true; /* they would have it */
    const uint64_t watched = lwp_budget_period(&budget, 50000, 4 * second);
    run.spent_ns = 110000000;
    assert_int_equal(lwp_budget_period(&budget, 50000, 4 * second), watched);
    budget.watches = false;
    budget.before = 1;
    assert_int_equal(lwp_budget_period(&budget, 50000, 4 * second), usual);
}

/* Allocations, too, but for a quarter of theirs; and no advance does. */
static void what_the_run_owes_is_paid_by_allocations(void **state)
{
    (void)state;
    const uint64_t cpu = 2 * second;
    struct lwp_run_account run = {.cpu_ns = cpu, .spent_ns = 40000000};
    struct lwp_time_budget budget = {.share = 0.03, .run = &run};
    lwp_budget_spend(&budget, LWP_COST_HEAP, 20000000);
    assert_true(lwp_budget_affords_heap(&budget, cpu, 0.1));
    run.own_ns = 80000000; /* 60 ms too much */
    assert_false(lwp_budget_affords_heap(&budget, cpu, 0.1));
    assert_false(lwp_budget_affords_heap(&budget, cpu, 0.9));
    budget.spent[LWP_COST_HEAP] = 10000000;
    assert_true(lwp_budget_affords_heap(&budget, cpu, 0.1));
    run.own_ns = 22500000; /* 2.5 ms */
    budget.spent[LWP_COST_HEAP] = 24000000;
    assert_true(lwp_budget_affords_heap(&budget, cpu, 0.1));
    budget.spent[LWP_COST_HEAP] = 26000000;
    assert_false(lwp_budget_affords_heap(&budget, cpu, 0.1));
}

/* The start of lwp and allocations may have cost more than a short program earns: of its first thread there are samples all the same. */
static void the_first_samples_have_the_whole_share(void **state)
{
    (void)state;
    struct lwp_run_account run = {.cpu_ns = second, .spent_ns = 15000000, .own_ns = 40000000, .set_up = 1};
    struct lwp_time_budget budget = {.share = 0.03, .run = &run}, another = {.share = 0.03, .before = 1, .run = &run};
    const uint64_t first = lwp_budget_period(&budget, 50000, second);
    assert_true(lwp_budget_period(&another, 50000, second) > 3 * first);
    budget.spent[LWP_COST_SAMPLES] = 8000000;
    assert_true(lwp_budget_period(&budget, 50000, second) > 3 * first);
    budget.spent[LWP_COST_SAMPLES] = 7000000;
    budget.spent[LWP_COST_HEAP] = 30000000;
    assert_int_equal(lwp_budget_period(&budget, 50000, second), first);
    run.set_up = 2;
    assert_true(lwp_budget_period(&budget, 50000, second) > 3 * first);
}

/* A thread's first samples may cost ten times what later ones do: they have an advance, and then what the thread earns. */
static void samples_are_dear_beyond_their_advance(void **state)
{
    (void)state;
    struct lwp_time_budget budget = {.share = 0.03, .watches = true};
    assert_true(lwp_budget_affords_samples(&budget, 0));
    lwp_budget_spend(&budget, LWP_COST_SAMPLES, second / 1000);
    assert_true(lwp_budget_affords_samples(&budget, 0));
    lwp_budget_spend(&budget, LWP_COST_SAMPLES, second / 100);
    assert_false(lwp_budget_affords_samples(&budget, second / 10));
    assert_true(lwp_budget_affords_samples(&budget, second));
    budget.before = 99; /* all threads together have one advance, more or less */
    budget.spent[LWP_COST_SAMPLES] = second / 1000;
    assert_false(lwp_budget_affords_samples(&budget, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_stays_within_the_share),
        cmocka_unit_test(samples_are_dear_beyond_their_advance),
        cmocka_unit_test(only_blocks_that_stay_get_an_advance),
        cmocka_unit_test(what_registers_slow_is_paid_for),
        cmocka_unit_test(what_is_not_needed_goes_to_samples),
        cmocka_unit_test(trials_have_half_where_a_thread_reads),
        cmocka_unit_test(a_costly_start_is_paid_for_later),
        cmocka_unit_test(switches_are_paid_for_first),
        cmocka_unit_test(what_was_not_spent_is_paid_out),
        cmocka_unit_test(what_the_run_owes_is_paid_by_samples),
        cmocka_unit_test(what_the_run_owes_is_paid_by_allocations),
        cmocka_unit_test(the_first_samples_have_the_whole_share),
        cmocka_unit_test(paths_are_within_the_share),
        cmocka_unit_test(a_run_of_a_second_and_a_half_stays_within_the_share),
    };
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
