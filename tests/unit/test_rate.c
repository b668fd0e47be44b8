/* What a thread is charged when it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/own/budget.c"
#include "collector/light/sampling/rate.c"

enum { OPEN_NS = 300, RUNNING_NS = 500, TICK_NS = 30000 };

struct lwp_sampling lwp_sampling;
static struct lwp_run_account account;
struct lwp_run_account *lwp_run = &account;
static struct lwp_switched switched; /* since the last sample */

bool lwp_run_is_rich(void)
{
    return false;
}

static bool owes;
bool lwp_run_affords(void)
{
    return !owes;
}

void lwp_run_tell(struct lwp_thread *thread)
{
    (void)thread;
}

bool lwp_process_records(void)
{
    return true;
}

void lwp_thinning_review(struct lwp_thread *self, uint64_t cpu_ns, bool may_record_more)
{
    (void)self, (void)cpu_ns, (void)may_record_more;
}

void lwp_thinning_charge(struct lwp_thread *self)
{
    lwp_budget_spend(&self->budget, LWP_COST_HEAP, self->hooks_ns);
    self->hooks_ns = 0;
}

void lwp_pmu_set_rate(struct lwp_pmu *pmu, uint64_t period_ns, uint64_t elapsed_ns)
{
    (void)pmu, (void)period_ns, (void)elapsed_ns;
}

struct lwp_timer *lwp_timer_start_suspended(enum lwp_timer_kind kind, pid_t tid, uint64_t suspended_ns)
{
    (void)kind, (void)tid, (void)suspended_ns;
    return NULL;
}

bool lwp_timer_waits(const struct lwp_timer *timer)
{
    (void)timer;
    return false;
}

void lwp_timer_set_period(struct lwp_timer *timer, uint64_t period_ns)
{
    (void)timer, (void)period_ns;
}

uint64_t lwp_stop_cost_sample(enum lwp_timer_kind kind)
{
    (void)kind;
    return 0;
}

uint64_t lwp_stop_cost_tick(void)
{
    return TICK_NS;
}

uint64_t lwp_stop_cost_bearable(uint64_t period_ns)
{
    return period_ns > 4 * TICK_NS ? period_ns : 4 * TICK_NS;
}

uint64_t lwp_stop_cost_open(void)
{
    return OPEN_NS;
}

uint64_t lwp_stop_cost_closed(void)
{
    return 0;
}

uint64_t lwp_stop_cost_running(uint64_t period_ns)
{
    (void)period_ns;
    return RUNNING_NS;
}

void lwp_suspension_start_paused(struct lwp_suspension *suspension)
{
    (void)suspension;
}

struct lwp_switched lwp_suspension_sample(struct lwp_suspension *suspension, uint64_t ran_ns)
{
    const struct lwp_switched since = switched;
    (void)suspension, (void)ran_ns;
    switched = (struct lwp_switched){0};
    return since;
}

uint64_t lwp_suspension_dropped(struct lwp_suspension *suspension, const struct lwp_timer *timer)
{
    (void)suspension, (void)timer;
    return 0;
}

uint64_t lwp_suspension_weight(const struct lwp_suspension *suspension)
{
    (void)suspension;
    return 0;
}

bool lwp_suspension_begin(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t next_ns, uint32_t *random)
{
    (void)suspension, (void)timer, (void)next_ns, (void)random;
    return false;
}

bool lwp_suspension_end_at_tick(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t suspended_ns, uint64_t cpu_ns,
                                bool nowhere)
{
    (void)suspension, (void)timer, (void)suspended_ns, (void)cpu_ns, (void)nowhere;
    return true;
}

bool lwp_suspension_pause(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t ns)
{
    (void)suspension, (void)timer, (void)ns;
    return false;
}

void lwp_suspension_end_pause(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t next_ns)
{
    (void)suspension, (void)timer, (void)next_ns;
}

void lwp_suspension_end(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t suspended_ns)
{
    (void)suspension, (void)timer, (void)suspended_ns;
}

/* A thread that ends before its first sample, or long after its last one. */
static void switches_after_the_last_sample_are_charged(void **state)
{
    (void)state;
    static struct lwp_thread thread;
    static struct lwp_sampler sampler;
    sampler.timer = (struct lwp_timer *)&sampler; /* never looked into */
    switched = (struct lwp_switched){.open = 1000, .running = 100};
    lwp_rate_end(&thread, &sampler);
    assert_int_equal(thread.budget.spent[LWP_COST_SWITCHES], 1000 * OPEN_NS);
    assert_int_equal(thread.budget.spent[LWP_COST_SAMPLES], 100 * RUNNING_NS);
    assert_true(thread.last_cpu_ns > 0);
    lwp_rate_end(&thread, &sampler);
    assert_int_equal(thread.budget.spent[LWP_COST_SWITCHES], 1000 * OPEN_NS); /* once */
}

/* Else a thread that has just begun gets no further: its first tick comes again before it could be handled. Any time may be sampled still. */
static void first_ticks_come_no_faster_than_they_are_handled(void **state)
{
    (void)state;
    enum { THREADS = 1000, FREQUENCY = 100000 };
    static struct lwp_thread thread = {.random = 1};
    static struct lwp_sampler sampler;
    unsigned early = 0;
    for (int i = 0; i < THREADS; i++) {
        lwp_rate_begin(&thread, &sampler, FREQUENCY, 0);
        assert_true(sampler.next_ns >= 4 * TICK_NS);
        assert_true(sampler.ahead_ns < sampler.next_ns && sampler.next_ns - sampler.ahead_ns <= sampler.first_ns);
        early += sampler.next_ns - sampler.ahead_ns < sampler.first_ns / 4;
    }
    assert_in_range(early, THREADS / 5, THREADS / 3);
    sampler.timer = (struct lwp_timer *)&sampler; /* never looked into */
    for (int i = 0; i < THREADS; i++) {
        rate_draw(&thread, &sampler);
        assert_true(sampler.next_ns >= 4 * TICK_NS);
    }
}

/* Its first samples would be those that cost most, of the next process, and the next. */
static void a_process_that_begins_while_the_run_owes_is_not_hastened(void **state)
{
    (void)state;
    enum { FREQUENCY = 1000, LEARNED_NS = 80000000 };
    static struct lwp_thread thread = {.random = 1};
    static struct lwp_sampler sampler;
    account.period_ns = LEARNED_NS;
    lwp_rate_begin(&thread, &sampler, FREQUENCY, 0);
    assert_true(sampler.period_ns == FIRST_PERIOD_MOST_NS);
    owes = true;
    lwp_rate_begin(&thread, &sampler, FREQUENCY, 0);
    assert_true(sampler.period_ns == LEARNED_NS && sampler.first_ns == LEARNED_NS && sampler.next_ns <= LEARNED_NS);
    lwp_sampling.learned_period_ns = LEARNED_NS; /* another thread of the same process */
    lwp_rate_begin(&thread, &sampler, FREQUENCY, 1);
    assert_true(sampler.period_ns == FIRST_PERIOD_MOST_NS);
    lwp_sampling.learned_period_ns = 0;
    account.period_ns = 0;
    owes = false;
}

static void the_program_waits_until_the_timer_is_ahead(void **state)
{
    (void)state;
    enum { AHEAD_NS = 3000000 };
    static struct lwp_thread thread;
    static struct lwp_sampler sampler = {.ahead_ns = AHEAD_NS};
    sampler.timer = (struct lwp_timer *)&sampler;
    lwp_rate_begun(&thread, &sampler);
    assert_true(lwp_clock(CLOCK_THREAD_CPUTIME_ID) - thread.last_cpu_ns >= AHEAD_NS);
    assert_true(thread.told_cpu_ns == thread.last_cpu_ns);
}

static void ticks_that_find_lwp_at_work_come_less_often(void **state)
{
    (void)state;
    static struct lwp_thread thread;
    static struct lwp_sampler sampler = {.next_ns = TICK_NS / 2};
    sampler.timer = (struct lwp_timer *)&sampler;
    for (int i = 0; i < 1000; i++)
        lwp_rate_lost(&thread, &sampler);
    assert_true(sampler.next_ns > 100 * TICK_NS);
}

/* It has to fetch again what the handler took from its caches. */
static void a_handler_costs_the_program_more_than_its_own_time(void **state)
{
    (void)state;
    static struct lwp_thread thread;
    static struct lwp_sampler sampler;
    const uint64_t begun = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    while (lwp_clock(CLOCK_THREAD_CPUTIME_ID) - begun < TICK_NS)
        ;
    lwp_rate_next(&thread, &sampler, begun);
    const uint64_t took = thread.last_cpu_ns - begun;
    assert_in_range(thread.budget.spent[LWP_COST_SAMPLES], took + took / 4, 2 * took);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(switches_after_the_last_sample_are_charged),
                                       cmocka_unit_test(first_ticks_come_no_faster_than_they_are_handled),
                                       cmocka_unit_test(a_process_that_begins_while_the_run_owes_is_not_hastened),
                                       cmocka_unit_test(the_program_waits_until_the_timer_is_ahead),
                                       cmocka_unit_test(ticks_that_find_lwp_at_work_come_less_often),
                                       cmocka_unit_test(a_handler_costs_the_program_more_than_its_own_time)};
    return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
