/* From a timer interrupt to a sample record.
 *
 * When a load stalls, the interrupt lands on the instruction after it (97-99.9 % of the time), so the CPU time since the
 * last sample belongs to the memory instruction that ran just before the saved ip (place.c). Its address comes from the
 * saved registers when the instruction did not change them, else from walking forward to its next execution (walk.c), at
 * last from an execution breakpoint on it, for which the sample waits until the next one (breakpoint.c).
 * Beside it a few accesses further on are kept without weight: they have no bias to line starts and show what is used
 * together. An address that is not certain is not reported. */
#define _GNU_SOURCE
#include "collector/light/sampler.h"

#include "collector/light/breakpoint.h"
#include "collector/light/heap.h"
#include "collector/light/modules.h"
#include "collector/light/timer.h"
#include "collector/light/unwind.h"
#include "collector/light/walk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { HEAP_PART = 40, HEAP_CREDIT_NS = 60000000, HEAP_THINNING_MOST = 1023 };
enum { STACK_BYTES = 64 * 1024, BREAKPOINT_ARM_NS = 12000 };
enum { DITHER_MOST = 48, REVIEW_SAMPLES = 64, FREQUENCY_FIRST = 1000, FREQUENCY_LEAST = 20, RED_ZONE = 128 };

/* How much of the budget samples may use: the rest is for the heap, start-up and what cannot be measured. */
static const double budget_part = 0.5;

struct sampler {
    struct lwp_code_cache *cache;
    struct lwp_timer *timer;
    uint64_t period_ns, base_period_ns;
    uint64_t review_own_ns;
    uint64_t heap_ns; /* spent in recording allocations */
    unsigned since_review;
    struct lwp_breakpoint breakpoint;
    struct lwps_sample pending; /* waits for the breakpoint */
    bool waiting;
    uint64_t ips[LWP_FRAMES_MAX + 1], cfas[LWP_FRAMES_MAX + 1];
    uint8_t stack[STACK_BYTES] __attribute__((aligned(64)));
};

static enum lwp_timer_kind sampler_kind;
static struct lwp_sampler_options sampler_options;

static uint64_t clock_now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- one access ---- */

struct frames {
    uint64_t ip, sp;
    unsigned count;
};

static void sample_stack_home(struct lwp_thread *self, const struct sampler *sampler, const struct frames *frames,
                              struct lwps_access *access)
{
    access->home = LWPS_HOME_STACK;
    access->home_base = access->address;
    for (unsigned i = 0; i < frames->count; i++) {
        if (access->address >= sampler->cfas[i])
            continue;
        /* ips[0] is the interrupted ip itself here: the frame and its callers */
        access->home_id = lwps_paths_intern(&self->contexts, &sampler->ips[i], frames->count + 1 - i);
        access->home_base = sampler->cfas[i];
        return;
    }
}

static void sample_place_address(struct lwp_thread *self, const struct sampler *sampler, const struct frames *frames,
                                 uint64_t address, enum lwps_source source, struct lwps_access *access)
{
    access->address = address;
    access->flags |= LWPS_ACCESS_KNOWN;
    access->source = (uint8_t)source;
    if (address >= self->stack_low && address < self->stack_high && address + RED_ZONE >= frames->sp)
        sample_stack_home(self, sampler, frames, access);
    else if (lwp_heap_find(address, &access->home_id, &access->home_base))
        access->home = LWPS_HOME_POOL;
}

static uint8_t access_flags(bool load, bool store, bool vector, bool floating)
{
    return (uint8_t)((load ? LWPS_ACCESS_LOAD : 0) | (store ? LWPS_ACCESS_STORE : 0) |
                     (vector ? LWPS_ACCESS_VECTOR : 0) | (floating ? LWPS_ACCESS_FLOAT : 0));
}

/* ---- registers ---- */

static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static void sample_registers(const ucontext_t *context, struct lwp_registers *registers)
{
    for (int i = 0; i < 16; i++)
        registers->value[i] = (uint64_t)context->uc_mcontext.gregs[register_of[i]];
    registers->known = 0xffff;
    registers->fs_base = (uint64_t)__builtin_thread_pointer();
    registers->fs_known = true;
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
static void sample_take_rep(struct lwp_thread *self, const struct sampler *sampler, const struct frames *frames,
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
        *access = (struct lwps_access){.ip = insn->ip, .bytes = insn->bytes, .flags = access_flags(load, store, false, false)};
        sample_place_address(self, sampler, frames, registers->value[rdi ? RDI : RSI], LWPS_SOURCE_UNDO, access);
    }
    sample->access[0].flags |= LWPS_ACCESS_WEIGHTED;
}

/* Returns the instruction whose address only a breakpoint can tell, or 0. */
static uint64_t sample_take(struct lwp_thread *self, struct sampler *sampler, ucontext_t *context,
                            struct lwps_sample *sample)
{
    struct lwp_registers registers;
    sample_registers(context, &registers);
    uint64_t flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
    const struct lwp_place *place = lwp_place_find(sampler->cache, sample->ip);
    struct frames frames = {.ip = sample->ip, .sp = registers.value[4]};
    if (!place->low)
        return 0; /* JIT or code without unwind tables: neither decoded nor unwound */
    lwp_modules_see(sample->ip);

    sampler->ips[0] = sample->ip;
    frames.count = lwp_unwind_signal(context, sampler->ips + 1, sampler->cfas, LWP_FRAMES_MAX);
    if (frames.count)
        lwp_modules_see(sampler->ips[frames.count]); /* unwinding ends in an image not known yet: it will be next time */
    sample->context = lwps_paths_intern(&self->contexts, sampler->ips + 1, frames.count);
    if (!place->decoded)
        return 0;

    struct lwps_access *first = &sample->access[0];
    struct lwp_insn now = *lwp_code_at(sampler->cache, sample->ip, place->high);
    if (now.rep_string) {
        sample_take_rep(self, sampler, &frames, &registers, &now, sample);
        return 0;
    }
    bool sure, breakable = false;
    uint64_t charged = lwp_place_access(place, flags, &sure);
    sample->kind = charged ? LWPS_SAMPLE_STALL : place->store ? LWPS_SAMPLE_STORE : LWPS_SAMPLE_COMPUTE;
    struct lwp_walk walk = {0};
    self->random = self->random * 1664525u + 1013904223u;
    walk.skip = (self->random >> 8) % DITHER_MOST;
    if (sample->kind != LWPS_SAMPLE_COMPUTE) {
        walk.wanted = charged ? charged : place->store;
        struct lwp_insn insn = *lwp_code_at(sampler->cache, walk.wanted, place->high);
        if (insn.store && !insn.load && place->store)
            sample->kind = LWPS_SAMPLE_STORE;
        *first = (struct lwps_access){.ip = insn.ip, .bytes = insn.bytes,
                                      .flags = LWPS_ACCESS_WEIGHTED |
                                               access_flags(insn.load, insn.store, insn.vector, insn.floating)};
        sample->access_count = 1;
        uint64_t address;
        if (charged && sure && sample_undo(&insn, &registers, &address)) {
            sample_place_address(self, sampler, &frames, address, LWPS_SOURCE_UNDO, first);
            walk.wanted = 0;
        }
        breakable = !insn.gather && !insn.rep_string && insn.segment != LWP_SEGMENT_GS;
    }
    lwp_walk_forward(sampler->cache, place, &registers, flags, &walk, &self->random);
    if (walk.found)
        sample_place_address(self, sampler, &frames, walk.found_address, LWPS_SOURCE_FORWARD, first);
    for (unsigned i = 0; i < walk.kept_count; i++) {
        const struct lwp_walk_access *kept = &walk.kept[i];
        struct lwps_access *access = &sample->access[sample->access_count++];
        *access = (struct lwps_access){.ip = kept->ip, .bytes = kept->bytes,
                                       .flags = access_flags(kept->load, kept->store, kept->vector, kept->floating)};
        sample_place_address(self, sampler, &frames, kept->address, LWPS_SOURCE_DITHERED, access);
    }
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

/* Whether or not its breakpoint was hit. */
static void sample_write_pending(struct lwp_thread *self, struct sampler *sampler)
{
    lwp_breakpoint_disarm(&sampler->breakpoint);
    if (sampler->waiting)
        sample_write(self, &sampler->pending);
    sampler->waiting = false;
}

static void sample_hit(struct lwp_thread *self, struct sampler *sampler, const ucontext_t *context)
{
    struct lwps_access *access = &sampler->pending.access[0];
    uint64_t ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP], address;
    if (!sampler->waiting || ip != access->ip)
        return;
    struct lwp_registers registers;
    sample_registers(context, &registers);
    const struct lwp_place *place = lwp_place_find(sampler->cache, ip);
    struct frames frames = {.ip = ip, .sp = registers.value[4]};
    if (place->decoded && lwp_walk_address(lwp_code_at(sampler->cache, ip, place->high), &registers, &address))
        sample_place_address(self, sampler, &frames, address, LWPS_SOURCE_BREAKPOINT, access);
    sample_write_pending(self, sampler);
}

/* Samples lost while an allocation was being recorded measure what recording costs. Past its part of the whole run only
 * some allocations are recorded, and the blocks of the others are unknown. The credit is for programs that build their
 * data at the start and then work on it: missing a part of those blocks would hide what all the rest is about. */
static void sampler_review_heap(struct lwp_thread *self, struct sampler *sampler, uint64_t cpu_ns)
{
    sampler->heap_ns += self->lost_in_heap * sampler->period_ns;
    self->lost_in_heap = 0;
    if (sampler->heap_ns <= HEAP_CREDIT_NS + cpu_ns / HEAP_PART)
        self->heap_thinning /= 2;
    else if (self->heap_thinning < HEAP_THINNING_MOST)
        self->heap_thinning = self->heap_thinning * 2 + 1;
}

/* Thins the samples out so that what they cost stays within the budget, and comes back when they got cheaper. */
static void sampler_review(struct lwp_thread *self, struct sampler *sampler, uint64_t cpu_ns)
{
    if (++sampler->since_review < REVIEW_SAMPLES)
        return;
    sampler_review_heap(self, sampler, cpu_ns);
    uint64_t cost = (self->own_ns - sampler->review_own_ns) / sampler->since_review;
    sampler->review_own_ns = self->own_ns;
    sampler->since_review = 0;
    uint64_t period = (uint64_t)((double)cost / (sampler_options.max_overhead * budget_part));
    if (period < sampler->base_period_ns)
        period = sampler->base_period_ns;
    if (period > 1000000000u / FREQUENCY_LEAST)
        period = 1000000000u / FREQUENCY_LEAST;
    /* never a round number, never the same twice: no lockstep with the program */
    period += period / 64 * (self->random >> 28);
    sampler->period_ns = period;
    lwp_timer_set_period(sampler->timer, period);
}

struct interrupt {
    struct lwp_thread *self;
    struct sampler *sampler;
    const siginfo_t *info;
    ucontext_t *context;
    bool hit; /* of the breakpoint */
};

static void sampler_interrupt(void *given)
{
    const struct interrupt *interrupt = given;
    struct lwp_thread *self = interrupt->self;
    struct sampler *sampler = interrupt->sampler;
    uint64_t cpu = clock_now(CLOCK_THREAD_CPUTIME_ID), breakpoint = 0;
    if (interrupt->hit) {
        sample_hit(self, sampler, interrupt->context);
    } else {
        sample_write_pending(self, sampler);
        sampler->pending = (struct lwps_sample){.time = clock_now(CLOCK_MONOTONIC),
                                                .weight = sample_weight(sampler, cpu - self->last_cpu_ns),
                                                .ip = (uint64_t)interrupt->context->uc_mcontext.gregs[REG_RIP]};
        sampler->waiting = true;
        if (!lwp_timer_is_late(interrupt->info))
            breakpoint = sample_take(self, sampler, interrupt->context, &sampler->pending);
        if (sampler_kind != LWP_TIMER_SIGTRAP || !breakpoint)
            sample_write_pending(self, sampler);
    }
    uint64_t end = clock_now(CLOCK_THREAD_CPUTIME_ID);
    self->own_ns += end - cpu + lwp_timer_delivery_ns(sampler_kind);
    if (interrupt->hit) {
        self->last_cpu_ns += end - cpu;
        return;
    }
    self->last_cpu_ns = end;
    sampler_review(self, sampler, end);
    if (sampler->waiting) { /* last, since what the breakpoint waits for may be in a library that we use */
        self->own_ns += BREAKPOINT_ARM_NS;
        if (!lwp_breakpoint_arm(&sampler->breakpoint, breakpoint))
            sample_write_pending(self, sampler);
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

void lwp_sampler_handler(int signal, siginfo_t *info, void *ucontext)
{
    int saved = errno;
    struct lwp_thread *self = lwp_thread_self();
    struct interrupt interrupt = {.self = self, .sampler = self ? self->sampler : NULL, .info = info,
                                  .context = ucontext, .hit = lwp_breakpoint_owns(signal, info)};
    if (interrupt.sampler && interrupt.hit)
        lwp_breakpoint_disarm(&interrupt.sampler->breakpoint);
    if (interrupt.sampler && self->attached && !self->busy) {
        self->busy++;
        sampler_on_own_stack(&interrupt);
        self->busy--;
    } else if (self && !interrupt.hit) {
        self->own_ns += lwp_timer_delivery_ns(sampler_kind);
        self->samples_lost++;
        self->lost_in_heap += self->busy != 0;
    }
    errno = saved;
}

/* ---- life ---- */

bool lwp_sampler_owns(int signal, const siginfo_t *info)
{
    return lwp_timer_owns(signal, info) || lwp_breakpoint_owns(signal, info);
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
    sampler_kind = lwp_timer_probe(options->timer);
    if (sampler_kind == LWP_TIMER_NONE) {
        snprintf(note, note_bytes, "no timer can sample here: perf_event_open and timer_create were both refused");
        return false;
    }
    if (sampler_kind != LWP_TIMER_SIGTRAP && !note[0])
        snprintf(note, note_bytes, "sampled by %s, since perf's synchronous task-clock is not permitted here",
                 sampler_kind == LWP_TIMER_ASYNC ? "perf's asynchronous task-clock" : "thread CPU timers");
    return true;
}

bool lwp_sampler_attach(struct lwp_thread *self)
{
    struct sampler *sampler = mmap(NULL, sizeof *sampler, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sampler == MAP_FAILED)
        return false;
    sampler->cache = lwp_code_cache_new();
    double frequency = sampler_options.frequency > 0 ? sampler_options.frequency : FREQUENCY_FIRST;
    sampler->base_period_ns = (uint64_t)(1e9 / frequency) - 2999; /* not round */
    sampler->period_ns = sampler->base_period_ns;
    self->random ^= (uint32_t)self->tid * 2654435761u;
    self->sampler = sampler;
    sampler->timer = sampler->cache ? lwp_timer_start(sampler_kind, self->tid, sampler->period_ns) : NULL;
    if (sampler->timer)
        return true;
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

void lwp_sampler_detach(struct lwp_thread *self)
{
    struct sampler *sampler = self->sampler;
    if (!sampler)
        return;
    lwp_timer_stop(sampler->timer);
    sample_write_pending(self, sampler);
    lwp_breakpoint_close(&sampler->breakpoint);
    sampler_release(self);
}

void lwp_sampler_forget(struct lwp_thread *self)
{
    struct sampler *sampler = self->sampler;
    if (!sampler)
        return;
    lwp_timer_forget(sampler->timer);
    lwp_breakpoint_forget(&sampler->breakpoint);
    sampler_release(self);
}
