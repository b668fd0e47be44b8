#include "collector/light/watch/watching.h"

#include "collector/light/own/process.h"

enum { SLOWED_MEMORY_NS = 500000000, SLOWED_CREDIT_NS = 10000000, BREAKPOINT_ARM_NS = 12000 };

void lwp_watching_start(struct lwp_watching *watching, const struct lwp_thread *self, uint8_t verdicts)
{
    lwp_watches_start(&watching->watches, &watching->registers, verdicts);
    lwp_sharing_start(&watching->sharing, &watching->registers, self, verdicts);
}

void lwp_watching_begin(struct lwp_watching *watching, struct lwp_thread *self)
{
    if (lwp_debug_given_up()) { /* what needs no register goes on */
        lwp_watches_give_up(&watching->watches, self);
        watching->watches.verdicts &= LWPS_VERDICT_SHARING;
    }
    if (watching->sharing.together)
        lwp_watches_cede(&watching->watches, self);
    lwp_watches_begin_sample(&watching->watches, self);
}

static bool affords_watch(const struct lwp_watching *watching, const struct lwp_thread *self, uint64_t cpu_ns, uint64_t ahead_ns)
{
    return !lwp_debug_given_up() && lwp_budget_affords_watch(&self->budget, cpu_ns, watching->sharing.reads, ahead_ns);
}

/* What is armed costs by its being there: it goes when that cannot be paid. */
static void give_up_dear(struct lwp_watching *watching, struct lwp_thread *self, uint64_t cpu_ns)
{
    if (!affords_watch(watching, self, cpu_ns, 0))
        lwp_watches_give_up(&watching->watches, self);
    if (!lwp_budget_affords_trial(&self->budget, cpu_ns, 0))
        lwp_sharing_lose(&watching->sharing);
}

static uint64_t ahead_of(uint64_t cost_ns, uint64_t cpu_ns)
{
    return (uint64_t)((double)cost_ns / (double)(cpu_ns + 1) * LWP_WATCHING_AHEAD_NS);
}

void lwp_watching_charge_armed(struct lwp_watching *watching, struct lwp_thread *self, const struct lwp_armed_costs *costs, uint64_t cpu_ns)
{
    const struct lwp_thread_events before = watching->events, now = lwp_thread_events();
    const unsigned armed = lwp_debug_armed(&watching->registers);
    watching->events = now;
    watching->ahead_each_ns = ahead_of(now.switches * costs->switch_ns, cpu_ns);
    watching->ahead_any_ns = ahead_of(now.faults * costs->fault_ns, cpu_ns);
    if (armed)
        lwp_budget_spend_armed(&self->budget,
                               (now.switches - before.switches) * costs->switch_ns * armed + (now.faults - before.faults) * costs->fault_ns,
                               lwp_watches_busy(&watching->watches), lwp_sharing_busy(&watching->sharing));
}

/* What one more costs ahead. */
static uint64_t ahead_of_another(const struct lwp_watching *watching)
{
    return watching->ahead_each_ns + (lwp_debug_armed(&watching->registers) ? 0 : watching->ahead_any_ns);
}

/* Where switches and page faults are rare a watch stays, however long it takes. */
void lwp_watching_keep(struct lwp_watching *watching, struct lwp_thread *self, uint64_t cpu_ns)
{
    const unsigned armed = lwp_debug_armed(&watching->registers);
    uint64_t ahead_ns = armed ? armed * watching->ahead_each_ns + watching->ahead_any_ns : 0;
    if (lwp_budget_is_dear(&self->budget, ahead_ns, LWP_WATCHING_AHEAD_NS, cpu_ns))
        give_up_dear(watching, self, cpu_ns);
}

/* Some instructions run several times as long while a register is armed (stop_cost.c). All else runs as before: with f their part
 * of the time without, time at them is too much by all of it, less f / (1 - f) of the time elsewhere. That is paid for by
 * watching nothing for a while. */
void lwp_watching_charge_slowed(struct lwp_watching *watching, struct lwp_thread *self, bool prone, uint64_t weight, uint64_t cpu_ns)
{
    const bool watches = lwp_watches_busy(&watching->watches), trial = lwp_sharing_busy(&watching->sharing);
    if (!watches && !trial) {
        if (watching->free_ns > SLOWED_MEMORY_NS) {
            watching->free_ns /= 2;
            watching->free_prone_ns /= 2;
        }
        watching->free_ns += weight;
        watching->free_prone_ns += prone ? weight : 0;
        return;
    }
    if (prone)
        watching->owed_ns += (int64_t)weight;
    else if (watching->owed_ns > -SLOWED_CREDIT_NS)
        watching->owed_ns -=
            (int64_t)((double)weight * (double)watching->free_prone_ns / (double)(watching->free_ns - watching->free_prone_ns + 1));
    if (watching->owed_ns <= 0)
        return;
    lwp_budget_spend_armed(&self->budget, (uint64_t)watching->owed_ns, watches, trial);
    watching->owed_ns = 0;
    give_up_dear(watching, self, cpu_ns);
}

void lwp_watching_offer(struct lwp_watching *watching, struct lwp_thread *self, const struct lwp_watch_candidate *chosen,
                        const struct lwp_walk_choice *looked, uint64_t cpu_ns)
{
    lwp_sharing_see(&watching->sharing, self, chosen);
    lwp_watches_offer(&watching->watches, self, chosen, looked, affords_watch(watching, self, cpu_ns, ahead_of_another(watching)));
}

void lwp_watching_choose(struct lwp_watching *watching, struct lwp_thread *self, uint64_t time, uint64_t cpu_ns)
{
    bool affordable = !lwp_debug_given_up() && lwp_budget_affords_trial(&self->budget, cpu_ns, ahead_of_another(watching));
    lwp_sharing_choose(&watching->sharing, self, time, affordable);
}

void lwp_watching_arm(struct lwp_watching *watching, struct lwp_thread *self)
{
    lwp_sharing_arm(&watching->sharing, self);
    lwp_watches_end_sample(&watching->watches, self);
}

bool lwp_watching_break_at(struct lwp_watching *watching, struct lwp_thread *self, uint64_t ip)
{
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, BREAKPOINT_ARM_NS);
    lwp_watches_end_frame(&watching->watches, self, LWPS_WATCH_EVICTED);
    return lwp_debug_arm(&watching->registers, LWP_EXECUTION_REGISTER, LWP_DEBUG_EXECUTE, ip, 0);
}

void lwp_watching_end_break(struct lwp_watching *watching)
{
    if (!lwp_watches_framed(&watching->watches))
        lwp_debug_disarm(&watching->registers, LWP_EXECUTION_REGISTER);
}

static bool is_for_trials(const struct lwp_watching *watching, unsigned which)
{
    return which == LWP_SHARING_REGISTER && watching->watches.ceded;
}

enum lwp_cost lwp_watching_stop(struct lwp_watching *watching, struct lwp_thread *self, unsigned which, struct lwp_stop *stop)
{
    if (which == LWP_WATCH_FRAME) {
        lwp_watches_end_frame(&watching->watches, self, LWPS_WATCH_FRAME_DIED);
        return LWP_COST_SAMPLES;
    }
    if (is_for_trials(watching, which)) {
        lwp_sharing_trap(&watching->sharing, self, stop);
        return LWP_COST_TRIALS;
    }
    lwp_watches_trap(&watching->watches, self, which, stop);
    return LWP_COST_WATCHES;
}

void lwp_watching_lose(struct lwp_watching *watching, unsigned which)
{
    if (is_for_trials(watching, which))
        lwp_sharing_lose(&watching->sharing);
    else if (which != LWP_WATCH_FRAME)
        lwp_watches_lose(&watching->watches, which);
    else if (lwp_watches_framed(&watching->watches))
        lwp_watches_lose(&watching->watches, (unsigned)watching->watches.framed);
}

void lwp_watching_give_up(struct lwp_watching *watching, struct lwp_thread *self)
{
    lwp_watches_give_up(&watching->watches, self);
    lwp_sharing_lose(&watching->sharing);
}

void lwp_watching_finish(struct lwp_watching *watching, struct lwp_thread *self)
{
    lwp_watches_finish(&watching->watches, self);
    lwp_sharing_finish(&watching->sharing, self);
    lwp_debug_close(&watching->registers);
}

void lwp_watching_forget(struct lwp_watching *watching)
{
    lwp_sharing_forget(&watching->sharing);
    lwp_debug_forget(&watching->registers);
}
