/* The path of a sample: interrupt -> rate -> locate -> address -> neighbours -> watchpoints -> write, all of it in lwp_sample_take.
 *
 * When a load stalls, the interrupt lands on the instruction after it (97-99.9 % of the time), so the CPU time since the
 * last sample belongs to the memory instruction that ran just before the saved ip (predecessors.c). Its address comes from the
 * saved registers when the instruction did not change them (undo), else from walking forward to its next execution
 * (forward_walk.c), at last from an execution breakpoint on it, for which the sample stays pending until the next one.
 * Beside it a few accesses further on are kept without cost: they have no bias to line starts and show what is used
 * together. An address that is not certain is not reported. */
#include "collector/light/sampling/sample.h"

#include "base/random.h"
#include "collector/code/charge.h"
#include "collector/light/code/modules.h"
#include "collector/light/heap/home.h"
#include "collector/light/own/perf_signal.h"
#include "collector/light/own/process.h"
#include "collector/light/own/run.h"
#include "collector/light/sampling/debugger.h"
#include "collector/light/sampling/rate.h"
#include "collector/light/sampling/stop_cost.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STOPPED_NS = 20000000, RCX = 1, RSI = 6, RDI = 7 };

/* ---- write ---- */

static void sample_put(struct lwp_thread *self, const struct lwps_sample *sample)
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

/* A load of a page that was never written waits for no memory, however long the code around it takes. */
static void sample_weigh(struct lwps_sample *sample)
{
    struct lwps_access *access = &sample->access[0];
    if (sample->kind != LWPS_SAMPLE_STALL || !(access->flags & LWPS_ACCESS_KNOWN) || access->home != LWPS_HOME_ADDRESS ||
        access->source == LWPS_SOURCE_HARDWARE || !lwp_home_is_zeros(access->address))
        return;
    access->flags &= (uint8_t)~LWPS_ACCESS_WEIGHTED;
    sample->kind = LWPS_SAMPLE_COMPUTE;
}

void lwp_sample_write(struct lwp_thread *self, struct lwp_sampler *sampler)
{
    lwp_watching_end_break(&sampler->watching);
    if (sampler->waiting) {
        sample_weigh(&sampler->pending);
        sample_put(self, &sampler->pending);
    }
    sampler->waiting = false;
}

/* ---- interrupt ---- */

/* A thread that did not run for a while slept, or was stopped by somebody who now has the process, if it did not just have to
 * leave the processor to others: on a busy machine all threads do all the time, and to look who has the process costs 50 us. */
static bool sample_waited(struct lwp_sampler *sampler)
{
    struct rusage usage;
    if (syscall(SYS_getrusage, RUSAGE_THREAD, &usage))
        return true;
    bool waited = usage.ru_nvcsw != sampler->waits;
    sampler->waits = usage.ru_nvcsw;
    return waited;
}

static bool sample_is_debugged(struct lwp_sampler *sampler, uint64_t time, uint64_t ran_ns)
{
    uint64_t last = sampler->last_ns;
    sampler->last_ns = time;
    return last && time - last > ran_ns + STOPPED_NS && sample_waited(sampler) && lwp_debugger_is_here();
}

/* ---- locate ---- */

/* False: code that cannot be decoded. Without bounds (JIT code, no unwind table, or a late signal: the thread is elsewhere by now) it
 * is not unwound either. */
static bool sample_locate(const struct lwp_interrupt *interrupt, struct lwp_code_cache *cache, struct lwp_frames *frames,
                          struct lwp_point *point)
{
    const uint64_t ip = lwp_interrupt_ip(interrupt);
    point->location = (struct lwp_code_location){0};
    point->flags = (uint64_t)interrupt->context->uc_mcontext.gregs[REG_EFL];
    const bool decoded = !lwp_perf_signal_is_late(interrupt->info) && lwp_point_find(cache, ip, point);
    const bool known = point->location.low != 0;
    if (known)
        lwp_modules_see(ip);
    lwp_frames_take(frames, interrupt->context, known);
    if (!known)
        return false;
    lwp_registers_take(&point->registers, interrupt->context);
    return decoded;
}

/* ---- address ---- */

/* Finds the call path and the access that the time is charged to. Returns its instruction where its address is not known yet, else 0. */
static uint64_t sample_charge(struct lwp_thread *self, struct lwp_code_cache *cache, const struct lwp_frames *frames,
                              const struct lwp_point *point, struct lwps_sample *sample)
{
    if (point->location.low)
        sample->context = lwp_frames_context(self, frames);
    uint64_t wanted = lwp_point_charge(cache, point, sample);
    for (unsigned i = 0; i < sample->access_count; i++) {
        struct lwps_access *access = &sample->access[i];
        if (access->flags & LWPS_ACCESS_KNOWN)
            lwp_home_find(self, frames, access->address, access->source, access);
    }
    return wanted;
}

/* What hardware does not know of an access: the path to it, its width and its home. */
static void sample_complete(struct lwp_thread *self, struct lwp_sampler *sampler, struct lwps_sample *sample)
{
    const struct lwp_code_location *location = lwp_code_location_find(sampler->cache, sample->ip);
    struct lwps_access *access = &sample->access[0];
    if (location->low) {
        lwp_modules_see(sample->ip);
        sample->context = lwp_frames_context_of(self, &sampler->frames, location->low, location->high);
    }
    if (!sample->access_count)
        return;
    if (location->decoded) {
        const struct lwp_insn *insn = lwp_code_at(sampler->cache, sample->ip, location->high);
        if (access->address - sample->ip < insn->length) { /* a page of code that was not there */
            *access = (struct lwps_access){0};
            sample->access_count = 0;
            sample->kind = LWPS_SAMPLE_UNKNOWN;
            return;
        }
        const struct lwp_insn_access decoded = lwp_insn_access(insn, 0);
        access->flags |= lwp_access_record(&decoded).flags;
        access->bytes = insn->load || insn->store ? insn->bytes : 0;
        sample->kind = insn->store && !insn->load ? LWPS_SAMPLE_STORE : sample->kind;
    }
    lwp_home_find(self, &sampler->frames, access->address, LWPS_SOURCE_HARDWARE, access);
}

/* What hardware measured until `now_ns`; of several samples the last one stays in `sample`. */
static void sample_complete_all(struct lwp_thread *self, struct lwp_sampler *sampler, uint64_t now_ns, struct lwps_sample *sample)
{
    for (struct lwps_sample next; lwp_pmu_take(sampler->pmu, now_ns, &next); *sample = next) {
        sample_complete(self, sampler, sample);
        sample_put(self, sample);
    }
    sample_complete(self, sampler, sample);
}

/* After the walk: the address of `wanted` if the walk came to it. Returns the instruction that only a breakpoint can help with, or 0. */
static uint64_t sample_address(struct lwp_thread *self, struct lwp_sampler *sampler, const struct lwp_point *point, uint64_t wanted,
                               const struct lwp_forward_walk *ahead, struct lwps_sample *sample)
{
    if (!wanted)
        return 0;
    if (ahead->found) {
        lwp_home_find(self, &sampler->frames, ahead->found_address, LWPS_SOURCE_FORWARD, &sample->access[0]);
        return 0;
    }
    const struct lwp_insn *insn = lwp_code_at(sampler->cache, wanted, point->location.high);
    return insn->gather || insn->rep_string || insn->segment == LWP_SEGMENT_GS ? 0 : wanted;
}

/* ---- neighbours ---- */

/* Any step of what it is about to copy or fill may be watched; one step, since it would stop at each of several. */
static void sample_choose_of_rep(const struct lwp_point *point, bool store, uint32_t *random, struct lwp_walk_choice *choice)
{
    enum { FLAG_DIRECTION = 0x400 };
    const struct lwp_insn *insn = &point->insn;
    uint64_t steps = point->registers.value[RCX];
    bool copies_or_fills = insn->store || !(insn->spoils >> RDI & 1); /* others compare and may end any time */
    if (!choice->from || point->flags & FLAG_DIRECTION || steps == 0 || !(store ? insn->store : insn->load) || !copies_or_fills)
        return;
    uint32_t step = lwp_random_below(random, steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX);
    choice->access = (struct lwp_insn_access){.ip = insn->ip,
                                              .bytes = insn->bytes,
                                              .load = !store,
                                              .store = store,
                                              .address = point->registers.value[store ? RDI : RSI] + (uint64_t)step * insn->bytes};
    choice->seen = choice->sites = 1;
    choice->site[0] = (struct lwp_walk_site){.ip = insn->ip, .count = 1};
}

/* The accesses to come: some are kept without cost, one store and one load may get a watchpoint. */
static void sample_look_ahead(struct lwp_sampler *sampler, const struct lwp_point *point, uint64_t wanted, uint32_t *random,
                              struct lwp_forward_walk *ahead)
{
    if (!point->insn.rep_string)
        ahead->skip = lwp_random_below(random, LWP_DITHER_MOST);
    lwp_watches_choose(&sampler->watching.watches, random, &ahead->store.from, &ahead->load.from);
    ahead->wanted = wanted;
    if (!point->insn.rep_string) {
        lwp_walk_forward(sampler->cache, &point->location, &point->registers, point->flags, ahead, random);
        return;
    }
    ahead->path_count = 1;
    sample_choose_of_rep(point, true, random, &ahead->store);
    sample_choose_of_rep(point, false, random, &ahead->load);
}

static void sample_add_neighbours(struct lwp_thread *self, const struct lwp_frames *frames, const struct lwp_forward_walk *ahead,
                                  struct lwps_sample *sample)
{
    for (unsigned i = 0; i < ahead->kept_count; i++) {
        struct lwps_access *access = &sample->access[sample->access_count++];
        *access = lwp_access_record(&ahead->kept[i]);
        lwp_home_find(self, frames, ahead->kept[i].address, LWPS_SOURCE_DITHERED, access);
    }
}

/* ---- watchpoints ---- */

/* Whether the thread was in a string instruction, or had just left that or another which armed registers slow. */
static bool sample_is_prone(struct lwp_code_cache *cache, const struct lwp_point *point)
{
    const struct lwp_code_location *location = &point->location;
    if (point->insn.rep_string && lwp_stop_cost_slows(&point->insn))
        return true;
    return location->before && lwp_stop_cost_slows(lwp_code_at(cache, location->before, location->high));
}

/* On the stack of a function to come its frame is not known, and the frames of those that returned before are gone. */
static void sample_forget_frame(const struct lwp_frames *frames, const struct lwp_walk_path *path, struct lwps_access *access)
{
    bool here = !path->returned && !path->calls;
    if (here || access->home != LWPS_HOME_STACK || access->address >= (path->returned ? frames->cfas[path->returned - 1] : frames->sp))
        return;
    access->home_id = 0;
    access->home_base = access->address;
}

static void sample_offer(struct lwp_thread *self, struct lwp_sampler *sampler, const struct lwp_forward_walk *ahead,
                         const struct lwp_walk_choice *choice, const struct lwps_sample *sample, uint64_t cpu_ns)
{
    if (!choice->seen)
        return;
    struct lwp_watch_candidate candidate = {
        .time = sample->time, .weight = sample->weight, .access = lwp_access_record(&choice->access), .element = choice->access.element};
    uint32_t contexts[LWP_WALK_PATHS];
    for (unsigned i = 0; i < ahead->path_count; i++)
        contexts[i] =
            lwp_frames_context_to_come(self, &sampler->frames, ahead->paths[i].returned, ahead->paths[i].call, ahead->paths[i].calls);
    candidate.context = contexts[choice->path];
    candidate.contexts = contexts;
    lwp_home_find(self, &sampler->frames, choice->access.address, LWPS_SOURCE_FORWARD, &candidate.access);
    sample_forget_frame(&sampler->frames, &ahead->paths[choice->path], &candidate.access);
    lwp_watching_offer(&sampler->watching, self, &candidate, choice, cpu_ns);
}

/* ---- the path ---- */

void lwp_sample_take(const struct lwp_interrupt *interrupt)
{
    struct lwp_thread *self = interrupt->self;
    struct lwp_sampler *sampler = interrupt->sampler;
    struct lwp_watching *watching = &sampler->watching;
    struct lwps_sample *sample = &sampler->pending;
    struct lwp_point point;
    struct lwp_forward_walk ahead = {0};
    const uint64_t cpu_ns = lwp_clock(CLOCK_THREAD_CPUTIME_ID), now_ns = lwp_clock(CLOCK_MONOTONIC);
    uint64_t wanted = 0, breakpoint = 0;

    lwp_watching_charge_armed(watching, self, &lwp_stop_costs.armed, cpu_ns);
    lwp_sample_write(self, sampler); /* the one before: its breakpoint was not hit */
    uint64_t ran_ns = cpu_ns - self->last_cpu_ns, weight = lwp_rate_weight(self, sampler, ran_ns);
    lwp_watching_keep(watching, self, cpu_ns);
    lwp_watching_begin(watching, self);
    *sample = (struct lwps_sample){
        .time = now_ns, .weight = (uint64_t)((double)weight * lwp_run_scale() * lwp_thread_scale(self)), .ip = lwp_interrupt_ip(interrupt)};
    sampler->waiting = !sampler->pmu || lwp_pmu_take(sampler->pmu, now_ns, sample);
    sampler->debugged = sample_is_debugged(sampler, sample->time, ran_ns);
    bool decoded = sampler->waiting && sample_locate(interrupt, sampler->cache, &sampler->frames, &point);
    if (sampler->waiting && sampler->pmu)
        sample_complete_all(self, sampler, now_ns, sample);
    else if (sampler->waiting)
        wanted = sample_charge(self, sampler->cache, &sampler->frames, &point, sample);
    if (decoded) {
        lwp_watching_charge_slowed(watching, self, sample_is_prone(sampler->cache, &point), weight, cpu_ns);
        sample_look_ahead(sampler, &point, wanted, &self->random, &ahead);
        breakpoint = sample_address(self, sampler, &point, wanted, &ahead, sample);
        sample_add_neighbours(self, &sampler->frames, &ahead, sample);
        sample_offer(self, sampler, &ahead, &ahead.store, sample, cpu_ns);
        sample_offer(self, sampler, &ahead, &ahead.load, sample, cpu_ns);
    }
    lwp_watching_choose(watching, self, sample->time, cpu_ns);
    if (!breakpoint || lwp_sampling.kind != LWP_TIMER_SIGTRAP)
        lwp_sample_write(self, sampler);
    lwp_rate_next(self, sampler, cpu_ns);
    /* last, since what a register waits for may be in a library that we use */
    if (sampler->waiting && !lwp_watching_break_at(watching, self, breakpoint))
        lwp_sample_write(self, sampler);
    lwp_watching_arm(watching, self);
    if (sampler->pmu)
        lwp_pmu_drop(sampler->pmu);
}

void lwp_sample_hit(const struct lwp_interrupt *interrupt)
{
    struct lwp_thread *self = interrupt->self;
    struct lwp_sampler *sampler = interrupt->sampler;
    struct lwps_access *access = &sampler->pending.access[0];
    uint64_t ip = lwp_interrupt_ip(interrupt), address;
    if (!sampler->waiting || ip != access->ip)
        return;
    struct lwp_registers registers;
    lwp_registers_take(&registers, interrupt->context);
    const struct lwp_code_location *location = lwp_code_location_find(sampler->cache, ip);
    lwp_frames_take(&sampler->frames, interrupt->context, true);
    if (location->decoded && lwp_insn_address(lwp_code_at(sampler->cache, ip, location->high), &registers, &address))
        lwp_home_find(self, &sampler->frames, address, LWPS_SOURCE_BREAKPOINT, access);
    lwp_sample_write(self, sampler);
}
