/* What a tick of a process that is not set up yet costs, and when the next one comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collector/light/process/dormant.c"

enum { TICK_NS = 50000, NEXT_NS = 30000000 };

static struct lwp_run_account account;
struct lwp_run_account *lwp_run = &account;
struct lwp_process lwp_process;
bool lwp_early_on;
static uint64_t spent_ns, period_ns;
static bool debugged, held_now, confined, may_join, woke;

void lwp_run_spend(uint64_t ns)
{
    spent_ns += ns;
}

bool lwp_run_may_join(void)
{
    return may_join;
}

uint64_t lwp_run_look_again_ns(void)
{
    return NEXT_NS;
}

void lwp_timer_set_period(struct lwp_timer *timer, uint64_t ns)
{
    (void)timer;
    period_ns = ns;
}

void lwp_timer_stop(struct lwp_timer *timer)
{
    (void)timer;
    period_ns = 0;
}

bool lwp_debugger_is_here(void)
{
    return debugged;
}

bool lwp_confinement_came(void)
{
    return confined;
}

bool lwp_held_locks_are(const ucontext_t *context)
{
    (void)context;
    return held_now;
}

void lwp_own_stack_run(void (*run)(void *), void *of)
{
    run(of);
}

static void wake(void *unused)
{
    (void)unused;
    woke = true;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"
uint64_t lwp_heap_idle_calls(void)
{
    return 0;
}

void lwp_heap_end_idle(void)
{
}

#define NOT_ASKED(result, name, parameters) \
    result name parameters                  \
    {                                       \
        abort();                            \
    }
NOT_ASKED(const char *, lwp_setting, (const char *name))
NOT_ASKED(double, lwp_setting_number, (const char *name, double otherwise))
NOT_ASKED(bool, lwp_heap_is_glibc, (void))
NOT_ASKED(void, lwp_heap_forget_early, (void))
NOT_ASKED(void, lwp_heap_idle, (void))
NOT_ASKED(uint64_t, lwp_thinning_left_out_ns, (uint64_t blocks, uint64_t ran_ns))
NOT_ASKED(bool, lwp_held_locks_in, (uint64_t ip))
NOT_ASKED(bool, lwp_held_locks_start, (void))
NOT_ASKED(void, lwp_held_locks_fork, (bool under_way))
NOT_ASKED(bool, lwp_run_is_rich, (void))
NOT_ASKED(bool, lwp_run_affords, (void))
NOT_ASKED(bool, lwp_run_is_certain, (void))
NOT_ASKED(void, lwp_run_certain, (void))
NOT_ASKED(void, lwp_run_forked, (void))
NOT_ASKED(void, lwp_run_tell_dormant, (bool early))
NOT_ASKED(struct lwp_timer *, lwp_timer_start, (enum lwp_timer_kind kind, pid_t tid, uint64_t ns))
NOT_ASKED(bool, lwp_timer_waits, (const struct lwp_timer *timer))
NOT_ASKED(void, lwp_timer_forget, (struct lwp_timer *timer))
NOT_ASKED(pid_t, lwp_thread_tid, (void))
NOT_ASKED(void, lwp_early_begin, (void))
NOT_ASKED(void, lwp_own_stack_after_fork, (void))
NOT_ASKED(uint64_t, lwp_stop_cost_sample, (enum lwp_timer_kind kind))

static int begin(void **state)
{
    (void)state;
    static long some;
    debugged = held_now = confined = may_join = woke = false;
    spent_ns = 0;
    account.tick_ns = TICK_NS;
    dormant.wake = wake;
    dormant.timer = (struct lwp_timer *)&some;
    return 0;
}

static void each_tick_is_charged(void **state)
{
    (void)state;
    assert_true(lwp_dormant_tick(NULL));
    assert_int_equal(period_ns, NEXT_NS);
    assert_true(spent_ns > TICK_NS);
    uint64_t before = spent_ns;
    held_now = true;
    assert_true(lwp_dormant_tick(NULL));
    assert_int_equal(period_ns, AGAIN_NS);
    assert_true(spent_ns > before + TICK_NS);
    before = spent_ns;
    held_now = false;
    may_join = true;
    assert_true(lwp_dormant_tick(NULL));
    assert_true(woke);
    assert_true(spent_ns > before + TICK_NS);
    assert_false(lwp_dormant_tick(NULL));
}

static void nothing_is_done_in_a_confined_process(void **state)
{
    (void)state;
    confined = true;
    assert_true(lwp_dormant_tick(NULL));
    assert_int_equal(spent_ns, 0);
    assert_int_equal(period_ns, 0);
    assert_false(lwp_dormant_tick(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(each_tick_is_charged, begin),
                                       cmocka_unit_test_setup(nothing_is_done_in_a_confined_process, begin)};
    return cmocka_run_group_tests_name("dormant", tests, NULL, NULL);
}
