/* The handler of all the sampler's signals: a tick of the timer or the hardware is a sample, a stop by a debug register decides a watch
 * or completes a sample. It must find the program as it was: only system calls, no locks, and errno is kept. */
#include "collector/light/code/own_program.h"
#include "collector/light/own/confinement.h"
#include "collector/light/own/perf_signal.h"
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/sampling/rate.h"
#include "collector/light/sampling/sample.h"
#include "collector/light/sampling/sampler.h"
#include "collector/light/sampling/stop_cost.h"
#include "collector/light/watch/system_calls.h"

#include <errno.h>
#include <x86intrin.h>

/* The interrupted stack may be a small one (a coroutine's, an 8 KiB sigaltstack), and unwinding takes a few KiB. */
static void interrupt_on_own_stack(const struct lwp_interrupt *interrupt, void (*run)(const struct lwp_interrupt *))
{
    void *top = interrupt->sampler->stack + LWP_SAMPLER_STACK;
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "callq *%[run]\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(interrupt), [run] "+a"(run), [top] "+c"(top)
                     :
                     : "rbx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
                       "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static void interrupt_note_debugger(void)
{
    static bool noted;
    if (noted || !lwp_process_try_lock())
        return;
    noted = true;
    lwp_process_note("a debugger was attached: nothing was sampled from then on");
    lwp_process_unlock();
}

/* False: the thread is inside the collector, whose functions around the allocator's are no part of the program either. */
static bool interrupt_look(const struct lwp_interrupt *interrupt, void (*run)(const struct lwp_interrupt *))
{
    struct lwp_thread *self = interrupt->self;
    struct lwp_sampler *sampler = interrupt->sampler;
    if (self->busy > 1 || lwp_is_ours((const void *)lwp_interrupt_ip(interrupt)))
        return false;
    if (!sampler->cache && !(sampler->cache = lwp_code_cache_new(&lwp_own_program))) /* at a thread's first sample: many end before */
        return false;
    self->calls = lwp_debug.sees_kernel ? 0 : lwp_counted_calls;
    interrupt_on_own_stack(interrupt, run);
    if (sampler->debugged) {
        interrupt_note_debugger();
        lwp_sampler_detach(self);
    }
    lwp_counted_calls = self->calls; /* not what the handler itself called */
    return true;
}

/* ---- a tick ---- */

static void interrupt_tick(const struct lwp_interrupt *interrupt)
{
    struct lwp_thread *self = interrupt->self;
    struct lwp_sampler *sampler = interrupt->sampler;
    bool wanted = lwp_process_records();
    if (wanted && interrupt_look(interrupt, lwp_sample_take))
        return;
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, lwp_stop_cost_sample(lwp_sampling.kind));
    if (sampler->pmu) {
        lwp_pmu_drop(sampler->pmu);
        return;
    }
    if (!wanted) {
        lwp_rate_closed(self, sampler);
        return;
    }
    self->samples_lost++;
    lwp_rate_lost(self, sampler);
}

/* A long suspension goes on without watchpoints. */
static bool interrupt_is_bound(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    enum { AGAIN_NS = 1000000 };
    const uint64_t cpu = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    if (!lwp_suspension_end_bound(&sampler->suspension, sampler->timer, cpu - self->last_cpu_ns))
        return false;
    if (self->busy > 1) { /* inside the collector */
        lwp_suspension_bound(&sampler->suspension, sampler->timer, AGAIN_NS);
        return sampler->suspension.bounded;
    }
    lwp_watching_charge_armed(&sampler->watching, self, &lwp_stop_costs.armed, cpu);
    lwp_sample_write(self, sampler);
    lwp_watching_give_up(&sampler->watching, self);
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, lwp_stop_cost_sample(LWP_TIMER_POSIX));
    return true;
}

/* A system call leaves in RCX where it returns to: what came within one is handled there. */
static bool interrupt_is_nowhere(const struct lwp_interrupt *interrupt)
{
    const greg_t *registers = interrupt->context->uc_mcontext.gregs;
    return registers[REG_RIP] == registers[REG_RCX] || interrupt->self->busy > 1 || lwp_is_ours((const void *)registers[REG_RIP]);
}

/* The end of a suspension, or a tick that was under way when it began: the time of that is in the suspension. */
static bool interrupt_is_for_suspension(const struct lwp_interrupt *interrupt)
{
    struct lwp_sampler *sampler = interrupt->sampler;
    bool ended = sampler->timer && lwp_timer_suspension_ended(sampler->timer, interrupt->info);
    if (ended && interrupt_is_bound(interrupt->self, sampler))
        return true;
    if (ended)
        return !lwp_rate_end_suspension(interrupt->self, sampler, interrupt_is_nowhere(interrupt));
    if (interrupt->debug < 0 && sampler->suspension.suspended)
        lwp_budget_spend(&interrupt->self->budget, LWP_COST_SAMPLES, lwp_stop_cost_sample(lwp_sampling.kind));
    else
        return false;
    return true;
}

/* ---- a stop by a debug register ---- */

static void interrupt_decide(const struct lwp_interrupt *interrupt)
{
    uint64_t ticks = __rdtsc();
    uint64_t cpu = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t stop_ns = lwp_stop_cost_trap(__rdtsc() - ticks);
    struct lwp_thread *self = interrupt->self;
    struct lwp_watching *watching = &interrupt->sampler->watching;
    enum lwp_cost cost = LWP_COST_SAMPLES;
    lwp_watching_charge_armed(watching, self, &lwp_stop_costs.armed, cpu);
    if (lwp_watching_breaks(watching, (unsigned)interrupt->debug)) {
        lwp_sample_hit(interrupt);
    } else {
        struct lwp_stop stop = {.cache = interrupt->sampler->cache, .frames = &interrupt->sampler->frames, .ucontext = interrupt->context};
        cost = lwp_watching_stop(watching, self, (unsigned)interrupt->debug, &stop);
    }
    uint64_t took = lwp_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
    self->last_cpu_ns += took;
    lwp_budget_spend(&self->budget, cost, took + stop_ns);
    if (cost == LWP_COST_TRIALS) { /* the next one at once: a thread that mostly waits is hardly ever sampled */
        lwp_watching_choose(watching, self, lwp_clock(CLOCK_MONOTONIC), cpu);
        lwp_sharing_arm(&watching->sharing, self);
    }
}

static void interrupt_stop(const struct lwp_interrupt *interrupt)
{
    struct lwp_watching *watching = &interrupt->sampler->watching;
    unsigned which = (unsigned)interrupt->debug;
    /* late: this handler itself uses the bytes (errno, its stack, return addresses), and would again and again */
    bool late = !lwp_watching_breaks(watching, which) && lwp_perf_signal_is_late(interrupt->info);
    lwp_debug_is_on(&watching->registers, which);
    if (which == LWP_EXECUTION_REGISTER && !late)
        lwp_debug_disarm(&watching->registers, which); /* or it would stop there again */
    if (!late && interrupt_look(interrupt, interrupt_decide))
        return;
    if (which != LWP_EXECUTION_REGISTER || !late)
        lwp_watching_lose(watching, which);
}

/* Until the next sample, where open events would cost the thread's switches too much. */
static void interrupt_close(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    if (!sampler->timer || !lwp_suspension_closes(&sampler->suspension))
        return;
    if (lwp_debug_armed(&sampler->watching.registers)) {
        lwp_suspension_bound(&sampler->suspension, sampler->timer, LWP_WATCHING_AHEAD_NS);
        return;
    }
    const uint64_t cpu = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    lwp_debug_close(&sampler->watching.registers);
    lwp_suspension_close(&sampler->suspension, sampler->timer);
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, lwp_clock(CLOCK_THREAD_CPUTIME_ID) - cpu);
}

/* What belongs to the thread is not looked at before `busy` says so: another thread that ends sampling (threads.c) then waits. */
void lwp_sampler_handler(int signal, siginfo_t *info, void *ucontext)
{
    int saved = errno;
    struct lwp_thread *self = lwp_thread_self();
    if (!self)
        return;
    __atomic_fetch_add(&self->busy, 1, __ATOMIC_SEQ_CST);
    struct lwp_sampler *sampler = __atomic_load_n(&self->attached, __ATOMIC_SEQ_CST) ? self->sampler : NULL;
    if (sampler && !lwp_confinement_came()) {
        const struct lwp_interrupt interrupt = {
            .self = self, .sampler = sampler, .info = info, .context = ucontext, .debug = lwp_debug_sender(signal, info)};
        if (interrupt_is_for_suspension(&interrupt))
            ;
        else if (interrupt.debug >= 0)
            interrupt_stop(&interrupt);
        else
            interrupt_tick(&interrupt);
        interrupt_close(self, sampler);
    }
    __atomic_fetch_sub(&self->busy, 1, __ATOMIC_RELEASE);
    errno = saved;
}
