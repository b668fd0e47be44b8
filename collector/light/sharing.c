/* Each sample shows the store and the load that it chose (watch.c: any of those ahead with the same chance) on a board.
 *
 * Beside: an own access to a line that another thread used within the last samples, one of the two a store, is written
 * down at once. No register is needed, and other bytes of the line count as well as the same: false sharing.
 *
 * Trials: a thread takes one of the stores that another one has shown lately, any of them with the same chance (the
 * latest is what this thread has just read), and watches those bytes itself until it uses them, or has not for a while.
 * Loading them, it is the reader of what was stored (`overlap` tells, `second` is the load). How often that is so is the
 * analysis's question, and it asks for each pair of threads apart: so threads that were seen to be read from are tried
 * more often than others, but all again and again. An address is watched, not one store: where several stores go to it
 * before it is read, all count as read.
 *
 * Bytes on the stack are only shown to the thread itself: they are hardly ever shared. */
#define _GNU_SOURCE
#include "collector/light/sharing.h"

#include "base/random.h"
#include "collector/light/process.h"
#include "collector/light/system_calls.h"
#include "collector/light/watch_trap.h"
#include "collector/light/watched_memory.h"

#include <ucontext.h>

enum { ARM_NS = 3000, TRIED_MOST = 64 };
/* A trial must give both threads time to get their turn on a busy machine. */
static const uint64_t trial_ns = 40000000, beside_ns = 5000000, fresh_ns = 100000000;

void lwp_sharing_start(struct lwp_sharing *sharing, const struct lwp_thread *self, uint8_t verdicts)
{
    bool on = verdicts & LWPS_VERDICT_SHARING;
    *sharing = (struct lwp_sharing){.on = on,
                                    .records_stores = !(verdicts & LWPS_VERDICT_DEAD_STORE),
                                    .slot = on ? lwp_board_join((uint32_t)self->tid) : -1};
}

static void sharing_write(struct lwp_thread *self, struct lwps_watch *record, enum lwps_watch_end end)
{
    record->verdicts = LWPS_VERDICT_SHARING;
    record->end = (uint8_t)end;
    record->end_time = lwp_clock(CLOCK_MONOTONIC);
    lwps_put_watch(&self->file, record);
}

void lwp_sharing_see(struct lwp_sharing *sharing, struct lwp_thread *self, const struct lwp_frames *frames,
                     const struct lwp_walk_access *chosen, uint64_t time, uint64_t weight)
{
    if (!sharing->on || sharing->slot < 0)
        return;
    struct lwp_board_entry own = {.time = time, .weight = weight, .tid = (uint32_t)self->tid}, other;
    own.access =
        (struct lwps_access){.ip = chosen->ip,
                             .bytes = chosen->bytes,
                             .flags = lwp_access_flags(chosen->load, chosen->store, chosen->vector, chosen->floating)};
    lwp_frames_place(self, frames, chosen->address, LWPS_SOURCE_FORWARD, &own.access);
    if (own.access.home == LWPS_HOME_STACK)
        return;
    own.context = lwp_frames_context(self, frames);
    lwp_board_show(sharing->slot, &own);
    if (chosen->store && sharing->records_stores) {
        struct lwps_watch record = {
            .time = time, .weight = weight, .first_context = own.context, .first = own.access};
        sharing_write(self, &record, lwp_shared_has(own.access.address) ? LWPS_WATCH_FOREIGN : LWPS_WATCH_NOT_WATCHED);
    }
    uint64_t reach = beside_ns + 2 * weight;
    if (sharing->hit_time == time ||
        !lwp_board_beside(sharing->slot, &own.access, time > reach ? time - reach : 0, &other))
        return;
    sharing->hit_time = time;
    sharing->together = true;
    struct lwps_watch record = {.time = other.time,
                                .weight = weight,
                                .overlap = (uint16_t)lwp_overlap(&other.access, &own.access),
                                .first_tid = other.tid,
                                .first_context = other.context,
                                .second_context = own.context,
                                .first = other.access,
                                .second = own.access};
    sharing_write(self, &record, LWPS_WATCH_DECIDED);
}

/* ---- trials ---- */

static void trial_end(struct lwp_sharing *sharing, struct lwp_debug_registers *registers, struct lwp_thread *self,
                      enum lwps_watch_end end)
{
    if (sharing->trial == LWP_TRIAL_NONE)
        return;
    if (registers)
        lwp_debug_disarm(registers, LWP_SHARING_REGISTER);
    sharing_write(self, &sharing->record, end);
    lwp_watched_leave(sharing->memory);
    sharing->trial = LWP_TRIAL_NONE;
    sharing->given_up = false;
    struct lwp_sharing_other *other = &sharing->others[sharing->other];
    bool read = end == LWPS_WATCH_DECIDED && sharing->record.second.flags & LWPS_ACCESS_LOAD;
    other->tried++;
    other->read += read;
    sharing->reads |= read;
    if (other->tried >= TRIED_MOST) { /* what was long ago counts less */
        other->tried /= 2;
        other->read /= 2;
    }
}

/* One of the other threads, by how often their stores were read here lately; -1: there is none. */
static int other_choose(struct lwp_sharing *sharing, uint32_t *random)
{
    enum { ONE = 1024 };
    unsigned used = lwp_board_used(), sum = 0;
    int chosen = -1;
    for (unsigned i = 0; i < used; i++) {
        uint32_t tid = (int)i == sharing->slot ? 0 : lwp_board_writer(i);
        if (!tid)
            continue;
        struct lwp_sharing_other *other = &sharing->others[i];
        if (other->tid != tid)
            *other = (struct lwp_sharing_other){.tid = tid};
        unsigned weight = ONE * (other->read + 1u) / (other->tried + 1u);
        sum += weight;
        if (lwp_random_below(random, sum) < weight)
            chosen = (int)i;
    }
    return chosen;
}

void lwp_sharing_choose(struct lwp_sharing *sharing, struct lwp_debug_registers *registers, struct lwp_thread *self,
                        uint64_t time, bool affordable)
{
    if (!sharing->on || sharing->slot < 0)
        return;
    if (sharing->trial != LWP_TRIAL_NONE) {
        uint8_t lost = lwp_watched_lost(sharing->memory);
        if (sharing->given_up || lost)
            trial_end(sharing, registers, self, lost ? (enum lwps_watch_end)lost : LWPS_WATCH_UNKNOWN);
        else if (time >= sharing->until)
            trial_end(sharing, registers, self, LWPS_WATCH_EVICTED);
        else
            return;
    }
    int from = affordable ? other_choose(sharing, &self->random) : -1;
    if (from < 0)
        return;
    if (!sharing->together) {
        sharing->together = true; /* whoever has the register gives it up at the next sample */
        return;
    }
    struct lwp_board_entry other;
    if (!lwp_board_store((unsigned)from, time > fresh_ns ? time - fresh_ns : 0, &self->random, &other))
        return;
    unsigned piece = 8;
    while (piece > other.access.bytes || other.access.address % piece)
        piece /= 2;
    if (piece == 0 || lwp_shared_has(other.access.address))
        return;
    sharing->memory = lwp_watched_enter(other.access.address);
    if (sharing->memory < 0)
        return;
    sharing->other = (unsigned)from;
    sharing->address = other.access.address;
    sharing->bytes = (uint8_t)piece;
    sharing->record = (struct lwps_watch){.time = time,
                                          .weight = other.weight,
                                          .first_tid = other.tid,
                                          .first_context = other.context,
                                          .first = other.access};
    sharing->until = time + trial_ns;
    sharing->trial = LWP_TRIAL_RESERVED;
}

void lwp_sharing_arm(struct lwp_sharing *sharing, struct lwp_debug_registers *registers, struct lwp_thread *self)
{
    if (sharing->trial != LWP_TRIAL_RESERVED)
        return;
    lwp_budget_spend(&self->budget, LWP_COST_TRIALS, ARM_NS);
    sharing->trial = LWP_TRIAL_OPEN;
    if (!lwp_debug_arm(registers, LWP_SHARING_REGISTER, LWP_DEBUG_ACCESS, sharing->address, sharing->bytes))
        trial_end(sharing, registers, self, LWPS_WATCH_NOT_WATCHED);
}

void lwp_sharing_trap(struct lwp_sharing *sharing, struct lwp_debug_registers *registers, struct lwp_thread *self,
                      struct lwp_code_cache *cache, struct lwp_frames *frames, void *ucontext)
{
    uint8_t lost = sharing->trial == LWP_TRIAL_NONE ? 0 : lwp_watched_lost(sharing->memory);
    if (sharing->trial != LWP_TRIAL_OPEN || lost) {
        lwp_debug_disarm(registers, LWP_SHARING_REGISTER);
        trial_end(sharing, registers, self, (enum lwps_watch_end)lost);
        return;
    }
    const greg_t *machine = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    struct lwp_registers after;
    struct lwp_trap trap;
    lwp_registers_take(&after, ucontext);
    const struct lwp_place *place = lwp_place_find(cache, (uint64_t)machine[REG_RIP]);
    enum lwp_trap_kind kind =
        lwp_trap_find(cache, place, &after, (uint64_t)machine[REG_EFL], sharing->address, sharing->bytes, &trap);
    if (kind != LWP_TRAP_ACCESS) {
        trial_end(sharing, registers, self, kind == LWP_TRAP_KERNEL ? LWPS_WATCH_KERNEL : LWPS_WATCH_UNKNOWN);
        return;
    }
    lwp_frames_take(frames, ucontext);
    struct lwps_watch *record = &sharing->record;
    record->second = (struct lwps_access){.ip = trap.ip,
                                          .bytes = trap.bytes,
                                          .flags = lwp_access_flags(trap.load, trap.store, trap.vector, trap.floating)};
    lwp_frames_place(self, frames, trap.address ? trap.address : sharing->address, LWPS_SOURCE_BREAKPOINT,
                     &record->second);
    record->second_context = lwp_frames_context(self, frames);
    unsigned overlap = lwp_overlap(&record->first, &record->second);
    record->overlap = (uint16_t)(overlap ? overlap : sharing->bytes);
    trial_end(sharing, registers, self, LWPS_WATCH_DECIDED);
}

void lwp_sharing_lose(struct lwp_sharing *sharing, struct lwp_debug_registers *registers)
{
    lwp_debug_disarm(registers, LWP_SHARING_REGISTER);
    sharing->given_up = sharing->trial == LWP_TRIAL_OPEN;
}

void lwp_sharing_finish(struct lwp_sharing *sharing, struct lwp_thread *self)
{
    trial_end(sharing, NULL, self, LWPS_WATCH_ENDED);
    lwp_sharing_forget(sharing);
}

void lwp_sharing_forget(struct lwp_sharing *sharing)
{
    lwp_board_leave(sharing->slot);
    *sharing = (struct lwp_sharing){.slot = -1};
}
