/* What processes tell the run's account of themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/own/budget.c"
#include "collector/light/own/run.c"

const char *lwp_setting(const char *name)
{
    (void)name;
    return NULL;
}

double lwp_setting_number(const char *name, double otherwise)
{
    (void)name;
    return otherwise;
}

void *lwp_own_map(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return mmap(address, bytes, protection, flags, fd, offset);
}

/* --max-overhead is of what the program takes alone, CPU time has lwp's part in it. */
static void the_share_is_of_the_program_alone(void **state)
{
    (void)state;
    const double share = lwp_run_share(), alone = 1 - share;
    assert_true(share / alone > 0.02999 && share / alone < 0.03001);
}

/* Of a child that is never set up nothing else says what it has cost. */
static void what_a_child_costs_is_charged_unless_it_is_set_up(void **state)
{
    (void)state;
    enum { NS = 1000 };
    run_alone = (struct lwp_run_account){0};
    lwp_run_begin();
    lwp_run_fork_cost(NS); /* not a child */
    assert_int_equal(run_alone.spent_ns, 0);
    lwp_run_forked();
    lwp_run_fork_cost(NS);
    assert_int_equal(run_alone.spent_ns, 2 * NS);
    assert_int_equal(run_alone.processes, 2);
    lwp_run_join();
    uint64_t spent = run_alone.spent_ns;
    lwp_run_fork_cost(NS);
    assert_int_equal(run_alone.spent_ns, spent);
}

/* It is one process to the account, but has loaded lwp's library in each of its programs; a child that is forked only has not. */
static void each_program_of_a_process_loads(void **state)
{
    (void)state;
    run_alone = (struct lwp_run_account){0};
    lwp_run_begin();
    lwp_run_join(); /* also those that are set up */
    lwp_run_exec(false);
    lwp_run_begin();
    assert_int_equal(run_alone.processes, 1);
    assert_int_equal(run_alone.loaded, 2);
    lwp_run_forked();
    assert_int_equal(run_alone.processes, 2);
    lwp_run_exec(false);
    assert_int_equal(run_alone.processes, 1);
    lwp_run_exec(true);
    assert_int_equal(run_alone.processes, 2);
    assert_int_equal(run_alone.loaded, 2);
}

/* Of a process that is never set up it is all that it costs; of many that is more than a run may. */
static void loading_is_paid_for(void **state)
{
    (void)state;
    enum { PROCESSES = 200 };
    run_alone = (struct lwp_run_account){0};
    lwp_run_begin();
    const int64_t before = lwp_run_surplus(lwp_run, run_share);
    for (int i = 0; i < PROCESSES; i++) {
        lwp_run_begin();
        run.base_ns -= 100000; /* so long ago */
        lwp_run_loaded();
    }
    assert_true(before - lwp_run_surplus(lwp_run, run_share) >= PROCESSES * 200000);
    assert_true(lwp_run_owed(lwp_run, run_share) > 0);
    assert_int_equal(run_alone.spent_ns, 0); /* what is printed of it is measured */
}

/* Where the run has cost too much already, fewer begin: half as many where it owes what one costs. */
static void fewer_are_set_up_where_the_run_owes(void **state)
{
    (void)state;
    const uint64_t ms = 1000000;
    run_share = 0.03;
    run_alone = (struct lwp_run_account){.cpu_ns = 1000 * ms, .spent_ns = 29 * ms};
    const double chance = lwp_run_join_chance(ms, ms);
    run_alone.spent_ns = 30 * ms + JOIN_NS;
    assert_true(lwp_run_join_chance(ms, ms) < chance * 0.6 && lwp_run_join_chance(ms, ms) > chance * 0.4);
    memset(&run, 0, sizeof run);
    run.told_ns = run.base_ns = run_cpu(); /* what this test has taken so far counts for nothing */
    lwp_run_may_join();
    assert_in_range(run.certain_ns, JOIN_NS / 0.0075 * 0.99, JOIN_NS / 0.0075 * 1.01);
    run_alone.spent_ns = 1000 * ms;
    assert_true(lwp_run_join_chance(ms, ms) > chance * 0.2); /* a long program at a script's end is set up yet */
}

/* Each look costs .1 ms; where ticks are lost, which those within the kernel are, half of what is left goes by, not all. */
static void looks_become_rarer_until_the_process_is_due(void **state)
{
    (void)state;
    enum { DUE_NS = 600000000 };
    unsigned looks = 1;
    memset(&run, 0, sizeof run);
    run.chance = 0.6;
    run.certain_ns = 1000000000;
    for (run.told_ns = LEAST_NS; run.told_ns < DUE_NS; looks++) {
        uint64_t next = lwp_run_look_again_ns();
        assert_true(next >= SOON_NS);
        assert_true(next <= run.told_ns);
        run.told_ns += next;
    }
    assert_true(run.told_ns <= DUE_NS + SOON_NS);
    assert_true(looks < 16);
}

/* Else what it allocates at its start is not known. */
static void the_program_that_a_script_starts_is_set_up_for_sure(void **state)
{
    (void)state;
    const uint64_t ms = 1000000;
    run_alone = (struct lwp_run_account){.own_ns = 15 * ms, .spent_ns = 5 * ms};
    memset(&run, 0, sizeof run);
    lwp_run_begin();
    assert_true(lwp_run_may_join());
    assert_true(lwp_run_is_certain());
    assert_true(lwp_run_scale() <= 1);
    run_alone.spent_ns = 20 * ms;
    assert_false(lwp_run_is_rich());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_share_is_of_the_program_alone),
                                       cmocka_unit_test(what_a_child_costs_is_charged_unless_it_is_set_up),
                                       cmocka_unit_test(loading_is_paid_for),
                                       cmocka_unit_test(fewer_are_set_up_where_the_run_owes),
                                       cmocka_unit_test(each_program_of_a_process_loads),
                                       cmocka_unit_test(looks_become_rarer_until_the_process_is_due),
                                       cmocka_unit_test(the_program_that_a_script_starts_is_set_up_for_sure)};
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
