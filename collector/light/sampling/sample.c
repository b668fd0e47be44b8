/* From a timer interrupt to a sample record.
 *
 * When a load stalls, the interrupt lands on the instruction after it (97-99.9 % of the time), so the CPU time since the
 * last sample belongs to the memory instruction that ran just before the saved ip (predecessors.c). Its address comes from the
 * saved registers when the instruction did not change them, else from walking forward to its next execution (walk.c), at
 * last from an execution breakpoint on it, for which the sample waits until the next one (debug_registers.c).
 * Beside it a few accesses further on are kept without weight: they have no bias to line starts and show what is used
 * together. An address that is not certain is not reported. */
#define _GNU_SOURCE
#include "collector/light/sampling/sample.h"

#include "base/random.h"
#include "collector/light/code/modules.h"
#include "collector/light/code/predecessors.h"
#include "collector/light/code/walk.h"
#include "collector/light/sampling/stop_cost.h"

#include <ucontext.h>

enum { DITHER_MOST = 48, SLOWED_MEMORY_NS = 500000000, SLOWED_CREDIT_NS = 10000000 };

/* The address an instruction just used, when it did not overwrite what the address is made of. */
static bool sample_undo(const struct lwp_insn *insn, const struct lwp_registers *registers, uint64_t *address)
{
    if ((insn->base <= 15 && insn->spoils >> insn->base & 1) || (insn->index <= 15 && insn->spoils >> insn->index & 1))
        return false;
    return lwp_walk_address(insn, registers, address);
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

static struct lwps_access sample_access(const struct lwp_walk_access *access)
{
    return (struct lwps_access){.ip = access->ip,
                                .bytes = access->bytes,
                                .flags = lwp_access_flags(access->load, access->store, access->vector, access->floating)};
}

static bool sample_affords_watch(const struct lwp_thread *self, uint64_t cpu_ns)
{
    const struct lwp_sampler *sampler = self->sampler;
    return !lwp_debug_given_up() && lwp_budget_affords_watch(&self->budget, cpu_ns, sampler->sharing.reads);
}

static void sample_offer(struct lwp_thread *self, struct lwp_sampler *sampler, const struct lwp_walk_choice *choice,
                         const struct lwps_sample *sample, uint64_t cpu_ns)
{
    if (!choice->seen)
        return;
    struct lwp_candidate candidate = {.time = sample->time,
                                      .weight = sample->weight,
                                      .context = lwp_frames_context(self, &sampler->frames),
                                      .access = sample_access(&choice->access),
                                      .element = choice->access.element};
    lwp_frames_place(self, &sampler->frames, choice->access.address, LWPS_SOURCE_FORWARD, &candidate.access);
    lwp_sharing_see(&sampler->sharing, self, &candidate);
    lwp_watches_offer(&sampler->watches, self, &candidate, choice, sample_affords_watch(self, cpu_ns));
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
    uint32_t step = lwp_random_below(&self->random, steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX);
    choice->access = (struct lwp_walk_access){
        .ip = insn->ip, .bytes = insn->bytes, .load = !store, .store = store,
        .address = registers->value[store ? RDI : RSI] + (uint64_t)step * insn->bytes};
    choice->seen = choice->sites = 1;
    choice->site[0] = (struct lwp_walk_site){.ip = insn->ip, .count = 1};
}

/* Whether the thread was in a string instruction, or had just left that or another which armed registers slow. */
static bool sample_is_prone(struct lwp_sampler *sampler, const struct lwp_place *place)
{
    const struct lwp_insn *now = lwp_code_at(sampler->cache, place->ip, place->high);
    if (now->rep_string && lwp_stop_cost_slows(now))
        return true;
    return place->before && lwp_stop_cost_slows(lwp_code_at(sampler->cache, place->before, place->high));
}

/* Some instructions run several times as long while a register is armed. All else runs as before: with f their part of
 * the time without, time at them is too much by all of it, less f / (1 - f) of the time elsewhere. That is paid for by
 * watching nothing for a while. */
static void sample_slowed(struct lwp_thread *self, struct lwp_sampler *sampler, const struct lwp_place *place,
                          const struct lwps_sample *sample, uint64_t cpu_ns)
{
    struct lwp_slowed *slowed = &sampler->slowed;
    const bool prone = sample_is_prone(sampler, place);
    const uint64_t weight = sample->weight;
    const bool watches = lwp_watches_busy(&sampler->watches), trial = lwp_sharing_busy(&sampler->sharing);
    if (!watches && !trial) {
        if (slowed->free_ns > SLOWED_MEMORY_NS) {
            slowed->free_ns /= 2;
            slowed->free_prone_ns /= 2;
        }
        slowed->free_ns += weight;
        slowed->free_prone_ns += prone ? weight : 0;
        return;
    }
    if (prone)
        slowed->owed_ns += (int64_t)weight;
    else if (slowed->owed_ns > -SLOWED_CREDIT_NS)
        slowed->owed_ns -= (int64_t)((double)weight * (double)slowed->free_prone_ns /
                                     (double)(slowed->free_ns - slowed->free_prone_ns + 1));
    if (slowed->owed_ns <= 0)
        return;
    lwp_budget_spend_armed(&self->budget, (uint64_t)slowed->owed_ns, watches, trial);
    slowed->owed_ns = 0;
    if (!sample_affords_watch(self, cpu_ns))
        lwp_watches_give_up(&sampler->watches, &sampler->registers, self);
    if (!lwp_budget_affords_trial(&self->budget, cpu_ns))
        lwp_sharing_lose(&sampler->sharing, &sampler->registers);
}

/* The accesses to come: some are kept without weight, one store and one load may be watched. */
static void sample_ahead(struct lwp_thread *self, struct lwp_sampler *sampler, const struct lwp_place *place,
                         const struct lwp_registers *registers, uint64_t flags, struct lwp_walk *walk)
{
    walk->skip = lwp_random_below(&self->random, DITHER_MOST);
    lwp_watches_choose(&sampler->watches, &self->random, &walk->store.from, &walk->load.from);
    lwp_walk_forward(sampler->cache, place, registers, flags, walk, &self->random);
}

static void sample_keep(struct lwp_thread *self, struct lwp_sampler *sampler, const struct lwp_walk *walk,
                        struct lwps_sample *sample, uint64_t cpu_ns)
{
    for (unsigned i = 0; i < walk->kept_count; i++) {
        const struct lwp_walk_access *kept = &walk->kept[i];
        struct lwps_access *access = &sample->access[sample->access_count++];
        *access = sample_access(kept);
        lwp_frames_place(self, &sampler->frames, kept->address, LWPS_SOURCE_DITHERED, access);
    }
    sample_offer(self, sampler, &walk->store, sample, cpu_ns);
    sample_offer(self, sampler, &walk->load, sample, cpu_ns);
}

static void sample_rep_ahead(struct lwp_thread *self, struct lwp_sampler *sampler, const struct lwp_registers *registers,
                             uint64_t flags, const struct lwp_insn *now, const struct lwps_sample *sample, uint64_t cpu_ns)
{
    struct lwp_walk_choice store, load;
    lwp_watches_choose(&sampler->watches, &self->random, &store.from, &load.from);
    sample_choose_of_rep(self, registers, flags, now, true, &store);
    sample_choose_of_rep(self, registers, flags, now, false, &load);
    sample_offer(self, sampler, &store, sample, cpu_ns);
    sample_offer(self, sampler, &load, sample, cpu_ns);
}

uint64_t lwp_sample_take(struct lwp_thread *self, struct lwp_sampler *sampler, void *ucontext,
                         struct lwps_sample *sample, uint64_t cpu_ns)
{
    ucontext_t *context = ucontext;
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
    sample_slowed(self, sampler, place, sample, cpu_ns);

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

void lwp_sample_write(struct lwp_thread *self, const struct lwps_sample *sample)
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
static void sample_complete(struct lwp_thread *self, struct lwp_sampler *sampler, struct lwps_sample *sample)
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

void lwp_sample_take_measured(struct lwp_thread *self, struct lwp_sampler *sampler, void *ucontext, bool late,
                              uint64_t now_ns, struct lwps_sample *sample, uint64_t cpu_ns)
{
    ucontext_t *context = ucontext;
    uint64_t ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP], flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
    bool known = !late && lwp_place_find(sampler->cache, ip)->low;
    if (known)
        lwp_frames_take(&sampler->frames, context);
    else
        lwp_frames_none(&sampler->frames, context);
    for (struct lwps_sample next; lwp_pmu_take(sampler->pmu, now_ns, &next); *sample = next) {
        sample_complete(self, sampler, sample);
        lwp_sample_write(self, sample);
    }
    sample_complete(self, sampler, sample);
    const struct lwp_place *place = known ? lwp_place_find(sampler->cache, ip) : NULL;
    if (!known || !place->decoded)
        return;
    sample_slowed(self, sampler, place, sample, cpu_ns);
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
