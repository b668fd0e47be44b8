#define _GNU_SOURCE
#include "collector/light/sampling/timer_suspension.h"

#include "base/random.h"
#include "collector/light/sampling/stop_cost.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORTH_NS = 60000, SHORT_LEAST_NS = 100000, SHORT_GAPS = 4, SHORT_MOST_NS = 4000000, SAMPLES_MOST = 32 };

static uint64_t rests_switches(void)
{
    struct rusage usage;
    if (syscall(SYS_getrusage, RUSAGE_THREAD, &usage))
        return 0;
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* The time between two samples after one rest is too short to tell how often the thread switches. */
uint64_t lwp_rests_sample(struct lwp_rests *rests, uint64_t ran_ns)
{
    uint64_t now = rests_switches();
    uint64_t running = now - rests->switches_running;
    if (!lwp_rests_rest(rests) || rests->first)
        rests->gap_ns = ran_ns / (now - rests->switches + 1);
    rests->first = false;
    rests->switches = rests->switches_running = now;
    return running * lwp_stop_cost_switch();
}

/* By the timer's own clock: on the thread's, what switches cost while it runs would pass for dropped ticks. */
uint64_t lwp_rests_dropped(struct lwp_rests *rests, const struct lwp_timer *timer)
{
    uint64_t now = lwp_timer_ran(timer), began = rests->began_ns; /* 0: not known, as the program closed that file */
    rests->ran_ns = now && began ? now - began : 0; /* the signals' own time is in it: less than SHORT_LEAST_NS */
    uint64_t dropped = rests->ran_ns <= 2 * rests->short_ns ? 0 : rests->ran_ns / rests->short_ns - 1;
    rests->taken++;
    rests->taken_at_once += !dropped;
    return dropped;
}

uint64_t lwp_rests_weight(const struct lwp_rests *rests)
{
    return (rests->part_ns + rests->ran_ns) * (rests->taken_at_once + 1) / (rests->taken + 1);
}

/* Some times between switches: the thread is then anywhere. */
static uint64_t rests_draw(const struct lwp_rests *rests, uint32_t *random)
{
    return SHORT_LEAST_NS + lwp_random_below(random, (uint32_t)(rests->gap_ns * SHORT_GAPS));
}

static void rests_run_on(struct lwp_rests *rests, struct lwp_timer *timer, uint32_t *random)
{
    rests->left--;
    rests->short_ns = rests_draw(rests, random);
    lwp_timer_set_period(timer, rests->short_ns);
    rests->began_ns = lwp_timer_ran(timer);
}

bool lwp_rests_begin(struct lwp_rests *rests, struct lwp_timer *timer, uint64_t next_ns, uint32_t *random)
{
    if (lwp_rests_rest(rests) && rests->left) {
        rests_run_on(rests, timer, random);
        return true;
    }
    rests->short_ns = 0;
    if (!rests->gap_ns || next_ns / rests->gap_ns * lwp_stop_cost_switch() < WORTH_NS || rests->gap_ns * SHORT_GAPS > SHORT_MOST_NS)
        return false;
    uint64_t drawn = rests_draw(rests, random);
    if (!lwp_timer_rest(timer, next_ns > 2 * drawn ? next_ns - drawn : drawn, drawn))
        return false;
    rests->resting = true;
    rests->short_ns = drawn;
    rests->wanted_ns = next_ns;
    rests->left = 0;
    return true;
}

void lwp_rests_end(struct lwp_rests *rests, struct lwp_timer *timer, uint64_t rested_ns)
{
    uint64_t samples = rested_ns / rests->wanted_ns;
    samples = samples < 1 ? 1 : samples > SAMPLES_MOST ? SAMPLES_MOST : samples;
    rests->part_ns = rested_ns / samples;
    rests->left = (unsigned)samples - 1;
    rests->resting = false;
    rests->first = true;
    rests->switches_running = rests_switches();
    rests->began_ns = lwp_timer_ran(timer);
    lwp_timer_run(timer);
}
