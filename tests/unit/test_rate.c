/* How often a thread is sampled while nothing of it can be looked at, without a timer: what the rate asks of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/sampling/rate.c"

static uint64_t asked_ns; /* for the timer's next tick; 0: it was left alone */

void lwp_timer_set_period(struct lwp_timer *timer, uint64_t period_ns)
{
    (void)timer;
    asked_ns = period_ns;
}

/* ---- what is not asked for here ---- */

struct lwp_sampling lwp_sampling;
static struct lwp_run_account account;
struct lwp_run_account *lwp_run = &account;

bool lwp_timer_waits(const struct lwp_timer *timer)
{
    return !timer;
}
uint64_t lwp_suspension_dropped(struct lwp_suspension *s, const struct lwp_timer *timer)
{
    return !s || !timer;
}
uint64_t lwp_suspension_weight(const struct lwp_suspension *s)
{
    return !s;
}
bool lwp_suspension_begin(struct lwp_suspension *s, struct lwp_timer *t, uint64_t ns, uint32_t *random)
{
    return !s || !t || !ns || !random;
}
bool lwp_suspension_pause(struct lwp_suspension *s, struct lwp_timer *timer, uint64_t ns)
{
    return !s || !timer || !ns;
}
void lwp_suspension_end_pause(struct lwp_suspension *s, struct lwp_timer *timer, uint64_t next_ns)
{
    (void)s, (void)timer, (void)next_ns;
}
void lwp_suspension_end(struct lwp_suspension *s, struct lwp_timer *timer, uint64_t ns)
{
    (void)s, (void)timer, (void)ns;
}
struct lwp_switched lwp_suspension_sample(struct lwp_suspension *s, uint64_t ran_ns)
{
    return (struct lwp_switched){!s, !ran_ns};
}
uint64_t lwp_stop_cost_sample(enum lwp_timer_kind kind)
{
    return kind;
}
uint64_t lwp_stop_cost_tick(void)
{
    return 0;
}
uint64_t lwp_stop_cost_open(void)
{
    return 0;
}
uint64_t lwp_stop_cost_running(void)
{
    return 0;
}
bool lwp_budget_affords_heap(const struct lwp_time_budget *b, uint64_t cpu_ns, double kept)
{
    return !b || !cpu_ns || kept > 0;
}
uint64_t lwp_budget_period(const struct lwp_time_budget *b, uint64_t sample_ns, uint64_t cpu_ns)
{
    return b ? 0 * sample_ns * cpu_ns : 1;
}
double lwp_pools_kept(void)
{
    return 1;
}
bool lwp_process_records(void)
{
    return true;
}
bool lwp_run_is_rich(void)
{
    return true;
}
void lwp_run_tell(struct lwp_thread *thread)
{
    (void)thread;
}
void lwp_pmu_set_rate(struct lwp_pmu *pmu, uint64_t period_ns, uint64_t elapsed_ns)
{
    (void)pmu, (void)period_ns, (void)elapsed_ns;
}

/* ---- */

static void lost_ticks_come_later_and_later(void **state)
{
    (void)state;
    enum { PERIOD = 100000, MOST = 50000000, TICKS = 400 };
    static struct lwp_thread self;
    static struct lwp_sampler sampler;
    static char timer;
    self.random = 1;
    sampler.timer = (struct lwp_timer *)&timer;
    sampler.period_ns = sampler.base_period_ns = sampler.next_ns = PERIOD;
    uint64_t ticks_ns = 0, longest = 0;
    for (int i = 0; i < TICKS; i++) {
        asked_ns = 0;
        lwp_rate_lost(&self, &sampler);
        assert_true(i >= 15 || !asked_ns); /* a few change nothing */
        longest = asked_ns > longest ? asked_ns : longest;
        ticks_ns += sampler.next_ns;
    }
    assert_in_range(longest, MOST / 2, MOST * 3 / 2);
    assert_true(ticks_ns > (uint64_t)TICKS * PERIOD * 50);
    assert_int_equal(sampler.period_ns, PERIOD);
    /* The next sample stands for the time that its tick was asked for; after it all is as before. */
    assert_int_equal(lwp_rate_weight(&self, &sampler, sampler.next_ns), sampler.next_ns);
    lwp_rate_next(&self, &sampler, 0);
    assert_in_range(asked_ns, PERIOD / 2, PERIOD * 3 / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lost_ticks_come_later_and_later)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
