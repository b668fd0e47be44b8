#include "collector/light/sampling/rate.h"

#include "base/random.h"
#include "collector/light/heap/thinning.h"
#include "collector/light/own/process.h"
#include "collector/light/own/run.h"
#include "collector/light/sampling/stop_cost.h"

#include <time.h>

enum { HEAP_REVIEW_NS = 100000000, REVIEW_NS = 200000000 };
enum { SAMPLES_A_PERIOD = 4, REVIEW_TICKS = 32, REVIEW_SOON = 4, REVIEW_PERIODS = 16, PERIOD_MOST_NS = 200000000 };
enum { PAUSE_TICKS = 16, PAUSE_NS = 20000000 }; /* from these on a pause is a long one */
/* A thread's first signal finds all caches cold: it may take some 100 us. */
enum { FIRST_COLD_NS = 100000, FIRST_PERIOD_MOST_NS = 5000000 };
enum { PERF_SOONEST_NS = 10000 };

/* Any time within its first period may be sampled: else shorter threads never were. */
static void rate_first(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    uint64_t drawn = lwp_random_below(&self->random, (uint32_t)sampler->period_ns);
    sampler->first_ns = sampler->period_ns;
    sampler->next_ns = lwp_stop_cost_bearable(drawn > PERF_SOONEST_NS ? drawn : PERF_SOONEST_NS);
    sampler->ahead_ns = sampler->next_ns - drawn;
}

/* A thread's first samples cost most, and a process with many threads has them all at once: a new one begins with what others have
 * learned, or, as long as none has, the slower the more there are. Of a process that begins while the run owes none are hastened. */
void lwp_rate_begin(struct lwp_thread *self, struct lwp_sampler *sampler, double frequency, unsigned n)
{
    uint64_t learned = __atomic_load_n(&lwp_sampling.learned_period_ns, __ATOMIC_RELAXED);
    const bool first = !learned, owes = first && !lwp_run_affords();
    if (first && !lwp_run_is_rich())
        learned = LWP_RUN_GET(lwp_run, period_ns);
    uint64_t least = lwp_stop_cost_bearable((uint64_t)(1e9 / (frequency > 1 ? frequency : 1)) - 2999); /* not round */
    sampler->base_period_ns = least;
    sampler->period_ns = learned ? learned : least * (1 + n);
    if (sampler->period_ns > FIRST_PERIOD_MOST_NS && !(learned && owes))
        sampler->period_ns = FIRST_PERIOD_MOST_NS;
    if (sampler->period_ns < least)
        sampler->period_ns = least;
    rate_first(self, sampler);
}

void lwp_rate_begun(struct lwp_thread *self, const struct lwp_sampler *sampler)
{
    self->told_cpu_ns = self->last_cpu_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    while (sampler->timer && lwp_clock(CLOCK_THREAD_CPUTIME_ID) - self->last_cpu_ns < sampler->ahead_ns)
        ;
}

/* An event that was open once costs each switch even when it is closed again. */
struct lwp_timer *lwp_rate_start_paused(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    struct lwp_timer *timer = lwp_timer_start_suspended(lwp_sampling.kind, self->tid, PAUSE_NS);
    if (timer) {
        sampler->ahead_ns = 0;
        sampler->closed = PAUSE_TICKS;
        lwp_suspension_start_paused(&sampler->suspension);
    }
    return timer;
}

/* ---- what a sample stands for ---- */

/* In the kernel perf's clock runs on but its ticks are dropped; others wait for the thread to return. */
static bool rate_ticks_wait(const struct lwp_sampler *sampler)
{
    return !sampler->timer || lwp_timer_waits(sampler->timer);
}

/* How many periods ended in the kernel. Of a sample once. */
static uint64_t rate_dropped(struct lwp_sampler *sampler, uint64_t ran_ns)
{
    if (lwp_suspension_is_on(&sampler->suspension))
        return lwp_suspension_dropped(&sampler->suspension, sampler->timer);
    uint64_t delivery = !sampler->first_ns ? 0 : ran_ns < FIRST_COLD_NS ? ran_ns : FIRST_COLD_NS; /* later it is part of both ends */
    uint64_t periods = (ran_ns - delivery + sampler->next_ns / 2) / sampler->next_ns; /* one or more, less the last sample's own time */
    return rate_ticks_wait(sampler) || periods < 1 ? 0 : periods - 1;
}

/* What leaving the processor has cost. */
static void rate_charge_switches(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t ran_ns)
{
    if (!sampler->timer)
        return;
    struct lwp_switched switched = lwp_suspension_sample(&sampler->suspension, ran_ns);
    uint64_t period = lwp_suspension_is_on(&sampler->suspension) ? sampler->suspension.short_ns : sampler->next_ns;
    lwp_budget_spend(&self->budget, LWP_COST_SWITCHES, switched.open * lwp_stop_cost_open() + switched.closed * lwp_stop_cost_closed());
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, switched.running * lwp_stop_cost_running(period));
}

/* The time until now has no sample. */
static void rate_pass(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    uint64_t cpu = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    rate_charge_switches(self, sampler, cpu - self->last_cpu_ns);
    self->last_cpu_ns = cpu;
}

/* A tick comes after any time in the program with the chance of one in the period that was drawn, whatever was dropped
 * before it: that period is its weight (Horvitz and Thompson), and time in the kernel is nobody's. */
uint64_t lwp_rate_weight(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t ran_ns)
{
    uint64_t dropped = rate_dropped(sampler, ran_ns);
    if (dropped > sampler->lost)
        lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, (dropped - sampler->lost) * lwp_stop_cost_tick());
    sampler->lost = 0;
    unsigned closed = sampler->closed;
    sampler->closed = 0;
    uint64_t periods = lwp_suspension_is_on(&sampler->suspension) ? 1 : 1 + dropped;
    sampler->since_review += periods;
    sampler->since_heap_review += periods;
    rate_charge_switches(self, sampler, ran_ns);
    if (lwp_suspension_is_on(&sampler->suspension))
        return lwp_suspension_weight(&sampler->suspension);
    if (rate_ticks_wait(sampler))
        return closed ? ran_ns / 2 : ran_ns;
    return sampler->first_ns && !dropped ? sampler->first_ns : sampler->next_ns;
}

/* ---- how often ---- */

/* After some samples: thins them out so that what they cost stays within the budget, and comes back when they got cheaper. A thread
 * that is mostly in the kernel has few samples: what counts is what a period costs. Where they have cost more than they may so far, as a
 * thread's first ones do and those of a thread that switches all the time, that is looked at after few; and where they are rare, as debts
 * that are paid meanwhile leave more to them. */
static void rate_review(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t cpu_ns)
{
    /* how often the hardware samples is not known before */
    bool overdue = sampler->pmu && cpu_ns - sampler->review_cpu_ns > REVIEW_PERIODS * sampler->period_ns;
    bool soon = sampler->since_review >= REVIEW_SOON && !lwp_budget_affords_samples(&self->budget, cpu_ns);
    if (sampler->since_heap_review >= REVIEW_TICKS || overdue || cpu_ns - sampler->heap_review_cpu_ns > HEAP_REVIEW_NS) {
        sampler->since_heap_review = 0;
        sampler->heap_review_cpu_ns = cpu_ns;
        lwp_thinning_review(self, cpu_ns, true);
    }
    const bool long_ago = sampler->since_review >= REVIEW_SOON && cpu_ns - sampler->review_cpu_ns > REVIEW_NS;
    if (sampler->since_review < REVIEW_TICKS && !soon && !overdue && !long_ago)
        return;
    uint64_t spent = self->budget.spent[LWP_COST_SAMPLES], elapsed = cpu_ns - sampler->review_cpu_ns;
    uint64_t wanted = lwp_budget_period(&self->budget, (spent - sampler->review_spent_ns) / sampler->since_review, cpu_ns);
    sampler->review_spent_ns = spent;
    sampler->review_cpu_ns = cpu_ns;
    sampler->since_review = 0;
    wanted = wanted < PERIOD_MOST_NS ? wanted : PERIOD_MOST_NS;
    sampler->period_ns = wanted > sampler->base_period_ns ? wanted : sampler->base_period_ns;
    __atomic_store_n(&lwp_sampling.learned_period_ns, sampler->period_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&lwp_run->period_ns, sampler->period_ns, __ATOMIC_RELAXED);
    if (sampler->pmu)
        lwp_pmu_set_rate(sampler->pmu, sampler->period_ns, elapsed);
}

/* Every few samples another period, from half of the mean to one and a half: else samples fall into lockstep with programs that
 * do the same again and again. Not each time, since setting one costs as much as a stop where the hypervisor keeps the clock
 * (25 us). Each of those samples still comes after any time in the program with the same chance. */
static void rate_draw(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    sampler->first_ns = 0;
    if (sampler->of_period) {
        sampler->of_period--;
        return;
    }
    uint32_t period = (uint32_t)sampler->period_ns;
    sampler->next_ns = lwp_stop_cost_bearable(period / 2 + lwp_random_below(&self->random, period));
    if (lwp_suspension_begin(&sampler->suspension, sampler->timer, sampler->next_ns, &self->random))
        return;
    lwp_timer_set_period(sampler->timer, sampler->next_ns);
    sampler->of_period = SAMPLES_A_PERIOD - 1;
}

void lwp_rate_next(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t cpu_ns)
{
    const enum lwp_timer_kind kind =
        lwp_suspension_is_on(&sampler->suspension) && sampler->suspension.at_tick ? LWP_TIMER_POSIX : lwp_sampling.kind;
    self->last_cpu_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, lwp_stop_cost_handler(self->last_cpu_ns - cpu_ns) + lwp_stop_cost_sample(kind));
    rate_review(self, sampler, self->last_cpu_ns);
    lwp_run_tell(self);
    if (sampler->timer)
        rate_draw(self, sampler);
}

/* After a suspension there is no other tick for the same time. Where ticks follow each other so fast that lwp never gets to the end of what
 * it is doing they come less often. */
void lwp_rate_lost(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    enum { LOST_MANY = 64 };
    sampler->lost++;
    if (!lwp_suspension_is_on(&sampler->suspension)) {
        if (sampler->timer && sampler->lost % LOST_MANY == 0 && sampler->next_ns < PERIOD_MOST_NS) {
            sampler->next_ns *= 2;
            lwp_timer_set_period(sampler->timer, sampler->next_ns);
        }
        return;
    }
    rate_pass(self, sampler);
    rate_draw(self, sampler);
}

/* Short pauses change nothing, so that what is recorded between them is sampled as evenly as ever. In longer ones perf's clock is off,
 * which costs nothing at switches, and from time to time it is looked whether the pause is over. A thread that is mostly in the kernel
 * has few ticks in a long time. */
void lwp_rate_closed(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    sampler->closed_ns = sampler->closed ? sampler->closed_ns + lwp_clock(CLOCK_THREAD_CPUTIME_ID) - self->last_cpu_ns : 0;
    const bool longer = ++sampler->closed >= PAUSE_TICKS || sampler->closed_ns >= PAUSE_NS;
    sampler->since_review++;
    sampler->since_heap_review++;
    rate_pass(self, sampler);
    if (longer && lwp_suspension_pause(&sampler->suspension, sampler->timer, PAUSE_NS))
        return;
    if (lwp_suspension_is_on(&sampler->suspension)) {
        rate_draw(self, sampler);
        return;
    }
    if (sampler->closed != PAUSE_TICKS)
        return;
    sampler->next_ns = sampler->period_ns > PAUSE_NS ? sampler->period_ns : PAUSE_NS;
    sampler->first_ns = sampler->next_ns / 2;
    sampler->of_period = 0;
    lwp_timer_set_period(sampler->timer, sampler->next_ns);
}

/* After a pause the first sample comes as in a new thread, and stands for the time besides that the pause may have been over already. */
static void rate_look(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t cpu_ns)
{
    uint64_t paused_ns = cpu_ns - self->last_cpu_ns;
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, lwp_stop_cost_sample(LWP_TIMER_POSIX));
    if (!lwp_process_records()) {
        lwp_rate_closed(self, sampler);
        return;
    }
    sampler->closed = 0;
    sampler->of_period = 0;
    rate_first(self, sampler);
    sampler->first_ns += paused_ns / 2;
    self->last_cpu_ns = cpu_ns;
    lwp_suspension_end_pause(&sampler->suspension, sampler->timer, sampler->next_ns);
}

bool lwp_rate_end_suspension(struct lwp_thread *self, struct lwp_sampler *sampler, bool nowhere)
{
    uint64_t cpu = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    if (lwp_suspension_is_pause(&sampler->suspension)) {
        rate_look(self, sampler, cpu);
        return false;
    }
    if (sampler->suspension.at_tick) {
        bool over = lwp_suspension_end_at_tick(&sampler->suspension, sampler->timer, cpu - self->last_cpu_ns, cpu, nowhere);
        if (!over)
            lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, lwp_stop_cost_sample(LWP_TIMER_POSIX));
        return over;
    }
    lwp_suspension_end(&sampler->suspension, sampler->timer, cpu - self->last_cpu_ns);
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, lwp_clock(CLOCK_THREAD_CPUTIME_ID) - cpu + lwp_stop_cost_sample(LWP_TIMER_POSIX));
    return false;
}

/* What the thread has cost since its last sample. */
void lwp_rate_end(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    rate_pass(self, sampler);
    lwp_thinning_charge(self);
}

/* For half of the time: so the first sample stands for no more than any other. */
void lwp_rate_pause(struct lwp_thread *self, uint64_t ns)
{
    enum { MOST_NS = 50000000 };
    struct lwp_sampler *sampler = self->sampler;
    if (!sampler || !sampler->timer)
        return;
    ns /= 2;
    sampler->next_ns = ns < sampler->period_ns ? sampler->period_ns : ns < MOST_NS ? ns : MOST_NS;
    sampler->of_period = 0;
    sampler->first_ns = 0;
    lwp_timer_set_period(sampler->timer, sampler->next_ns);
}
