/* From a timer interrupt to a sample record.
 *
 * When a load stalls, the interrupt lands on the instruction after it (97-99.9 % of the time), so the CPU time since the
 * last sample belongs to the memory instruction that ran just before the saved ip (place.c). Its address comes from the
 * saved registers when the instruction did not change them, else from walking forward to its next execution (walk.c), at
 * last from an execution breakpoint on it, for which the sample waits until the next one (debug_registers.c).
 * Beside it a few accesses further on are kept without weight: they have no bias to line starts and show what is used
 * together. An address that is not certain is not reported. */
#define _GNU_SOURCE
#include "collector/light/sampler.h"

#include "collector/light/counted_calls.h"
#include "collector/light/debug_registers.h"
#include "collector/light/debugger.h"
#include "collector/light/frames.h"
#include "collector/light/modules.h"
#include "collector/light/own_breakpoints.h"
#include "collector/light/pmu.h"
#include "collector/light/process.h"
#include "collector/light/sharing.h"
#include "collector/light/stop_cost.h"
#include "collector/light/system_calls.h"
#include "collector/light/timer.h"
#include "collector/light/walk.h"
#include "collector/light/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { HEAP_THINNING_MOST = 1023, STOPPED_NS = 20000000 };
enum { STACK_BYTES = 64 * 1024, BREAKPOINT_ARM_NS = 12000 };
enum { DITHER_MOST = 48, REVIEW_SAMPLES = 32, REVIEW_PERIODS = 16, FREQUENCY_FIRST = 1000, FREQUENCY_MOST = 20000, FREQUENCY_LEAST = 20, EXECUTION = 3 /* its debug register */ };

struct sampler {
    struct lwp_code_cache *cache;
    struct lwp_timer *timer; /* or: */
    struct lwp_pmu *pmu;
    uint64_t period_ns, base_period_ns;
    uint64_t review_cpu_ns, review_spent_ns; /* on samples, at the last review */
    unsigned since_review;
    struct lwp_debug_registers registers;
    struct lwp_watches watches;
    struct lwp_sharing sharing;
    struct lwps_sample pending; /* waits for the execution breakpoint */
    bool waiting;
    struct lwp_frames frames;
    uint64_t last_ns; /* of the last sample, CLOCK_MONOTONIC */
    bool debugged;
    uint8_t stack[STACK_BYTES] __attribute__((aligned(64)));
};

static enum lwp_timer_kind sampler_kind; /* of the timer; hardware signals as the synchronous one does */
static bool sampler_hardware;
static struct lwp_pmu_counts sampler_missed;
static unsigned sampler_refused; /* threads */
static struct lwp_sampler_options sampler_options;

static uint64_t clock_now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The address an instruction just used, when it did not overwrite what the address is made of. */
static bool sample_undo(const struct lwp_insn *insn, const struct lwp_registers *registers, uint64_t *address)
{
    if ((insn->base <= 15 && insn->spoils >> insn->base & 1) || (insn->index <= 15 && insn->spoils >> insn->index & 1))
        return false;
    return lwp_walk_address(insn, registers, address);
}

/* ---- the handler ---- */

/* perf's clock runs on in the kernel but its ticks there are dropped, so a sample stands for the last period only: the
 * kernel's share of a longer gap must not be charged to the program's instruction. A POSIX timer waits instead. */
static uint64_t sample_weight(const struct sampler *sampler, uint64_t gap_ns)
{
    bool dropped = sampler_kind != LWP_TIMER_POSIX && gap_ns > 2 * sampler->period_ns;
    return dropped ? sampler->period_ns : gap_ns;
}

/* A REP instruction is interrupted before its next step: its pointers are exact. A copy waits for what it loads. */
static void sample_take_rep(struct lwp_thread *self, const struct lwp_frames *frames,
                            const struct lwp_registers *registers, const struct lwp_insn *insn, struct lwps_sample *sample)
{
    enum { RSI = 6, RDI = 7 };
    bool compares = insn->load && !insn->store && insn->spoils >> RDI & 1;
    sample->kind = insn->load ? LWPS_SAMPLE_STALL : LWPS_SAMPLE_STORE;
    for (int rdi = 0; rdi < 2; rdi++) {
        bool load = rdi ? compares : insn->load && insn->spoils >> RSI & 1, store = rdi && insn->store;
        if (!load && !store)
            continue;
        struct lwps_access *access = &sample->access[sample->access_count++];
        *access = (struct lwps_access){.ip = insn->ip, .bytes = insn->bytes, .flags = lwp_access_flags(load, store, false, false)};
        lwp_frames_place(self, frames, registers->value[rdi ? RDI : RSI], LWPS_SOURCE_UNDO, access);
    }
    sample->access[0].flags |= LWPS_ACCESS_WEIGHTED;
}

static bool sampler_affords_watch(const struct lwp_thread *self, uint64_t cpu_ns)
{
    const struct sampler *sampler = self->sampler;
    return !lwp_debug_given_up() && lwp_budget_affords_watch(&self->budget, cpu_ns, sampler->sharing.reads);
}

static bool sampler_affords_trial(const struct lwp_thread *self, uint64_t cpu_ns)
{
    return !lwp_debug_given_up() && lwp_budget_affords_trial(&self->budget, cpu_ns);
}

static void sample_offer(struct lwp_thread *self, struct sampler *sampler, const struct lwp_walk_choice *choice,
                         const struct lwps_sample *sample, uint64_t cpu_ns)
{
    if (!choice->seen)
        return;
    lwp_sharing_see(&sampler->sharing, self, &sampler->frames, &choice->access, sample->time, sample->weight);
    lwp_watches_offer(&sampler->watches, self, &sampler->frames, &choice->access, sample->time, sample->weight,
                      sampler_affords_watch(self, cpu_ns));
}

/* Any step of what it is about to copy or fill may be watched; one step, since it would stop at each of several. */
static void sample_choose_of_rep(struct lwp_thread *self, const struct lwp_registers *registers, uint64_t flags,
                                 const struct lwp_insn *insn, bool store, struct lwp_walk_choice *choice)
{
    enum { RCX = 1, RSI = 6, RDI = 7, FLAG_DIRECTION = 0x400 };
    uint64_t steps = registers->value[RCX];
    bool copies_or_fills = insn->store || !(insn->spoils >> RDI & 1); /* others compare and may end any time */
    choice->seen = 0;
    if (!choice->from || flags & FLAG_DIRECTION || steps == 0 || !(store ? insn->store : insn->load) || !copies_or_fills)
        return;
    self->random = self->random * 1664525u + 1013904223u;
    choice->access = (struct lwp_walk_access){
        .ip = insn->ip, .bytes = insn->bytes, .load = !store, .store = store,
        .address = registers->value[store ? RDI : RSI] + (uint64_t)(self->random >> 4) % steps * insn->bytes};
    choice->seen = 1;
}

/* On some processors (Zen 5) a string instruction goes byte by byte, some 30 times as slow, while a register watches data.
 * That time is ours: it is paid for by watching nothing for a while. */
static void sample_slowed(struct lwp_thread *self, struct sampler *sampler, const struct lwps_sample *sample, uint64_t cpu_ns)
{
    bool watching = lwp_watches_busy(&sampler->watches) || lwp_sharing_busy(&sampler->sharing);
    if (!watching || !lwp_stop_cost_slows_strings())
        return;
    lwp_budget_spend(&self->budget, LWP_COST_WATCHES, sample->weight);
    if (sampler_affords_watch(self, cpu_ns))
        return;
    lwp_watches_give_up(&sampler->watches, &sampler->registers, self);
    lwp_sharing_lose(&sampler->sharing, &sampler->registers);
}

/* The accesses to come: some are kept without weight, one store and one load may be watched. */
static void sample_ahead(struct lwp_thread *self, struct sampler *sampler, const struct lwp_place *place,
                         const struct lwp_registers *registers, uint64_t flags, struct lwp_walk *walk)
{
    self->random = self->random * 1664525u + 1013904223u;
    walk->skip = (self->random >> 8) % DITHER_MOST;
    lwp_watches_choose(&sampler->watches, &self->random, &walk->store.from, &walk->load.from);
    lwp_walk_forward(sampler->cache, place, registers, flags, walk, &self->random);
}

static void sample_keep(struct lwp_thread *self, struct sampler *sampler, const struct lwp_walk *walk,
                        struct lwps_sample *sample, uint64_t cpu_ns)
{
    for (unsigned i = 0; i < walk->kept_count; i++) {
        const struct lwp_walk_access *kept = &walk->kept[i];
        struct lwps_access *access = &sample->access[sample->access_count++];
        *access = (struct lwps_access){.ip = kept->ip, .bytes = kept->bytes,
                                       .flags = lwp_access_flags(kept->load, kept->store, kept->vector, kept->floating)};
        lwp_frames_place(self, &sampler->frames, kept->address, LWPS_SOURCE_DITHERED, access);
    }
    sample_offer(self, sampler, &walk->store, sample, cpu_ns);
    sample_offer(self, sampler, &walk->load, sample, cpu_ns);
}

static void sample_rep_ahead(struct lwp_thread *self, struct sampler *sampler, const struct lwp_registers *registers,
                             uint64_t flags, const struct lwp_insn *now, const struct lwps_sample *sample, uint64_t cpu_ns)
{
    struct lwp_walk_choice store, load;
    sample_slowed(self, sampler, sample, cpu_ns);
    lwp_watches_choose(&sampler->watches, &self->random, &store.from, &load.from);
    sample_choose_of_rep(self, registers, flags, now, true, &store);
    sample_choose_of_rep(self, registers, flags, now, false, &load);
    sample_offer(self, sampler, &store, sample, cpu_ns);
    sample_offer(self, sampler, &load, sample, cpu_ns);
}

/* What a timer's interrupt tells. Returns the instruction whose address only a breakpoint can tell, or 0. */
static uint64_t sample_take(struct lwp_thread *self, struct sampler *sampler, ucontext_t *context,
                            struct lwps_sample *sample, uint64_t cpu_ns)
{
    struct lwp_registers registers;
    lwp_registers_take(&registers, context);
    uint64_t flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
    const struct lwp_place *place = lwp_place_find(sampler->cache, sample->ip);
    struct lwp_frames *frames = &sampler->frames;
    if (!place->low)
        return 0; /* JIT or code without unwind tables: neither decoded nor unwound */
    lwp_modules_see(sample->ip);

    lwp_frames_take(frames, context);
    sample->context = lwp_frames_context(self, frames);
    if (!place->decoded)
        return 0;

    struct lwps_access *first = &sample->access[0];
    struct lwp_insn now = *lwp_code_at(sampler->cache, sample->ip, place->high);
    if (now.rep_string) {
        sample_take_rep(self, frames, &registers, &now, sample);
        sample_rep_ahead(self, sampler, &registers, flags, &now, sample, cpu_ns);
        return 0;
    }
    bool sure, breakable = false;
    uint64_t charged = lwp_place_access(place, flags, &sure);
    sample->kind = charged ? LWPS_SAMPLE_STALL : place->store ? LWPS_SAMPLE_STORE : LWPS_SAMPLE_COMPUTE;
    struct lwp_walk walk = {0};
    if (sample->kind != LWPS_SAMPLE_COMPUTE) {
        walk.wanted = charged ? charged : place->store;
        struct lwp_insn insn = *lwp_code_at(sampler->cache, walk.wanted, place->high);
        if (insn.store && !insn.load && place->store)
            sample->kind = LWPS_SAMPLE_STORE;
        *first = (struct lwps_access){.ip = insn.ip, .bytes = insn.bytes,
                                      .flags = LWPS_ACCESS_WEIGHTED |
                                               lwp_access_flags(insn.load, insn.store, insn.vector, insn.floating)};
        sample->access_count = 1;
        uint64_t address;
        if (charged && sure && sample_undo(&insn, &registers, &address)) {
            lwp_frames_place(self, frames, address, LWPS_SOURCE_UNDO, first);
            walk.wanted = 0;
        }
        breakable = !insn.gather && !insn.rep_string && insn.segment != LWP_SEGMENT_GS;
    }
    sample_ahead(self, sampler, place, &registers, flags, &walk);
    if (walk.found)
        lwp_frames_place(self, frames, walk.found_address, LWPS_SOURCE_FORWARD, first);
    sample_keep(self, sampler, &walk, sample, cpu_ns);
    return breakable && !(first->flags & LWPS_ACCESS_KNOWN) ? first->ip : 0;
}

static void sample_write(struct lwp_thread *self, const struct lwps_sample *sample)
{
    if (lwps_put_sample(&self->file, sample)) {
        self->samples_lost++;
        return;
    }
    self->samples++;
    for (unsigned i = 0; i < sample->access_count; i++)
        if (sample->access[i].flags & LWPS_ACCESS_KNOWN) {
            self->samples_with_address++;
            return;
        }
}

/* What hardware does not know of an access: the path to it, its width and its home. */
static void sample_complete(struct lwp_thread *self, struct sampler *sampler, struct lwps_sample *sample)
{
    const struct lwp_place *place = lwp_place_find(sampler->cache, sample->ip);
    struct lwps_access *access = &sample->access[0];
    if (place->low) {
        lwp_modules_see(sample->ip);
        sample->context = lwp_frames_context_of(self, &sampler->frames, place->low, place->high);
    }
    if (!sample->access_count)
        return;
    if (place->decoded) {
        const struct lwp_insn *insn = lwp_code_at(sampler->cache, sample->ip, place->high);
        if (access->address - sample->ip < insn->length) { /* a page of code that was not there */
            *access = (struct lwps_access){0};
            sample->access_count = 0;
            sample->kind = LWPS_SAMPLE_UNKNOWN;
            return;
        }
        access->flags |= lwp_access_flags(insn->load, insn->store, insn->vector, insn->floating);
        access->bytes = insn->load || insn->store ? insn->bytes : 0;
        sample->kind = insn->store && !insn->load ? LWPS_SAMPLE_STORE : sample->kind;
    }
    lwp_frames_place(self, &sampler->frames, access->address, LWPS_SOURCE_HARDWARE, access);
}

/* What hardware measured; the thread was stopped a few instructions later, or at a page fault's instruction itself. Of
 * several samples taken meanwhile the last one stays in `sample`. `late`: where the thread is now tells nothing of them. */
static void sample_take_measured(struct lwp_thread *self, struct sampler *sampler, ucontext_t *context, bool late,
                                 uint64_t now_ns, struct lwps_sample *sample, uint64_t cpu_ns)
{
    uint64_t ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP], flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
    bool known = !late && lwp_place_find(sampler->cache, ip)->low;
    if (known)
        lwp_frames_take(&sampler->frames, context);
    else
        lwp_frames_none(&sampler->frames, context);
    for (struct lwps_sample next; lwp_pmu_take(sampler->pmu, now_ns, &next); *sample = next) {
        sample_complete(self, sampler, sample);
        sample_write(self, sample);
    }
    sample_complete(self, sampler, sample);
    const struct lwp_place *place = known ? lwp_place_find(sampler->cache, ip) : NULL;
    if (!known || !place->decoded)
        return;
    struct lwp_registers registers;
    lwp_registers_take(&registers, context);
    struct lwp_insn now = *lwp_code_at(sampler->cache, ip, place->high);
    if (now.rep_string) {
        sample_rep_ahead(self, sampler, &registers, flags, &now, sample, cpu_ns);
        return;
    }
    struct lwp_walk walk = {0};
    sample_ahead(self, sampler, place, &registers, flags, &walk);
    sample_keep(self, sampler, &walk, sample, cpu_ns);
}

/* Whether or not its breakpoint was hit. */
static void sample_write_pending(struct lwp_thread *self, struct sampler *sampler)
{
    if (!lwp_watches_framed(&sampler->watches))
        lwp_debug_disarm(&sampler->registers, EXECUTION);
    if (sampler->waiting)
        sample_write(self, &sampler->pending);
    sampler->waiting = false;
}

static void sample_hit(struct lwp_thread *self, struct sampler *sampler, ucontext_t *context)
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

/* Samples lost while an allocation was being recorded measure what recording costs. When it costs too much only some
 * allocations are recorded, and the blocks of the others are unknown. */
static void sampler_review_heap(struct lwp_thread *self, const struct sampler *sampler, uint64_t cpu_ns)
{
    lwp_budget_spend(&self->budget, LWP_COST_HEAP, self->lost_in_heap * sampler->period_ns);
    self->lost_in_heap = 0;
    if (lwp_budget_affords_heap(&self->budget, cpu_ns))
        self->heap_thinning /= 2;
    else if (self->heap_thinning < HEAP_THINNING_MOST)
        self->heap_thinning = self->heap_thinning * 2 + 1;
}

/* Thins the samples out so that what they cost stays within the budget, and comes back when they got cheaper. */
static void sampler_review(struct lwp_thread *self, struct sampler *sampler, uint64_t cpu_ns)
{
    /* how often the hardware samples is not known before */
    bool overdue = sampler->pmu && cpu_ns - sampler->review_cpu_ns > REVIEW_PERIODS * sampler->period_ns;
    if (++sampler->since_review < REVIEW_SAMPLES && !overdue)
        return;
    if (!sampler->pmu) /* what is not spread evenly over time cannot measure it */
        sampler_review_heap(self, sampler, cpu_ns);
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
    /* never a round number, never the same twice: no lockstep with the program */
    period += period / 64 * (self->random >> 28);
    sampler->period_ns = period;
    if (sampler->pmu)
        lwp_pmu_pace_to(sampler->pmu, period, elapsed);
    else
        lwp_timer_set_period(sampler->timer, period);
}

struct interrupt {
    struct lwp_thread *self;
    struct sampler *sampler;
    const siginfo_t *info;
    ucontext_t *context;
    int debug; /* the debug register that stopped the thread, -1: the timer did */
};

static void sampler_sample(const struct interrupt *interrupt, uint64_t cpu)
{
    struct lwp_thread *self = interrupt->self;
    struct sampler *sampler = interrupt->sampler;
    bool late = lwp_timer_is_late(interrupt->info);
    uint64_t now_ns = clock_now(CLOCK_MONOTONIC);
    sample_write_pending(self, sampler);
    if (lwp_debug_given_up()) { /* what needs no register goes on */
        lwp_watches_give_up(&sampler->watches, &sampler->registers, self);
        sampler->watches.verdicts &= LWPS_VERDICT_SHARING;
    }
    if (sampler->sharing.together && !sampler->watches.ceded)
        lwp_watches_cede(&sampler->watches, &sampler->registers, self);
    lwp_watches_begin_sample(&sampler->watches, &sampler->registers, self);
    sampler->pending = (struct lwps_sample){.time = now_ns,
                                            .weight = sample_weight(sampler, cpu - self->last_cpu_ns),
                                            .ip = (uint64_t)interrupt->context->uc_mcontext.gregs[REG_RIP]};
    sampler->waiting = sampler->pmu ? lwp_pmu_take(sampler->pmu, now_ns, &sampler->pending) : true;
    /* A thread that did not run for a while slept, or was stopped by somebody who now has the process. */
    uint64_t gap = sampler->pending.time - sampler->last_ns, ran = cpu - self->last_cpu_ns;
    sampler->debugged = sampler->last_ns && gap > ran + STOPPED_NS && lwp_debugger_is_here();
    sampler->last_ns = sampler->pending.time;
    uint64_t breakpoint = 0;
    if (sampler->pmu && sampler->waiting)
        sample_take_measured(self, sampler, interrupt->context, late, now_ns, &sampler->pending, cpu);
    else if (sampler->waiting && !late)
        breakpoint = sample_take(self, sampler, interrupt->context, &sampler->pending, cpu);
    lwp_sharing_choose(&sampler->sharing, &sampler->registers, self, sampler->pending.time,
                       sampler_affords_trial(self, cpu));
    if (sampler_kind != LWP_TIMER_SIGTRAP || !breakpoint)
        sample_write_pending(self, sampler);
    uint64_t end = clock_now(CLOCK_THREAD_CPUTIME_ID);
    lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, end - cpu + lwp_stop_cost_sample(sampler_kind));
    self->last_cpu_ns = end;
    sampler_review(self, sampler, end);
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

static bool sampler_shares(const struct sampler *sampler, int debug)
{
    return debug == LWP_SHARING_REGISTER && sampler->watches.ceded;
}

static void sampler_interrupt(void *given)
{
    const struct interrupt *interrupt = given;
    struct lwp_thread *self = interrupt->self;
    struct sampler *sampler = interrupt->sampler;
    uint64_t cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
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
    uint64_t took = clock_now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    self->last_cpu_ns += took;
    if (interrupt->debug == EXECUTION) {
        lwp_budget_spend(&self->budget, LWP_COST_SAMPLES, took + lwp_stop_cost_trap());
    } else if (sampler_shares(sampler, interrupt->debug)) {
        lwp_budget_spend(&self->budget, LWP_COST_TRIALS, took + lwp_stop_cost_trap());
        /* at once: a thread that mostly waits is hardly ever sampled */
        lwp_sharing_choose(&sampler->sharing, &sampler->registers, self, clock_now(CLOCK_MONOTONIC),
                           sampler_affords_trial(self, cpu));
        lwp_sharing_arm(&sampler->sharing, &sampler->registers, self);
    } else {
        lwp_budget_spend(&self->budget, LWP_COST_WATCHES, took + lwp_stop_cost_trap());
    }
}

/* The interrupted stack may be a small one (a coroutine's, an 8 KiB sigaltstack), and unwinding takes a few KiB. */
static void sampler_on_own_stack(struct interrupt *interrupt)
{
    void *top = interrupt->sampler->stack + STACK_BYTES;
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

void lwp_sampler_handler(int signal, siginfo_t *info, void *ucontext)
{
    int saved = errno;
    struct lwp_thread *self = lwp_thread_self();
    struct interrupt interrupt = {.self = self, .sampler = self ? self->sampler : NULL, .info = info,
                                  .context = ucontext, .debug = lwp_debug_sender(signal, info)};
    bool framed = interrupt.sampler && lwp_watches_framed(&interrupt.sampler->watches);
    bool watch = interrupt.debug >= 0 && interrupt.debug != EXECUTION;
    /* late: this handler itself uses the bytes (errno, its stack, return addresses), and would again and again */
    bool late = interrupt.debug >= 0 && (watch || framed) && lwp_timer_is_late(info);
    if (interrupt.sampler && interrupt.debug == EXECUTION && !late)
        lwp_debug_disarm(&interrupt.sampler->registers, EXECUTION); /* or it would stop there again */
    bool looks = interrupt.sampler && self->attached && !self->busy && !late;
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
    lwp_own_breakpoints_start();
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
    struct sampler *sampler = mmap(NULL, sizeof *sampler, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sampler == MAP_FAILED)
        return false;
    sampler->cache = lwp_code_cache_new();
    double frequency = sampler_options.frequency > 0 ? sampler_options.frequency
                       : sampler_options.all         ? FREQUENCY_MOST
                                                     : FREQUENCY_FIRST;
    sampler->base_period_ns = (uint64_t)(1e9 / frequency) - 2999; /* not round */
    sampler->period_ns = sampler->base_period_ns;
    lwp_watches_start(&sampler->watches, sampler_kind == LWP_TIMER_SIGTRAP ? sampler_options.verdicts : 0);
    lwp_sharing_start(&sampler->sharing, self, sampler->watches.verdicts);
    self->budget = (struct lwp_budget){.share = sampler_options.max_overhead, .watches = sampler->watches.verdicts};
    self->random ^= (uint32_t)self->tid * 2654435761u;
    self->sampler = sampler;
    if (sampler->cache && sampler_hardware)
        sampler->pmu = lwp_pmu_start(self->tid);
    else if (sampler->cache)
        sampler->timer = lwp_timer_start(sampler_kind, self->tid, sampler->period_ns);
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
    struct sampler *sampler = self->sampler;
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
    struct sampler *sampler = self->sampler;
    if (!sampler)
        return;
    if (sampler->pmu)
        sampler_stop_hardware(sampler->pmu);
    else
        lwp_timer_stop(sampler->timer);
    sample_write_pending(self, sampler);
    lwp_watches_finish(&sampler->watches, self);
    lwp_sharing_finish(&sampler->sharing, self);
    lwp_debug_close(&sampler->registers);
    sampler_release(self);
}

void lwp_sampler_forget(struct lwp_thread *self)
{
    struct sampler *sampler = self->sampler;
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
