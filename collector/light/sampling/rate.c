#include "collector/light/sampling/rate.h"

#include "base/random.h"
#include "collector/light/own/process.h"
#include "collector/light/own/timer.h"
#include "collector/light/sampling/pmu.h"
#include "collector/light/sampling/stop_cost.h"

#include <time.h>

enum { HEAP_THINNING_MOST = 1023, HEAP_COLD = 2 };
enum { SAMPLES_A_PERIOD = 4, REVIEW_TICKS = 32, REVIEW_PERIODS = 16, FREQUENCY_LEAST = 20, FIRST_SOONEST_NS = 100000, FIRST_PERIOD_MOST_NS = 5000000 };

static uint64_t pace_learned_ns; /* the period that a thread came to last; 0: none has yet */

/* A thread's first samples cost most, and a process with many threads has them all at once: a new one begins with what others
 * have learned, or, as long as none has, the slower the more there are. */
static uint64_t pace_first_period(uint64_t least_ns, unsigned before)
{
    uint64_t learned = __atomic_load_n(&pace_learned_ns, __ATOMIC_RELAXED), period = learned ? learned : least_ns * (1 + before);
    if (period > FIRST_PERIOD_MOST_NS)
        period = FIRST_PERIOD_MOST_NS;
    return period < least_ns ? least_ns : period;
}

/* Any time within its first period may be sampled, lest threads that are shorter never are. */
void lwp_pace_begin(struct lwp_thread *self, struct lwp_sampler *sampler, double frequency, unsigned n)
{
    sampler->base_period_ns = (uint64_t)(1e9 / frequency) - 2999; /* not round */
    sampler->period_ns = pace_first_period(sampler->base_period_ns, n);
    sampler->first_ns = sampler->period_ns;
    sampler->next_ns = FIRST_SOONEST_NS + lwp_random_below(&self->random, (uint32_t)sampler->period_ns);
}

/* In the kernel perf's clock runs on but its ticks are dropped; others wait for the thread to return. */
static bool pace_ticks_wait(const struct lwp_sampler *sampler)
{
    return !sampler->timer || lwp_timer_waits(sampler->timer);
}

/* How many periods ended in the kernel. */
uint64_t lwp_pace_dropped(struct lwp_sampler *sampler, uint64_t gap_ns)
{
    if (lwp_rests_rest(&sampler->rests))
        return lwp_rests_dropped(&sampler->rests, sampler->timer);
    uint64_t periods = (gap_ns + sampler->next_ns / 2) / sampler->next_ns; /* the gap is one or more, less the last sample's own time */
    return pace_ticks_wait(sampler) || periods < 1 ? 0 : periods - 1;
}

/* A tick comes after any time in the program with the chance of one in the period that was drawn, whatever was dropped
 * before it: that period is its weight (Horvitz and Thompson), and time in the kernel is nobody's. */
uint64_t lwp_pace_weight(const struct lwp_sampler *sampler, uint64_t gap_ns, uint64_t dropped)
{
    if (lwp_rests_rest(&sampler->rests))
        return lwp_rests_weight(&sampler->rests);
    if (pace_ticks_wait(sampler))
        return gap_ns;
    return sampler->first_ns && !dropped ? sampler->first_ns : sampler->next_ns;
}

/* Samples lost while an allocation was being recorded measure what recording costs; what it takes from the program's caches,
 * and the calls around it, are about as much again (bench/mallocs: 44 ns a block, 25 of them in malloc and free here). When it
 * costs too much only some allocations are recorded, and the blocks of the others are unknown. */
static void pace_review_heap(struct lwp_thread *self, const struct lwp_sampler *sampler, uint64_t cpu_ns)
{
    lwp_budget_spend(&self->budget, LWP_COST_HEAP, self->lost_in_heap * sampler->period_ns * HEAP_COLD);
    self->lost_in_heap = 0;
    if (lwp_budget_affords_heap(&self->budget, cpu_ns))
        self->heap_thinning /= 2;
    else if (self->heap_thinning < HEAP_THINNING_MOST)
        self->heap_thinning = self->heap_thinning * 2 + 1;
}

/* Thins the samples out so that what they cost stays within the budget, and comes back when they got cheaper. A thread that
 * is mostly in the kernel has few samples: what counts is what a period costs. */
void lwp_pace_review(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t cpu_ns)
{
    /* how often the hardware samples is not known before */
    bool overdue = sampler->pmu && cpu_ns - sampler->review_cpu_ns > REVIEW_PERIODS * sampler->period_ns;
    if (sampler->since_review < REVIEW_TICKS && !overdue)
        return;
    if (!sampler->pmu) /* what is not spread evenly over time cannot measure it */
        pace_review_heap(self, sampler, cpu_ns);
    uint64_t spent = self->budget.spent[LWP_COST_SAMPLES], elapsed = cpu_ns - sampler->review_cpu_ns;
    uint64_t period =
        lwp_budget_period(&self->budget, (spent - sampler->review_spent_ns) / sampler->since_review, cpu_ns);
    sampler->review_spent_ns = spent;
    sampler->review_cpu_ns = cpu_ns;
    sampler->since_review = 0;
    if (period < sampler->base_period_ns)
        period = sampler->base_period_ns;
    if (period > 1000000000u / FREQUENCY_LEAST)
        period = 1000000000u / FREQUENCY_LEAST;
    sampler->period_ns = period;
    __atomic_store_n(&pace_learned_ns, period, __ATOMIC_RELAXED);
    if (sampler->pmu)
        lwp_pmu_pace_to(sampler->pmu, period, elapsed);
}

/* Every few samples another one, from half of the period to one and a half: else samples fall into lockstep with programs that
 * do the same again and again. Not each time, since setting one costs as much as a stop where the hypervisor keeps the clock
 * (25 us). Each of those samples still comes after any time in the program with the same chance. */
void lwp_pace_draw(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    sampler->first_ns = 0;
    if (sampler->of_period) {
        sampler->of_period--;
        return;
    }
    uint32_t period = (uint32_t)sampler->period_ns;
    sampler->next_ns = period / 2 + lwp_random_below(&self->random, period);
    if (lwp_rests_begin(&sampler->rests, sampler->timer, sampler->next_ns, &self->random))
        return;
    lwp_timer_set_period(sampler->timer, sampler->next_ns);
    sampler->of_period = SAMPLES_A_PERIOD - 1;
}

void lwp_pace_charge_switches(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t ran_ns)
{
    if (sampler->timer)
        lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, lwp_rests_sample(&sampler->rests, ran_ns));
}

void lwp_pace_end_rest(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    uint64_t cpu = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    lwp_rests_end(&sampler->rests, sampler->timer, cpu - self->last_cpu_ns);
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES,
                     lwp_clock(CLOCK_THREAD_CPUTIME_ID) - cpu + lwp_stop_cost_sample(LWP_TIMER_POSIX));
}

/* The tick after a rest, which nothing could be made of: there is no other one for the same time. */
void lwp_pace_rest_again(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    uint64_t cpu = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    lwp_pace_charge_switches(self, sampler, cpu - self->last_cpu_ns);
    self->last_cpu_ns = cpu;
    lwp_pace_draw(self, sampler);
}

/* Half of the time: so the first sample stands for no more than any other. */
void lwp_pace_pause(struct lwp_thread *self, uint64_t ns)
{
    enum { LONGEST_NS = 1000000000 / FREQUENCY_LEAST };
    struct lwp_sampler *sampler = self->sampler;
    if (!sampler || !sampler->timer)
        return;
    ns /= 2;
    sampler->next_ns = ns < sampler->period_ns ? sampler->period_ns : ns < LONGEST_NS ? ns : LONGEST_NS;
    sampler->of_period = 0;
    sampler->first_ns = 0;
    lwp_timer_set_period(sampler->timer, sampler->next_ns);
}
