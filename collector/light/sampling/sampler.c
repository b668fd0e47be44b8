/* The sampling of a thread: its timer or hardware, and the handler that all its signals come to. How often it is sampled is
 * rate.c's, what an interrupt says sample.c's. */
#define _GNU_SOURCE
#include "collector/light/sampling/sampler.h"

#include "collector/light/own/debugger.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"
#include "collector/light/own/timer.h"
#include "collector/light/sampling/pmu.h"
#include "collector/light/sampling/rate.h"
#include "collector/light/sampling/sample.h"
#include "collector/light/sampling/stop_cost.h"
#include "collector/light/watch/counted_calls.h"
#include "collector/light/watch/debug_registers.h"
#include "collector/light/watch/system_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

enum { STOPPED_NS = 20000000, BREAKPOINT_ARM_NS = 12000, FREQUENCY_FIRST = 1000, FREQUENCY_MOST = 20000, EXECUTION = 3 /* its debug register */ };

static enum lwp_timer_kind sampler_kind; /* of the timer; hardware signals as the synchronous one does */
static bool sampler_hardware;
static struct lwp_pmu_counts sampler_missed;
static unsigned sampler_refused; /* threads */
static unsigned sampler_started;
static struct lwp_sampler_options sampler_options;

/* ---- the handler ---- */

static bool sampler_affords_trial(const struct lwp_thread *self, uint64_t cpu_ns)
{
    return !lwp_debug_given_up() && lwp_budget_affords_trial(&self->budget, cpu_ns);
}

/* Whether or not its breakpoint was hit. */
static void sample_write_pending(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    if (!lwp_watches_framed(&sampler->watches))
        lwp_debug_disarm(&sampler->registers, EXECUTION);
    if (sampler->waiting)
        lwp_sample_write(self, &sampler->pending);
    sampler->waiting = false;
}

static void sample_hit(struct lwp_thread *self, struct lwp_sampler *sampler, ucontext_t *context)
{
    struct lwps_access *access = &sampler->pending.access[0];
    uint64_t ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP], address;
    if (!sampler->waiting || ip != access->ip)
        return;
    struct lwp_registers registers;
    lwp_registers_take(&registers, context);
    const struct lwp_place *place = lwp_place_find(sampler->cache, ip);
    lwp_frames_take(&sampler->frames, context);
    const struct lwp_frames *frames = &sampler->frames;
    if (place->decoded && lwp_walk_address(lwp_code_at(sampler->cache, ip, place->high), &registers, &address))
        lwp_frames_place(self, frames, address, LWPS_SOURCE_BREAKPOINT, access);
    sample_write_pending(self, sampler);
}

struct interrupt {
    struct lwp_thread *self;
    struct lwp_sampler *sampler;
    const siginfo_t *info;
    ucontext_t *context;
    int debug; /* the debug register that stopped the thread, -1: the timer did */
};

/* A thread that did not run for a while slept, or was stopped by somebody who now has the process, if it did not just have to
 * leave the processor to others: on a busy machine all threads do all the time, and to look who has the process costs 50 us. */
static bool sampler_waited(struct lwp_sampler *sampler)
{
    struct rusage usage;
    if (syscall(SYS_getrusage, RUSAGE_THREAD, &usage))
        return true;
    bool waited = usage.ru_nvcsw != sampler->waits;
    sampler->waits = usage.ru_nvcsw;
    return waited;
}

static void sampler_sample(const struct interrupt *interrupt, uint64_t cpu)
{
    struct lwp_thread *self = interrupt->self;
    struct lwp_sampler *sampler = interrupt->sampler;
    bool late = lwp_timer_is_late(interrupt->info);
    uint64_t now_ns = lwp_clock(CLOCK_MONOTONIC);
    uint64_t ran = cpu - self->last_cpu_ns, dropped = lwp_pace_dropped(sampler, ran);
    sample_write_pending(self, sampler);
    if (dropped > sampler->lost)
        lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, (dropped - sampler->lost) * lwp_stop_cost_tick());
    sampler->lost = 0;
    sampler->since_review += lwp_rests_rest(&sampler->rests) ? 1 : 1 + dropped;
    lwp_pace_charge_switches(self, sampler, ran);
    if (lwp_debug_given_up()) { /* what needs no register goes on */
        lwp_watches_give_up(&sampler->watches, &sampler->registers, self);
        sampler->watches.verdicts &= LWPS_VERDICT_SHARING;
    }
    if (sampler->sharing.together && !sampler->watches.ceded)
        lwp_watches_cede(&sampler->watches, &sampler->registers, self);
    lwp_watches_begin_sample(&sampler->watches, &sampler->registers, self);
    sampler->pending = (struct lwps_sample){.time = now_ns,
                                            .weight = lwp_pace_weight(sampler, ran, dropped),
                                            .ip = (uint64_t)interrupt->context->uc_mcontext.gregs[REG_RIP]};
    sampler->waiting = sampler->pmu ? lwp_pmu_take(sampler->pmu, now_ns, &sampler->pending) : true;
    uint64_t gap = sampler->pending.time - sampler->last_ns;
    sampler->debugged = sampler->last_ns && gap > ran + STOPPED_NS && sampler_waited(sampler) && lwp_debugger_is_here();
    sampler->last_ns = sampler->pending.time;
    uint64_t breakpoint = 0;
    if (sampler->pmu && sampler->waiting)
        lwp_sample_take_measured(self, sampler, interrupt->context, late, now_ns, &sampler->pending, cpu);
    else if (sampler->waiting && !late)
        breakpoint = lwp_sample_take(self, sampler, interrupt->context, &sampler->pending, cpu);
    lwp_sharing_choose(&sampler->sharing, &sampler->registers, self, sampler->pending.time,
                       sampler_affords_trial(self, cpu));
    if (sampler_kind != LWP_TIMER_SIGTRAP || !breakpoint)
        sample_write_pending(self, sampler);
    uint64_t end = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, end - cpu + lwp_stop_cost_sample(sampler_kind));
    self->last_cpu_ns = end;
    lwp_pace_review(self, sampler, end);
    if (sampler->timer)
        lwp_pace_draw(self, sampler);
    /* last, since what a register waits for may be in a library that we use */
    if (sampler->waiting) {
        lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, BREAKPOINT_ARM_NS);
        lwp_watches_give_frame(&sampler->watches, &sampler->registers, self);
        if (!lwp_debug_arm(&sampler->registers, EXECUTION, LWP_DEBUG_EXECUTE, breakpoint, 0))
            sample_write_pending(self, sampler);
    }
    lwp_sharing_arm(&sampler->sharing, &sampler->registers, self);
    lwp_watches_end_sample(&sampler->watches, &sampler->registers, self);
    if (sampler->pmu)
        lwp_pmu_drop(sampler->pmu);
}

static bool sampler_shares(const struct lwp_sampler *sampler, int debug)
{
    return debug == LWP_SHARING_REGISTER && sampler->watches.ceded;
}

static void sampler_interrupt(void *given)
{
    const struct interrupt *interrupt = given;
    struct lwp_thread *self = interrupt->self;
    struct lwp_sampler *sampler = interrupt->sampler;
    uint64_t ticks = __rdtsc();
    uint64_t cpu = lwp_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t stop_ns = lwp_stop_cost_trap(__rdtsc() - ticks);
    if (interrupt->debug < 0) {
        sampler_sample(interrupt, cpu);
        return;
    }
    if (interrupt->debug == EXECUTION && lwp_watches_framed(&sampler->watches))
        lwp_watches_frame_ended(&sampler->watches, &sampler->registers, self);
    else if (interrupt->debug == EXECUTION)
        sample_hit(self, sampler, interrupt->context);
    else if (sampler_shares(sampler, interrupt->debug))
        lwp_sharing_trap(&sampler->sharing, &sampler->registers, self, sampler->cache, &sampler->frames,
                         interrupt->context);
    else
        lwp_watches_trap(&sampler->watches, &sampler->registers, self, sampler->cache, &sampler->frames,
                         (unsigned)interrupt->debug, interrupt->context);
    uint64_t took = lwp_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
    self->last_cpu_ns += took;
    if (interrupt->debug == EXECUTION) {
        lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, took + stop_ns);
    } else if (sampler_shares(sampler, interrupt->debug)) {
        lwp_budget_spend(&self->budget, LWP_COST_TRIALS, took + stop_ns);
        /* at once: a thread that mostly waits is hardly ever sampled */
        lwp_sharing_choose(&sampler->sharing, &sampler->registers, self, lwp_clock(CLOCK_MONOTONIC),
                           sampler_affords_trial(self, cpu));
        lwp_sharing_arm(&sampler->sharing, &sampler->registers, self);
    } else {
        lwp_budget_spend(&self->budget, LWP_COST_WATCHES, took + stop_ns);
    }
}

/* The interrupted stack may be a small one (a coroutine's, an 8 KiB sigaltstack), and unwinding takes a few KiB. */
static void sampler_on_own_stack(struct interrupt *interrupt)
{
    void *top = interrupt->sampler->stack + LWP_SAMPLER_STACK;
    void *argument = interrupt;
    void (*run)(void *) = sampler_interrupt;
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "callq *%[run]\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(argument), [run] "+a"(run), [top] "+c"(top)
                     :
                     : "rbx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",
                       "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15");
}

static void sampler_note_debugger(void)
{
    static bool noted;
    if (noted || !lwp_process_try_lock())
        return;
    noted = true;
    lwps_put_note(&lwp_process.file, &(struct lwps_note){"a debugger was attached: nothing was sampled from then on"});
    lwp_process_unlock();
}

/* What lwp's own functions around the allocator's do is no part of the program. */
static bool sampler_in_own_code(const ucontext_t *context)
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden")));
    extern const char etext[] __attribute__((visibility("hidden")));
    uintptr_t ip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    return ip >= (uintptr_t)__ehdr_start && ip < (uintptr_t)etext;
}

/* The end of a rest, or a tick that was under way when it began: the time of that is in the rest. */
static bool sampler_is_for_rest(const struct interrupt *interrupt)
{
    struct lwp_sampler *sampler = interrupt->sampler;
    bool ended = sampler->timer && lwp_timer_rested(sampler->timer, interrupt->info);
    if (ended)
        lwp_pace_end_rest(interrupt->self, sampler);
    else if (interrupt->debug < 0 && sampler->rests.resting)
        lwp_budget_spend(&interrupt->self->budget, LWP_COST_SAMPLES, lwp_stop_cost_sample(sampler_kind));
    else
        return false;
    return true;
}

void lwp_sampler_handler(int signal, siginfo_t *info, void *ucontext)
{
    int saved = errno;
    struct lwp_thread *self = lwp_thread_self();
    struct interrupt interrupt = {.self = self, .sampler = self ? self->sampler : NULL, .info = info,
                                  .context = ucontext, .debug = lwp_debug_sender(signal, info)};
    if (interrupt.sampler && sampler_is_for_rest(&interrupt)) {
        errno = saved;
        return;
    }
    bool framed = interrupt.sampler && lwp_watches_framed(&interrupt.sampler->watches);
    bool watch = interrupt.debug >= 0 && interrupt.debug != EXECUTION;
    /* late: this handler itself uses the bytes (errno, its stack, return addresses), and would again and again */
    bool late = interrupt.debug >= 0 && (watch || framed) && lwp_timer_is_late(info);
    if (interrupt.sampler && interrupt.debug >= 0)
        lwp_debug_is_on(&interrupt.sampler->registers, (unsigned)interrupt.debug);
    if (interrupt.sampler && interrupt.debug == EXECUTION && !late)
        lwp_debug_disarm(&interrupt.sampler->registers, EXECUTION); /* or it would stop there again */
    bool looks = interrupt.sampler && self->attached && !self->busy && !late && !sampler_in_own_code(ucontext);
    if (looks) {
        self->busy++;
        self->calls = lwp_debug_sees_kernel() ? 0 : lwp_counted_calls;
        sampler_on_own_stack(&interrupt);
        if (interrupt.sampler->debugged) {
            sampler_note_debugger();
            lwp_sampler_detach(self);
        }
        lwp_counted_calls = self->calls; /* not what the handler itself called */
        self->busy--;
    } else if (interrupt.sampler && interrupt.debug == EXECUTION && framed && !late) {
        lwp_watches_lose(&interrupt.sampler->watches, &interrupt.sampler->registers,
                         (unsigned)interrupt.sampler->watches.framed);
    } else if (interrupt.sampler && watch && sampler_shares(interrupt.sampler, interrupt.debug)) {
        lwp_sharing_lose(&interrupt.sampler->sharing, &interrupt.sampler->registers);
    } else if (interrupt.sampler && watch) {
        lwp_watches_lose(&interrupt.sampler->watches, &interrupt.sampler->registers, (unsigned)interrupt.debug);
    } else if (self && interrupt.debug < 0) {
        lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, lwp_stop_cost_sample(sampler_kind));
        if (interrupt.sampler && interrupt.sampler->pmu) {
            lwp_pmu_drop(interrupt.sampler->pmu);
        } else {
            self->samples_lost++;
            self->lost_in_heap += self->busy != 0;
            if (interrupt.sampler)
                interrupt.sampler->lost++;
            if (interrupt.sampler && lwp_rests_rest(&interrupt.sampler->rests))
                lwp_pace_rest_again(self, interrupt.sampler);
        }
    }
    errno = saved;
}

/* ---- life ---- */

bool lwp_sampler_owns(int signal, const siginfo_t *info)
{
    return lwp_timer_owns(signal, info) || lwp_debug_sender(signal, info) >= 0;
}

const int *lwp_sampler_signals(void)
{
    static int signals[2];
    signals[0] = sampler_kind ? lwp_timer_signal(sampler_kind) : 0;
    return signals;
}

bool lwp_sampler_init(const struct lwp_sampler_options *options, char *note, unsigned note_bytes)
{
    note[0] = '\0';
    sampler_options = *options;
    if (!lwp_insn_init())
        snprintf(note, note_bytes, "libZydis could not be loaded: samples carry no addresses");
    if (lwp_debugger_is_here()) {
        snprintf(note, note_bytes, "a debugger runs this process: nothing was sampled");
        return false;
    }
    sampler_hardware = lwp_pmu_works();
    sampler_kind = sampler_hardware ? LWP_TIMER_SIGTRAP : options->hardware ? LWP_TIMER_NONE : lwp_timer_probe(options->timer);
    lwp_debug_init();
    if (sampler_kind == LWP_TIMER_SIGTRAP)
        lwp_stop_cost_measure();
    lwp_system_calls_start();
    if (sampler_kind == LWP_TIMER_NONE) {
        snprintf(note, note_bytes, "%s", options->hardware
                     ? "the pmu engine's events were refused in this process"
                     : "no timer can sample here: perf_event_open and timer_create were both refused");
        return false;
    }
    if (sampler_kind != LWP_TIMER_SIGTRAP && !note[0])
        snprintf(note, note_bytes, "sampled by %s, since perf's synchronous task-clock is not permitted here",
                 sampler_kind == LWP_TIMER_ASYNC ? "perf's asynchronous task-clock" : "thread CPU timers");
    return true;
}

void lwp_sampler_refuse(void)
{
    __atomic_fetch_add(&sampler_refused, 1, __ATOMIC_RELAXED);
}

bool lwp_sampler_attach(struct lwp_thread *self)
{
    if (lwp_debugger_is_here())
        return false;
    struct lwp_sampler *sampler = lwp_own_memory(sizeof *sampler);
    if (!sampler)
        return false;
    sampler->cache = lwp_code_cache_new();
    double frequency = sampler_options.frequency > 0 ? sampler_options.frequency
                       : sampler_options.all         ? FREQUENCY_MOST
                                                     : FREQUENCY_FIRST;
    unsigned before = __atomic_fetch_add(&sampler_started, 1, __ATOMIC_RELAXED);
    lwp_watches_start(&sampler->watches, sampler_kind == LWP_TIMER_SIGTRAP ? sampler_options.verdicts : 0);
    lwp_sharing_start(&sampler->sharing, self, sampler->watches.verdicts);
    self->budget = (struct lwp_budget){.share = sampler_options.max_overhead, .watches = sampler->watches.verdicts, .before = before};
    self->random ^= (uint32_t)self->tid * 2654435761u;
    lwp_pace_begin(self, sampler, frequency, before);
    self->sampler = sampler;
    if (sampler->cache && sampler_hardware)
        sampler->pmu = lwp_pmu_start(self->tid);
    else if (sampler->cache)
        sampler->timer = lwp_timer_start(sampler_kind, self->tid, sampler->next_ns);
    if (sampler->timer || sampler->pmu)
        return true;
    lwp_sampler_refuse();
    lwp_sharing_forget(&sampler->sharing);
    self->sampler = NULL;
    lwp_code_cache_free(sampler->cache);
    munmap(sampler, sizeof *sampler);
    return false;
}

static void sampler_release(struct lwp_thread *self)
{
    struct lwp_sampler *sampler = self->sampler;
    self->sampler = NULL; /* a signal still on its way finds nothing to do */
    lwp_code_cache_free(sampler->cache);
    munmap(sampler, sizeof *sampler);
}

static void sampler_stop_hardware(struct lwp_pmu *pmu)
{
    struct lwp_pmu_counts counts = {0};
    lwp_pmu_stop(pmu, &counts);
    __atomic_fetch_add(&sampler_missed.lost, counts.lost, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sampler_missed.throttled, counts.throttled, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sampler_missed.kernel, counts.kernel, __ATOMIC_RELAXED);
}

void lwp_sampler_detach(struct lwp_thread *self)
{
    struct lwp_sampler *sampler = self->sampler;
    if (!sampler)
        return;
    struct lwp_timer *timer = sampler->timer;
    struct lwp_pmu *pmu = sampler->pmu;
    sampler->timer = NULL; /* what is still watched may stop the thread once more, and then finds neither */
    sampler->pmu = NULL;
    sampler->rests.short_ns = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (pmu)
        sampler_stop_hardware(pmu);
    else
        lwp_timer_stop(timer);
    sample_write_pending(self, sampler);
    lwp_watches_finish(&sampler->watches, self);
    lwp_sharing_finish(&sampler->sharing, self);
    lwp_debug_close(&sampler->registers);
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
    lwp_sharing_forget(&sampler->sharing);
    lwp_debug_forget(&sampler->registers);
    sampler_release(self);
}

uint64_t lwp_sampler_finish(void)
{
    char text[200];
    const struct lwp_pmu_counts *missed = &sampler_missed;
    if (missed->lost || missed->throttled) {
        snprintf(text, sizeof text,
                 "the kernel lost %llu samples and throttled sampling %llu times: lower -F, or give -c a longer period",
                 (unsigned long long)missed->lost, (unsigned long long)missed->throttled);
        lwps_put_note(&lwp_process.file, &(struct lwps_note){text});
    }
    if (missed->kernel) {
        snprintf(text, sizeof text, "%llu samples in the kernel were left out", (unsigned long long)missed->kernel);
        lwps_put_note(&lwp_process.file, &(struct lwps_note){text});
    }
    if (sampler_refused) {
        snprintf(text, sizeof text, "%u threads could not be sampled: open files or locked memory (ulimit -n, ulimit -l) ran out",
                 sampler_refused);
        lwps_put_note(&lwp_process.file, &(struct lwps_note){text});
    }
    return missed->lost;
}
