#include "collector/light/sampling/timer_suspension.h"

#include "base/random.h"
#include "collector/light/own/thread.h"
#include "collector/light/sampling/stop_cost.h"

enum {
    WORTH_NS = 60000,
    CLOSE_NS = 40000 /* to open the timer's event and a debug register's again */,
    SHORT_LEAST_NS = 100000,
    SHORT_GAPS = 4,
    SHORT_MOST_NS = 4000000,
    SAMPLES_MOST = 32
};

void lwp_suspension_start(struct lwp_suspension *suspension)
{
    suspension->switches = suspension->switches_running = lwp_thread_switches();
    suspension->counts = true;
}

void lwp_suspension_start_paused(struct lwp_suspension *suspension)
{
    suspension->pause = suspension->suspended = suspension->closes = suspension->clean = true;
    suspension->closed_at = suspension->switches;
}

/* The time between two samples after one suspension is too short to measure how often the thread switches. */
struct lwp_switched lwp_suspension_sample(struct lwp_suspension *suspension, uint64_t ran_ns)
{
    uint64_t now = lwp_thread_switches();
    uint64_t all = suspension->counts ? now - suspension->switches : 0;
    if (suspension->closed_at) {
        suspension->unopened += now - suspension->closed_at;
        suspension->closed_at = now;
    }
    struct lwp_switched switched = {.open = all > suspension->unopened ? all - suspension->unopened : 0,
                                    .closed = suspension->clean ? 0 : suspension->unopened};
    if (!suspension->suspended && suspension->counts)
        switched.running = now - suspension->switches_running;
    if (suspension->counts && (!lwp_suspension_is_on(suspension) || suspension->first))
        suspension->gap_ns = ran_ns / (all + 1);
    suspension->counts = true;
    suspension->first = false;
    suspension->unopened = 0;
    suspension->switches = suspension->switches_running = now;
    return switched;
}

/* By the timer's own clock: on the thread's, what switches cost while it runs would pass for dropped ticks. */
uint64_t lwp_suspension_dropped(struct lwp_suspension *suspension, const struct lwp_timer *timer)
{
    if (suspension->at_tick) { /* what it cost is charged */
        suspension->taken++;
        suspension->taken_at_once += !suspension->ticked_ns;
        return 0;
    }
    uint64_t now = lwp_timer_ran(timer), began = suspension->began_ns; /* 0: not known, as the program closed that file */
    suspension->ran_ns = now && began ? now - began : 0;               /* the signals' own time is in it: less than SHORT_LEAST_NS */
    uint64_t dropped = suspension->ran_ns <= 2 * suspension->short_ns ? 0 : suspension->ran_ns / suspension->short_ns - 1;
    suspension->taken++;
    suspension->taken_at_once += !dropped;
    return dropped;
}

uint64_t lwp_suspension_weight(const struct lwp_suspension *suspension)
{
    return (suspension->part_ns + suspension->ran_ns) * (suspension->taken_at_once + 1) / (suspension->taken + 1);
}

/* Some times between switches: the thread is then anywhere. */
static uint64_t suspension_draw(const struct lwp_suspension *suspension, uint32_t *random)
{
    return lwp_stop_cost_bearable(SHORT_LEAST_NS) + lwp_random_below(random, (uint32_t)(suspension->gap_ns * SHORT_GAPS));
}

static void suspension_run_on(struct lwp_suspension *suspension, struct lwp_timer *timer, uint32_t *random)
{
    suspension->left--;
    suspension->short_ns = suspension_draw(suspension, random);
    lwp_timer_set_period(timer, suspension->short_ns);
    suspension->began_ns = lwp_timer_ran(timer);
}

/* Of perf's clock, until a tick comes outside of the kernel. */
static uint64_t suspension_run_cost(const struct lwp_suspension *suspension, uint64_t short_ns)
{
    const uint64_t switches = short_ns * (suspension->taken + 1) / (suspension->taken_at_once + 1) / suspension->gap_ns;
    return switches * lwp_stop_cost_running(short_ns);
}

static bool suspension_begin(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t next_ns, uint32_t *random)
{
    suspension->short_ns = 0;
    uint64_t gap = suspension->gap_ns;
    if (!gap || next_ns / gap * lwp_stop_cost_running(next_ns) < WORTH_NS || gap * SHORT_GAPS > SHORT_MOST_NS)
        return false;
    uint64_t drawn = suspension_draw(suspension, random);
    if (!lwp_timer_suspend(timer, next_ns > 2 * drawn ? next_ns - drawn : drawn, drawn))
        return false;
    suspension->suspended = true;
    suspension->closes = next_ns / gap * lwp_stop_cost_open() > CLOSE_NS;
    suspension->short_ns = drawn;
    suspension->at_tick = suspension_run_cost(suspension, drawn) > lwp_stop_cost_sample(LWP_TIMER_SIGTRAP);
    suspension->ticked_ns = 0;
    suspension->wanted_ns = next_ns;
    suspension->left = 0;
    return true;
}

bool lwp_suspension_begin(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t next_ns, uint32_t *random)
{
    if (lwp_suspension_is_on(suspension) && suspension->left) {
        suspension_run_on(suspension, timer, random);
        return true;
    }
    const bool stopped = lwp_suspension_is_on(suspension) && suspension->at_tick;
    if (suspension_begin(suspension, timer, next_ns, random))
        return true;
    suspension->closed_at = 0;
    if (stopped)
        lwp_timer_run(timer);
    return false;
}

bool lwp_suspension_pause(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t ns)
{
    suspension->pause = suspension->suspended = lwp_timer_suspend(timer, ns, ns);
    suspension->closes = true;
    if (suspension->pause)
        suspension->short_ns = 0;
    return suspension->pause;
}

void lwp_suspension_end_pause(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t next_ns)
{
    suspension->pause = suspension->suspended = suspension->clean = false;
    suspension->closed_at = 0;
    suspension->switches = suspension->switches_running = lwp_thread_switches();
    lwp_timer_set_period(timer, next_ns);
    lwp_timer_run(timer);
}

void lwp_suspension_close(struct lwp_suspension *suspension, struct lwp_timer *timer)
{
    lwp_timer_close(timer);
    suspension->closed_at = lwp_thread_switches();
}

void lwp_suspension_bound(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t ns)
{
    if (!suspension->bounded && !suspension->pause && suspension->wanted_ns > ns)
        suspension->bounded = lwp_timer_suspend_on(timer, ns);
}

bool lwp_suspension_end_bound(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t suspended_ns)
{
    if (!suspension->bounded)
        return false;
    suspension->bounded = false;
    return suspension->wanted_ns > suspended_ns && lwp_timer_suspend_on(timer, suspension->wanted_ns - suspended_ns);
}

void lwp_suspension_end(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t suspended_ns)
{
    uint64_t samples = suspended_ns / suspension->wanted_ns;
    samples = samples < 1 ? 1 : samples > SAMPLES_MOST ? SAMPLES_MOST : samples;
    suspension->part_ns = suspended_ns / samples;
    suspension->left = (unsigned)samples - 1;
    suspension->suspended = false;
    suspension->first = true;
    suspension->switches_running = lwp_thread_switches();
    suspension->unopened = suspension->closed_at ? suspension->switches_running - suspension->closed_at : 0;
    suspension->closed_at = 0;
    suspension->began_ns = lwp_timer_ran(timer);
    lwp_timer_run(timer);
    if (!suspension->began_ns) /* a new event */
        suspension->began_ns = lwp_timer_ran(timer);
}

bool lwp_suspension_end_at_tick(struct lwp_suspension *suspension, struct lwp_timer *timer, uint64_t suspended_ns, uint64_t cpu_ns,
                                bool nowhere)
{
    if (!suspension->ticked_ns)
        suspension->part_ns = suspended_ns;
    if (nowhere && lwp_timer_suspend_on(timer, 1)) {
        suspension->ticked_ns = suspension->ticked_ns ? suspension->ticked_ns : cpu_ns;
        return false;
    }
    suspension->ran_ns = suspension->ticked_ns ? cpu_ns - suspension->ticked_ns : 0;
    suspension->switches_running = lwp_thread_switches(); /* perf's clock has not run */
    suspension->suspended = false;
    suspension->first = true;
    return true;
}
