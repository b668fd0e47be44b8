#define _GNU_SOURCE
#include "collector/light/watch/watchpoints.h"

#include "collector/light/own/process.h"

enum { SLOWED_MEMORY_NS = 500000000, SLOWED_CREDIT_NS = 10000000, BREAKPOINT_ARM_NS = 12000 };

void lwp_watchpoints_start(struct lwp_watchpoints *points, const struct lwp_thread *self, uint8_t verdicts)
{
    lwp_watches_start(&points->watches, &points->registers, verdicts);
    lwp_sharing_start(&points->sharing, &points->registers, self, verdicts);
}

void lwp_watchpoints_begin(struct lwp_watchpoints *points, struct lwp_thread *self)
{
    if (lwp_debug_given_up()) { /* what needs no register goes on */
        lwp_watches_give_up(&points->watches, self);
        points->watches.verdicts &= LWPS_VERDICT_SHARING;
    }
    if (points->sharing.together)
        lwp_watches_cede(&points->watches, self);
    lwp_watches_begin_sample(&points->watches, self);
}

static bool affords_watch(const struct lwp_watchpoints *points, const struct lwp_thread *self, uint64_t cpu_ns)
{
    return !lwp_debug_given_up() && lwp_budget_affords_watch(&self->budget, cpu_ns, points->sharing.reads);
}

/* Some instructions run several times as long while a register is armed (stop_cost.c). All else runs as before: with f their part
 * of the time without, time at them is too much by all of it, less f / (1 - f) of the time elsewhere. That is paid for by
 * watching nothing for a while. */
void lwp_watchpoints_charge_slowed(struct lwp_watchpoints *points, struct lwp_thread *self, bool prone, uint64_t weight, uint64_t cpu_ns)
{
    const bool watches = lwp_watches_busy(&points->watches), trial = lwp_sharing_busy(&points->sharing);
    if (!watches && !trial) {
        if (points->free_ns > SLOWED_MEMORY_NS) {
            points->free_ns /= 2;
            points->free_prone_ns /= 2;
        }
        points->free_ns += weight;
        points->free_prone_ns += prone ? weight : 0;
        return;
    }
    if (prone)
        points->owed_ns += (int64_t)weight;
    else if (points->owed_ns > -SLOWED_CREDIT_NS)
        points->owed_ns -= (int64_t)((double)weight * (double)points->free_prone_ns /
                                     (double)(points->free_ns - points->free_prone_ns + 1));
    if (points->owed_ns <= 0)
        return;
    lwp_budget_spend_armed(&self->budget, (uint64_t)points->owed_ns, watches, trial);
    points->owed_ns = 0;
    if (!affords_watch(points, self, cpu_ns))
        lwp_watches_give_up(&points->watches, self);
    if (!lwp_budget_affords_trial(&self->budget, cpu_ns))
        lwp_sharing_lose(&points->sharing);
}

void lwp_watchpoints_offer(struct lwp_watchpoints *points, struct lwp_thread *self, const struct lwp_watch_candidate *chosen,
                           const struct lwp_walk_choice *looked, uint64_t cpu_ns)
{
    lwp_sharing_see(&points->sharing, self, chosen);
    lwp_watches_offer(&points->watches, self, chosen, looked, affords_watch(points, self, cpu_ns));
}

void lwp_watchpoints_choose(struct lwp_watchpoints *points, struct lwp_thread *self, uint64_t time, uint64_t cpu_ns)
{
    bool affordable = !lwp_debug_given_up() && lwp_budget_affords_trial(&self->budget, cpu_ns);
    lwp_sharing_choose(&points->sharing, self, time, affordable);
}

void lwp_watchpoints_arm(struct lwp_watchpoints *points, struct lwp_thread *self)
{
    lwp_sharing_arm(&points->sharing, self);
    lwp_watches_end_sample(&points->watches, self);
}

bool lwp_watchpoints_break_at(struct lwp_watchpoints *points, struct lwp_thread *self, uint64_t ip)
{
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, BREAKPOINT_ARM_NS);
    lwp_watches_end_frame(&points->watches, self, LWPS_WATCH_EVICTED);
    return lwp_debug_arm(&points->registers, LWP_EXECUTION_REGISTER, LWP_DEBUG_EXECUTE, ip, 0);
}

void lwp_watchpoints_end_break(struct lwp_watchpoints *points)
{
    if (!lwp_watches_framed(&points->watches))
        lwp_debug_disarm(&points->registers, LWP_EXECUTION_REGISTER);
}

static bool is_for_trials(const struct lwp_watchpoints *points, unsigned which)
{
    return which == LWP_SHARING_REGISTER && points->watches.ceded;
}

enum lwp_cost lwp_watchpoints_stop(struct lwp_watchpoints *points, struct lwp_thread *self, unsigned which, struct lwp_stop *stop)
{
    if (which == LWP_WATCH_FRAME) {
        lwp_watches_end_frame(&points->watches, self, LWPS_WATCH_FRAME_DIED);
        return LWP_COST_SAMPLES;
    }
    if (is_for_trials(points, which)) {
        lwp_sharing_trap(&points->sharing, self, stop);
        return LWP_COST_TRIALS;
    }
    lwp_watches_trap(&points->watches, self, which, stop);
    return LWP_COST_WATCHES;
}

void lwp_watchpoints_lose(struct lwp_watchpoints *points, unsigned which)
{
    if (is_for_trials(points, which))
        lwp_sharing_lose(&points->sharing);
    else if (which != LWP_WATCH_FRAME)
        lwp_watches_lose(&points->watches, which);
    else if (lwp_watches_framed(&points->watches))
        lwp_watches_lose(&points->watches, (unsigned)points->watches.framed);
}

void lwp_watchpoints_give_up(struct lwp_watchpoints *points, struct lwp_thread *self)
{
    lwp_watches_give_up(&points->watches, self);
    lwp_sharing_lose(&points->sharing);
}

void lwp_watchpoints_finish(struct lwp_watchpoints *points, struct lwp_thread *self)
{
    lwp_watches_finish(&points->watches, self);
    lwp_sharing_finish(&points->sharing, self);
    lwp_debug_close(&points->registers);
}

void lwp_watchpoints_forget(struct lwp_watchpoints *points)
{
    lwp_sharing_forget(&points->sharing);
    lwp_debug_forget(&points->registers);
}
