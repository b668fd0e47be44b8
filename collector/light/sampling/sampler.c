/* The start and end of sampling, in the process and in each thread. What an interrupt does is interrupt.c's, how often there is one
 * rate.c's, and what it says sample.c's. */
#include "collector/light/sampling/sampler.h"

#include "collector/light/own/own_memory.h"
#include "collector/light/own/own_spool.h"
#include "collector/light/own/process.h"
#include "collector/light/own/run.h"
#include "collector/light/sampling/debugger.h"
#include "collector/light/sampling/rate.h"
#include "collector/light/sampling/sample.h"
#include "collector/light/sampling/stop_cost.h"
#include "collector/light/watch/system_calls.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { FREQUENCY_FIRST = 1000, FREQUENCY_MOST = 20000 };

bool lwp_sampler_owns(int signal, const siginfo_t *info)
{
    return lwp_timer_owns(signal, info) || lwp_debug_sender(signal, info) >= 0;
}

int lwp_sampler_signal(void)
{
    return lwp_sampling.kind ? lwp_timer_signal(lwp_sampling.kind) : 0;
}

bool lwp_sampler_can_wait(void)
{
    return lwp_sampling.kind == LWP_TIMER_SIGTRAP && !lwp_sampling.hardware && !lwp_sampling.options.all;
}

/* To look costs 50 us, more than the rest of a short thread. */
static bool sampler_is_debugged(void)
{
    enum { OFTEN_NS = 100000000 };
    static uint64_t looked;
    uint64_t now = lwp_clock(CLOCK_MONOTONIC);
    if (now - __atomic_load_n(&looked, __ATOMIC_RELAXED) < OFTEN_NS)
        return false;
    bool here = lwp_debugger_is_here();
    if (!here)
        __atomic_store_n(&looked, now, __ATOMIC_RELAXED);
    return here;
}

/* What needs none goes on. */
static void sampler_do_without_registers(void)
{
    if (lwp_sampling.options.verdicts)
        lwp_process_note(LWPS_NOTE_NO_BREAKPOINTS
                         ", as in some virtual ones, so no access got a watchpoint: redundant "
                         "stores and loads are not known (lwp collect -e exact finds them), nor how much threads communicate.");
    lwp_sampling.options.verdicts &= LWPS_VERDICT_SHARING;
    lwp_debug_give_up();
}

static void sampler_measure(void)
{
    lwp_stop_cost_measure();
    __atomic_store_n(&lwp_run->tick_ns, lwp_stop_cost_sample(LWP_TIMER_SIGTRAP), __ATOMIC_RELAXED);
}

bool lwp_sampler_init(const struct lwp_sampler_options *options, char *note, unsigned note_bytes)
{
    note[0] = '\0';
    lwp_sampling.options = *options;
    if (!lwp_insn_init())
        snprintf(note, note_bytes, "libZydis could not be loaded: samples carry no addresses");
    if (sampler_is_debugged()) {
        snprintf(note, note_bytes, "a debugger runs this process: nothing was sampled");
        return false;
    }
    lwp_sampling.hardware = lwp_pmu_works();
    lwp_sampling.kind = lwp_sampling.hardware ? LWP_TIMER_SIGTRAP : options->hardware ? LWP_TIMER_NONE : lwp_timer_probe(options->timer);
    lwp_debug_init();
    if (lwp_sampling.kind == LWP_TIMER_SIGTRAP)
        sampler_measure();
    if (lwp_stop_costs.dead)
        sampler_do_without_registers();
    lwp_system_calls_start();
    if (lwp_sampling.kind == LWP_TIMER_NONE) {
        snprintf(note, note_bytes, "%s",
                 options->hardware ? "the pmu engine's events were refused in this process"
                                   : "no timer can sample here: perf_event_open and timer_create were both refused");
        return false;
    }
    if (lwp_sampling.kind != LWP_TIMER_SIGTRAP && !note[0])
        snprintf(note, note_bytes, "sampled by %s, since perf's synchronous task-clock is not permitted here",
                 lwp_sampling.kind == LWP_TIMER_ASYNC ? "perf's asynchronous task-clock" : "thread CPU timers");
    return true;
}

void lwp_sampler_refuse(void)
{
    __atomic_fetch_add(&lwp_sampling.refused, 1, __ATOMIC_RELAXED);
}

/* Those of threads that have ended, for the next ones; what they know of the code stays true. */
enum { SAMPLERS = 16 };
static struct lwp_sampler *samplers[SAMPLERS];

static struct lwp_sampler *sampler_take(void)
{
    for (unsigned i = 0; i < SAMPLERS; i++) {
        struct lwp_sampler *sampler = __atomic_exchange_n(&samplers[i], NULL, __ATOMIC_ACQUIRE);
        if (sampler)
            return memset(sampler, 0, offsetof(struct lwp_sampler, cache));
    }
    return lwp_own_memory(sizeof(struct lwp_sampler));
}

static void sampler_give(struct lwp_sampler *sampler)
{
    for (unsigned i = 0; i < SAMPLERS; i++) {
        struct lwp_sampler *none = NULL;
        if (__atomic_compare_exchange_n(&samplers[i], &none, sampler, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
    lwp_code_cache_free(sampler->cache);
    munmap(sampler, sizeof *sampler);
}

static void sampler_release(struct lwp_thread *self)
{
    struct lwp_sampler *sampler = self->sampler;
    self->sampler = NULL; /* a signal still on its way finds nothing to do */
    sampler_give(sampler);
}

bool lwp_sampler_attach(struct lwp_thread *self)
{
    const struct lwp_sampler_options *options = &lwp_sampling.options;
    struct lwp_sampler *sampler = sampler_is_debugged() ? NULL : sampler_take();
    if (!sampler)
        return false;
    double frequency = options->frequency > 0 ? options->frequency : options->all ? FREQUENCY_MOST : FREQUENCY_FIRST;
    unsigned before = __atomic_fetch_add(&lwp_sampling.started, 1, __ATOMIC_RELAXED);
    uint8_t verdicts = lwp_sampling.kind == LWP_TIMER_SIGTRAP ? options->verdicts : 0;
    lwp_watching_start(&sampler->watching, self, verdicts);
    self->budget = (struct lwp_time_budget){
        .share = options->max_overhead, .watches = verdicts && !lwp_debug_given_up(), .before = before, .run = lwp_run};
    self->random ^= (uint32_t)self->tid * 2654435761u;
    lwp_rate_begin(self, sampler, frequency, before);
    const bool own = self->tid == lwp_thread_tid();
    struct lwp_timer *made = NULL;
    if (own)
        lwp_suspension_start(&sampler->suspension);
    self->sampler = sampler;
    if (lwp_sampling.hardware)
        sampler->pmu = lwp_pmu_start(self->tid);
    else if (own && lwp_own_spool_is_paused())
        sampler->timer = lwp_rate_start_paused(self, sampler);
    if (!sampler->timer && !sampler->pmu && !lwp_sampling.hardware)
        sampler->timer = made = lwp_timer_make(lwp_sampling.kind, self->tid, sampler->next_ns);
    self->attached = sampler->timer || sampler->pmu;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (made)
        lwp_timer_begin(made);
    if (self->attached && own)
        lwp_rate_begun(self, sampler);
    if (self->attached)
        return true;
    lwp_sampler_refuse();
    lwp_watching_forget(&sampler->watching);
    sampler_release(self);
    return false;
}

void lwp_sampler_detach(struct lwp_thread *self)
{
    struct lwp_sampler *sampler = self->sampler;
    if (!sampler)
        return;
    if (self == lwp_thread_self())
        lwp_rate_end(self, sampler);
    struct lwp_timer *timer = sampler->timer;
    struct lwp_pmu *pmu = sampler->pmu;
    sampler->timer = NULL; /* what is still watched may stop the thread once more, and then finds neither */
    sampler->pmu = NULL;
    sampler->suspension.short_ns = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (pmu)
        lwp_pmu_stop(pmu, &lwp_sampling.missed);
    else
        lwp_timer_stop(timer);
    lwp_sample_write(self, sampler);
    lwp_watching_finish(&sampler->watching, self);
    sampler_release(self);
}

void lwp_sampler_forget(struct lwp_thread *self)
{
    struct lwp_sampler *sampler = self->sampler;
    if (!sampler)
        return;
    if (sampler->pmu)
        lwp_pmu_forget(sampler->pmu);
    else
        lwp_timer_forget(sampler->timer);
    lwp_watching_forget(&sampler->watching);
    lwp_code_cache_free(sampler->cache); /* its thread may have been filling it */
    sampler->cache = NULL;
    sampler_release(self);
}

void lwp_sampler_pause(struct lwp_thread *self)
{
    if (self->sampler)
        lwp_watching_give_up(&self->sampler->watching, self);
    if (self->sampler && self->sampler->pmu)
        lwp_pmu_run(self->sampler->pmu, false);
}

void lwp_sampler_resume(struct lwp_thread *self)
{
    if (self->sampler && self->sampler->pmu)
        lwp_pmu_run(self->sampler->pmu, true);
}

uint64_t lwp_sampler_finish(void)
{
    char text[200];
    const struct lwp_pmu_counts *missed = &lwp_sampling.missed;
    if (missed->lost || missed->throttled) {
        snprintf(text, sizeof text, "the kernel lost %llu samples and throttled sampling %llu times: lower -F, or give -c a longer period",
                 (unsigned long long)missed->lost, (unsigned long long)missed->throttled);
        lwp_process_note(text);
    }
    if (missed->kernel) {
        snprintf(text, sizeof text, "%llu samples in the kernel were left out", (unsigned long long)missed->kernel);
        lwp_process_note(text);
    }
    if (lwp_sampling.refused) {
        snprintf(text, sizeof text, "%u threads could not be sampled: open files or locked memory (ulimit -n, ulimit -l) ran out",
                 lwp_sampling.refused);
        lwp_process_note(text);
    }
    return missed->lost;
}
