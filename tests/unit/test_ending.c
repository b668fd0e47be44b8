/* What a run is said to have cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define lwp_load_cost      test_load_cost
#define lwp_ending_account test_ending_account
#define lwp_ending_note    test_ending_note
#define lwp_ending_seal    test_ending_seal
#include "collector/launch/ending.c"

static unsigned asked;

double test_load_cost(char *const *environment, unsigned pairs)
{
    (void)environment;
    asked = pairs;
    return pairs ? 1e6 : 0;
}

static double overhead(double cpu_s, struct lwp_run_account page)
{
    const struct lwp_account account = {.page = &page};
    struct lwp_run run = {.cpu_s = cpu_s};
    unsigned ran = 0;
    page.cpu_ns = (uint64_t)(cpu_s * 1e9);
    lwp_ending_account(&run, &account, NULL, &ran);
    assert_int_equal(ran, page.processes);
    assert_true(run.overhead_known);
    json_decref(run.notes);
    return run.overhead_percent;
}

/* This process's own time is part of it: compared with what is said without loading. */
static void loading_counts_in_programs_recorded_or_not(void **state)
{
    (void)state;
    const double none = overhead(0.1, (struct lwp_run_account){.processes = 8, .set_up = 4, .loaded = 4});
    assert_int_equal(asked, 0); /* to measure that costs more than it is */
    assert_true(overhead(0.1, (struct lwp_run_account){.processes = 8, .set_up = 4, .loaded = 8}) > none + 7);
    assert_int_equal(asked, 1);
    overhead(10, (struct lwp_run_account){.processes = 1000, .loaded = 1000});
    assert_int_equal(asked, 9);
}

static void what_lwp_has_others_do_counts(void **state)
{
    (void)state;
    enum { MS = 1000000 };
    const struct lwp_run_account page = {.processes = 1, .loaded = 1};
    const double none = overhead(0.1, page);
    pid_t child = fork();
    if (child == 0) {
        struct timespec now;
        do
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        while (now.tv_sec == 0 && now.tv_nsec < 160 * MS);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(overhead(0.1, page) > none + 50); /* 100 of the 160 ms are taken for the program's */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loading_counts_in_programs_recorded_or_not),
                                       cmocka_unit_test(what_lwp_has_others_do_counts)};
    return cmocka_run_group_tests_name("ending", tests, NULL, NULL);
}
