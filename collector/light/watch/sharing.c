/* Each sample publishes the store and the load that it chose (watch.c: any of those ahead with the same chance).
 *
 * Beside: an own access to a line that another thread used within the last samples, one of the two a store, is recorded
 * at once. It needs no register, and finds false sharing too: other bytes of the line count as well as the same.
 *
 * Trials: a thread takes one of the stores that another one has published lately (not always the latest: that is what this
 * thread has just read) and watches those bytes itself until it uses them, or has not for a while. When it loads them, it
 * is the reader of what was stored (`overlap` are the bytes, `second` is the load). The analysis asks how often that is so for
 * each pair of threads and each page separately. So threads that were read from, and regions that were or where this thread
 * was seen to load, are tried more often than others: else nothing would be known of the one store in seven that is for
 * this thread. All are tried again and again. An address is watched, not one store: where several stores go to it before
 * it is read, all count as read.
 *
 * Accesses to the stack are not published: they are hardly ever shared. */
#include "collector/light/watch/sharing.h"

#include "base/random.h"
#include "collector/light/heap/home.h"
#include "collector/light/own/process.h"
#include "collector/light/own/watched_memory.h"
#include "collector/light/watch/system_calls.h"

enum { ARM_NS = 3000, TRIED_MOST = 64, STORES_LOOKED_AT = 64, PAST_ONE = 1024, LOADED_WEIGHT = 4 };
/* A trial must give both threads time to get their turn on a busy machine. */
static const uint64_t trial_ns = 100000000, beside_ns = 5000000, fresh_ns = 1000000000;

void lwp_sharing_start(struct lwp_watch_sharing *sharing, struct lwp_debug_registers *registers, const struct lwp_thread *self,
                       uint8_t verdicts)
{
    bool on = verdicts & LWPS_VERDICT_SHARING;
    *sharing = (struct lwp_watch_sharing){.registers = registers,
                                    .on = on,
                                    .records_foreign = !(verdicts & LWPS_VERDICT_DEAD_STORE),
                                    .slot = on ? lwp_published_join((uint32_t)self->tid) : -1};
}

static void sharing_write(struct lwp_thread *self, struct lwps_watch *record, enum lwps_watch_end end)
{
    record->verdicts = LWPS_VERDICT_SHARING;
    record->end = (uint8_t)end;
    record->end_time = lwp_clock(CLOCK_MONOTONIC);
    lwps_put_watch(&self->file, record);
}

static uint64_t region_number(uint64_t address)
{
    return address >> LWP_SHARING_REGION_BITS;
}

/* Which part of the stores others read is judged by where all of them went. */
static void sharing_record_store(struct lwp_watch_sharing *sharing, struct lwp_thread *self,
                                 const struct lwp_watch_candidate *chosen)
{
    bool foreign = lwp_shared_has(chosen->access.address);
    struct lwps_watch record = {.time = chosen->time,
                                .weight = chosen->weight,
                                .first_context = chosen->context,
                                .first = chosen->access};
    if (!foreign || sharing->records_foreign)
        sharing_write(self, &record, foreign ? LWPS_WATCH_FOREIGN : LWPS_WATCH_NOT_WATCHED);
}

void lwp_sharing_see(struct lwp_watch_sharing *sharing, struct lwp_thread *self, const struct lwp_watch_candidate *chosen)
{
    if (!sharing->on || sharing->slot < 0 || chosen->access.home == LWPS_HOME_STACK)
        return;
    const uint64_t time = chosen->time, weight = chosen->weight;
    const struct lwp_published_access own = {.time = time, .weight = weight, .tid = (uint32_t)self->tid,
                                        .context = chosen->context, .access = chosen->access};
    struct lwp_published_access other;
    if (own.access.flags & LWPS_ACCESS_LOAD)
        sharing->loaded[region_number(own.access.address) % LWP_SHARING_LOADED] = region_number(own.access.address);
    lwp_published_add(sharing->slot, &own);
    if (own.access.flags & LWPS_ACCESS_STORE && lwp_published_used() > 1)
        sharing_record_store(sharing, self, chosen);
    uint64_t reach = beside_ns + 2 * weight;
    if (sharing->hit_time == time ||
        !lwp_published_beside(sharing->slot, &own.access, time > reach ? time - reach : 0, &other))
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

/* The entry for a key: another one's is emptied. */
static struct lwp_sharing_past *past_of(struct lwp_sharing_past *past, uint64_t key)
{
    if (past->key != key)
        *past = (struct lwp_sharing_past){.key = key};
    return past;
}

static void past_add(struct lwp_sharing_past *past, bool read)
{
    past->tried++;
    past->read += read;
    if (past->tried >= TRIED_MOST) { /* what was long ago counts less */
        past->tried /= 2;
        past->read /= 2;
    }
}

/* The part of its trials that were read, as if one more had been; in PAST_ONEs. */
static uint32_t past_part(const struct lwp_sharing_past *past)
{
    return PAST_ONE * (past->read + 1u) / (past->tried + 1u);
}

static void trial_end(struct lwp_watch_sharing *sharing, struct lwp_thread *self, enum lwps_watch_end end)
{
    if (sharing->trial == LWP_TRIAL_NONE)
        return;
    lwp_debug_disarm(sharing->registers, LWP_SHARING_REGISTER);
    sharing_write(self, &sharing->record, end);
    lwp_watched_leave(sharing->memory);
    sharing->trial = LWP_TRIAL_NONE;
    sharing->given_up = false;
    bool read = end == LWPS_WATCH_DECIDED && sharing->record.second.flags & LWPS_ACCESS_LOAD;
    past_add(sharing->other, read);
    past_add(sharing->region, read);
    sharing->reads |= read;
}

static struct lwp_sharing_past *region_of(struct lwp_watch_sharing *sharing, const struct lwp_published_access *entry)
{
    uint64_t key = (region_number(entry->access.address) << 24 ^ entry->tid) * 0x9e3779b97f4a7c15u;
    return past_of(&sharing->regions[(key >> 32) % LWP_SHARING_REGIONS], key);
}

/* One of the stores that other threads have shown lately. */
static bool store_choose(struct lwp_watch_sharing *sharing, uint64_t time, uint32_t *random, struct lwp_published_access *chosen)
{
    struct lwp_published_access stores[STORES_LOOKED_AT];
    unsigned used = lwp_published_used(), most = 1 + (STORES_LOOKED_AT - 1) / (used ? used : 1);
    uint64_t since = time > fresh_ns ? time - fresh_ns : 0;
    uint32_t sum = 0;
    for (unsigned slot = 0; slot < used; slot++) {
        uint32_t tid = (int)slot == sharing->slot ? 0 : lwp_published_writer(slot);
        unsigned count = tid ? lwp_published_stores(slot, since, stores, most) : 0;
        for (unsigned i = 0; i < count; i++) {
            struct lwp_sharing_past *other = past_of(&sharing->others[slot], tid),
                                    *region = region_of(sharing, &stores[i]);
            uint64_t number = region_number(stores[i].access.address);
            uint32_t part = past_part(other) * past_part(region) / PAST_ONE;
            bool loaded = sharing->loaded[number % LWP_SHARING_LOADED] == number;
            uint32_t weight = part * part * (loaded ? LOADED_WEIGHT : 1) + 1; /* squared: most regions are for others */
            sum += weight;
            if (lwp_random_below(random, sum) >= weight)
                continue;
            *chosen = stores[i];
            sharing->other = other;
            sharing->region = region;
        }
    }
    return sum != 0;
}

void lwp_sharing_choose(struct lwp_watch_sharing *sharing, struct lwp_thread *self, uint64_t time, bool affordable)
{
    if (!sharing->on || sharing->slot < 0)
        return;
    if (sharing->trial != LWP_TRIAL_NONE) {
        uint8_t lost = lwp_watched_lost(sharing->memory);
        if (sharing->given_up || lost)
            trial_end(sharing, self, lost ? (enum lwps_watch_end)lost : LWPS_WATCH_UNKNOWN);
        else if (time >= sharing->until)
            trial_end(sharing, self, LWPS_WATCH_EVICTED);
        else
            return;
    }
    struct lwp_published_access other;
    if (!affordable || !store_choose(sharing, time, &self->random, &other))
        return;
    if (!sharing->together) {
        sharing->together = true; /* watch.c gives the register up at the next sample */
        return;
    }
    unsigned piece = 8;
    while (piece > other.access.bytes || other.access.address % piece)
        piece /= 2;
    if (piece == 0 || lwp_shared_has(other.access.address))
        return;
    sharing->memory = lwp_watched_enter(other.access.address);
    if (sharing->memory < 0)
        return;
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

void lwp_sharing_arm(struct lwp_watch_sharing *sharing, struct lwp_thread *self)
{
    if (sharing->trial != LWP_TRIAL_RESERVED)
        return;
    lwp_budget_spend(&self->budget, LWP_COST_TRIALS, ARM_NS);
    sharing->trial = LWP_TRIAL_OPEN;
    if (!lwp_debug_arm(sharing->registers, LWP_SHARING_REGISTER, LWP_DEBUG_ACCESS, sharing->address, sharing->bytes))
        trial_end(sharing, self, LWPS_WATCH_NOT_WATCHED);
}

void lwp_sharing_trap(struct lwp_watch_sharing *sharing, struct lwp_thread *self, struct lwp_stop *stop)
{
    uint8_t lost = sharing->trial == LWP_TRIAL_NONE ? 0 : lwp_watched_lost(sharing->memory);
    if (sharing->trial != LWP_TRIAL_OPEN || lost) {
        lwp_debug_disarm(sharing->registers, LWP_SHARING_REGISTER);
        trial_end(sharing, self, (enum lwps_watch_end)lost);
        return;
    }
    struct lwp_trap trap;
    lwp_stop_look(stop);
    enum lwp_trap_kind kind = lwp_trap_find(stop, sharing->address, sharing->bytes, &trap);
    if (kind != LWP_TRAP_ACCESS) {
        trial_end(sharing, self, kind == LWP_TRAP_KERNEL ? LWPS_WATCH_KERNEL : LWPS_WATCH_UNKNOWN);
        return;
    }
    lwp_frames_take(stop->frames, stop->ucontext, true);
    struct lwps_watch *record = &sharing->record;
    record->second = lwp_access_record(&trap.access);
    lwp_home_find(self, stop->frames, trap.access.address ? trap.access.address : sharing->address, LWPS_SOURCE_BREAKPOINT,
                  &record->second);
    record->second_context = lwp_frames_context(self, stop->frames);
    unsigned overlap = lwp_overlap(&record->first, &record->second);
    record->overlap = (uint16_t)(overlap ? overlap : sharing->bytes);
    trial_end(sharing, self, LWPS_WATCH_DECIDED);
}

void lwp_sharing_lose(struct lwp_watch_sharing *sharing)
{
    lwp_debug_disarm(sharing->registers, LWP_SHARING_REGISTER);
    sharing->given_up = sharing->trial == LWP_TRIAL_OPEN;
}

void lwp_sharing_finish(struct lwp_watch_sharing *sharing, struct lwp_thread *self)
{
    trial_end(sharing, self, LWPS_WATCH_ENDED);
    lwp_sharing_forget(sharing);
}

void lwp_sharing_forget(struct lwp_watch_sharing *sharing)
{
    lwp_published_leave(sharing->slot);
    *sharing = (struct lwp_watch_sharing){.registers = sharing->registers, .slot = -1};
}
