/* A sample chooses one of the stores (or loads) that the thread is about to do and watches its bytes. The first stop is
 * that access itself, which shows the value it left; the next one decides (Witch: "Watching for Software
 * Inefficiencies"): a store seen again by a store was dead, by a load was not; the next store, whatever came between,
 * was silent when it left the value as it was; the next load, whatever was stored in between, was silent when it found
 * the same value. One watch of a store serves both its verdicts: after a load it goes on for stores only.
 *
 * A store to bytes that the program was seen to load (or store) just before is silent when it leaves them as they were (RedSpy: "compare
 * with memory"): that needs no second store, which in a program of few passes comes too late for any register. Of what nobody
 * has loaded that is not said: memory that is new may hold the value by chance.
 *
 * Registers are few, so candidates compete (4.4.1): the k-th since a register was last free replaces one of the N
 * watched ones with probability N/k, which gives each of the k the same chance. The analysis scales what was seen by
 * what was sampled: every candidate leaves its record or is counted, and so are those that the sample looked at and
 * did not choose, each instruction with its part of the sample's cost (what was not chosen would be chance else).
 * Each record is about this thread's accesses only.
 *
 * Wide or odd accesses are watched by an aligned piece of at most 8 bytes. */
#include "collector/light/watch/watch.h"

#include "base/random.h"
#include "collector/light/heap/home.h"
#include "collector/light/own/process.h"
#include "collector/light/own/watched_memory.h"
#include "collector/light/watch/system_calls.h"
#include "collector/record/value.h"

#include <sys/uio.h>
#include <unistd.h>

enum { CHOOSE_LEAST = 8, CHOOSE_SPREAD = 16, ARM_NS = 3000, STRAYS_MOST = 8, RETURN_ADDRESS = 8 };
enum { STORES = LWPS_VERDICT_DEAD_STORE | LWPS_VERDICT_SILENT_STORE, LOADS = LWPS_VERDICT_SILENT_LOAD };

/* Through the kernel: the address may be gone, and reading it here would stop us. */
static bool watch_read(uint64_t address, unsigned bytes, uint64_t *value)
{
    *value = 0;
    struct iovec here = {value, bytes}, there = {(void *)address, bytes};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static void watch_write(struct lwp_watches *watches, struct lwp_thread *self, struct lwps_watch record, uint8_t verdicts,
                        enum lwps_watch_end end)
{
    if (!verdicts)
        return;
    record.verdicts = verdicts;
    if (end == LWPS_WATCH_NOT_WATCHED || end == LWPS_WATCH_EVICTED) {
        const struct lwps_candidates one = {.time = record.time,
                                            .weight = record.weight,
                                            .count = 1,
                                            .verdicts = verdicts,
                                            .context = record.first_context,
                                            .ip = record.first.ip};
        lwp_candidates_count(&watches->candidates, self, &one);
        return;
    }
    lwp_candidates_write_before(&watches->candidates, self, record.first.ip, record.first_context);
    record.end = (uint8_t)end;
    record.end_time = lwp_clock(CLOCK_MONOTONIC);
    lwps_put_watch(&self->file, &record);
}

/* Ends what is still open of a watch and frees its register. */
static void watch_end(struct lwp_watches *watches, struct lwp_thread *self, unsigned which, enum lwps_watch_end end)
{
    struct lwp_watch *watch = &watches->at[which];
    lwp_debug_disarm(watches->registers, which);
    if (watches->framed == (int)which) {
        lwp_debug_disarm(watches->registers, LWP_WATCH_FRAME);
        watches->framed = -1;
    }
    watch_write(watches, self, watch->record, watch->record.verdicts, end);
    if (watch->state != LWP_WATCH_FREE)
        lwp_watched_leave(watch->memory);
    *watch = (struct lwp_watch){0};
}

/* Why it can be decided no more, 0: it can. */
static enum lwps_watch_end watch_is_lost(const struct lwp_watch *watch, const struct lwp_thread *self)
{
    if (watch->state == LWP_WATCH_FREE)
        return 0;
    if (watch->calls != self->calls)
        return LWPS_WATCH_KERNEL;
    return watch->give_up ? watch->give_up : lwp_watched_lost(watch->memory);
}

/* ---- which registers are whose: stores have two and loads one; where only one kind is watched it has all ---- */

struct register_pool {
    unsigned first, count;
};

static struct register_pool pool_of(const struct lwp_watches *watches, bool loads)
{
    bool both = watches->verdicts & STORES && watches->verdicts & LOADS;
    unsigned count = watches->ceded ? LWP_WATCHES - 1 : LWP_WATCHES;
    if (!both)
        return (struct register_pool){0, count};
    return loads ? (struct register_pool){count - 1, 1} : (struct register_pool){0, count - 1};
}

void lwp_watches_start(struct lwp_watches *watches, struct lwp_debug_registers *registers, uint8_t verdicts)
{
    *watches = (struct lwp_watches){.registers = registers, .verdicts = verdicts, .framed = -1};
}

static void watch_evict_from(struct lwp_watches *watches, struct lwp_thread *self, unsigned first)
{
    for (unsigned i = first; i < LWP_WATCHES; i++)
        if (watches->at[i].state != LWP_WATCH_FREE)
            watch_end(watches, self, i, LWPS_WATCH_EVICTED);
}

void lwp_watches_give_up(struct lwp_watches *watches, struct lwp_thread *self)
{
    watch_evict_from(watches, self, 0);
}

/* The pools change: all but the first register's watch ends, since it is of the wrong one, or gone. */
void lwp_watches_cede(struct lwp_watches *watches, struct lwp_thread *self)
{
    if (!watches->ceded)
        watch_evict_from(watches, self, 1);
    watches->ceded = true;
}

void lwp_watches_choose(const struct lwp_watches *watches, uint32_t *random, unsigned *stores, unsigned *loads)
{
    _Static_assert(CHOOSE_LEAST + CHOOSE_SPREAD <= LWP_WALK_LOOKED, "all are counted");
    unsigned from = CHOOSE_LEAST + lwp_random_below(random, CHOOSE_SPREAD);
    const bool sharing = watches->verdicts & LWPS_VERDICT_SHARING;
    *stores = sharing || watches->verdicts & STORES ? from : 0;
    *loads = sharing || watches->verdicts & LOADS ? from : 0;
}

/* ---- candidates ---- */

/* The slot for a candidate by the reservoir's rule, or -1. */
static int watch_slot(struct lwp_watches *watches, struct lwp_thread *self, const struct register_pool *pool)
{
    uint32_t *seen = &watches->since_room[pool->first];
    for (unsigned i = pool->first; i < pool->first + pool->count; i++)
        if (watches->at[i].state == LWP_WATCH_FREE || watches->at[i].give_up == LWPS_WATCH_EVICTED) {
            *seen = pool->count;
            return (int)i;
        }
    if (lwp_random_below(&self->random, ++*seen) >= pool->count)
        return -1;
    return (int)(pool->first + lwp_random_below(&self->random, pool->count));
}

/* Only one watch can be on the stack, whether it is of a store or a load: the same rule among those. */
static bool watch_wins_frame(struct lwp_watches *watches, struct lwp_thread *self, const struct lwps_access *access)
{
    if (access->home != LWPS_HOME_STACK)
        return true;
    watches->since_frame = lwp_watches_framed(watches) ? watches->since_frame + 1 : 1;
    return lwp_random_below(&self->random, watches->since_frame) == 0;
}

static void watch_take_frame(struct lwp_watches *watches, int slot, uint64_t frame)
{
    if (lwp_watches_framed(watches) && watches->framed != slot)
        watches->at[watches->framed].give_up = LWPS_WATCH_EVICTED; /* at the end of the sample */
    watches->at[slot].frame = frame;
    watches->framed = slot;
}

/* An aligned piece of the access. */
static void watch_piece(struct lwp_watch *watch, uint32_t *random, uint64_t address, unsigned bytes)
{
    unsigned piece = 8;
    while (piece > bytes)
        piece /= 2;
    uint64_t first = (address + piece - 1) & ~(uint64_t)(piece - 1);
    while (first + piece > address + bytes) { /* does not hold an aligned one so large */
        piece /= 2;
        first = (address + piece - 1) & ~(uint64_t)(piece - 1);
    }
    unsigned pieces = (unsigned)((address + bytes - first) / piece); // NOLINT(clang-analyzer-core.DivideZero): one byte is always found
    watch->address = first + (uint64_t)piece * lwp_random_below(random, pieces);
    watch->bytes = (uint8_t)piece;
}

/* Whether what becomes of these bytes can be seen at all. */
static enum lwps_watch_end watch_refused(const struct lwps_access *access)
{
    if (access->home == LWPS_HOME_STACK)
        return access->home_id ? 0 : LWPS_WATCH_FRAME_DIED;
    if (lwp_shared_has(access->address))
        return LWPS_WATCH_FOREIGN;
    if (lwp_system_calls_hide(access->ip))
        return LWPS_WATCH_KERNEL;
    return 0;
}

static struct lwps_candidates watch_looked_at(const struct lwp_watch_candidate *chosen, const struct lwp_walk_choice *looked, unsigned site,
                                              uint8_t verdicts)
{
    return (struct lwps_candidates){.time = chosen->time,
                                    .weight = chosen->weight * looked->site[site].count / looked->seen,
                                    .verdicts = verdicts,
                                    .context = chosen->contexts ? chosen->contexts[looked->site[site].path] : chosen->context,
                                    .ip = looked->site[site].ip};
}

/* The cost of a sample is of all that it looked at. Returns the part of the chosen one, which goes with its watch:
 * all of it where call paths are so many (recursion) that the others would be written one by one. */
static uint64_t watch_count_others(struct lwp_watches *watches, struct lwp_thread *self, const struct lwp_watch_candidate *chosen,
                                   const struct lwp_walk_choice *looked, uint8_t verdicts)
{
    uint64_t own = 0;
    for (unsigned i = 0; i < looked->sites; i++) {
        const struct lwps_candidates one = watch_looked_at(chosen, looked, i, verdicts);
        if (!lwp_candidates_room(&watches->candidates, &one))
            return chosen->weight;
    }
    for (unsigned i = 0; i < looked->sites; i++) {
        const struct lwps_candidates one = watch_looked_at(chosen, looked, i, verdicts);
        if (one.ip == chosen->access.ip && one.context == chosen->context)
            own = one.weight;
        else
            lwp_candidates_count(&watches->candidates, self, &one);
    }
    return own;
}

void lwp_watches_offer(struct lwp_watches *watches, struct lwp_thread *self, const struct lwp_watch_candidate *chosen,
                       const struct lwp_walk_choice *looked, bool affordable)
{
    bool loads = !(chosen->access.flags & LWPS_ACCESS_STORE);
    uint8_t verdicts = watches->verdicts & (loads ? LOADS : STORES);
    if (!verdicts)
        return;
    struct lwp_watch watch = {.state = LWP_WATCH_RESERVED, .element = chosen->element, .calls = self->calls};
    watch.record = (struct lwps_watch){.time = chosen->time,
                                       .weight = watch_count_others(watches, self, chosen, looked, verdicts),
                                       .verdicts = verdicts,
                                       .first_context = chosen->context,
                                       .first = chosen->access};
    watch_piece(&watch, &self->random, chosen->access.address, chosen->access.bytes);

    const struct register_pool pool = pool_of(watches, loads);
    enum lwps_watch_end refused = watch_refused(&watch.record.first);
    bool fights = affordable && !refused && watch_wins_frame(watches, self, &watch.record.first);
    int slot = fights ? watch_slot(watches, self, &pool) : -1;
    if (slot < 0 || (watch.memory = lwp_watched_enter(watch.address)) < 0) {
        watch_write(watches, self, watch.record, watch.record.verdicts, refused ? refused : LWPS_WATCH_NOT_WATCHED);
        return;
    }
    struct lwp_watch *old = &watches->at[slot];
    if (old->state != LWP_WATCH_FREE) {
        watch_write(watches, self, old->record, old->record.verdicts, LWPS_WATCH_EVICTED);
        lwp_watched_leave(old->memory);
    }
    *old = watch;
    if (watch.record.first.home == LWPS_HOME_STACK)
        watch_take_frame(watches, slot, watch.record.first.home_base);
    else if (watches->framed == slot)
        watches->framed = -1; /* its register goes at the end of the sample */
}

void lwp_watches_begin_sample(struct lwp_watches *watches, struct lwp_thread *self)
{
    for (unsigned i = 0; i < LWP_WATCHES; i++) {
        struct lwp_watch *watch = &watches->at[i];
        enum lwps_watch_end lost = watch_is_lost(watch, self);
        if (lost)
            watch_end(watches, self, i, lost);
        else if (watch->state == LWP_WATCH_PREDICTED)
            watch_end(watches, self, i, LWPS_WATCH_MISPREDICTED);
    }
}

void lwp_watches_end_sample(struct lwp_watches *watches, struct lwp_thread *self)
{
    for (unsigned i = 0; i < LWP_WATCHES; i++) {
        struct lwp_watch *watch = &watches->at[i];
        if (watch->state != LWP_WATCH_FREE && watch->give_up == LWPS_WATCH_EVICTED)
            watch_end(watches, self, i, LWPS_WATCH_EVICTED);
        if (watch->state != LWP_WATCH_RESERVED)
            continue;
        watch->state = LWP_WATCH_PREDICTED;
        if (watch->record.verdicts & LWPS_VERDICT_SILENT_STORE && watch->record.first.flags & LWPS_ACCESS_LOAD)
            watch->before_known = watch_read(watch->address, watch->bytes, &watch->before);
        lwp_budget_spend(&self->budget, LWP_COST_WATCHES, ARM_NS);
        if ((watch->frame &&
             !lwp_debug_arm(watches->registers, LWP_WATCH_FRAME, LWP_DEBUG_ACCESS, watch->frame - RETURN_ADDRESS, RETURN_ADDRESS)) ||
            !lwp_debug_arm(watches->registers, i, LWP_DEBUG_ACCESS, watch->address, watch->bytes))
            watch_end(watches, self, i, LWPS_WATCH_NOT_WATCHED);
    }
    if (!lwp_watches_framed(watches) && watches->registers->at[LWP_WATCH_FRAME].data)
        lwp_debug_disarm(watches->registers, LWP_WATCH_FRAME);
}

void lwp_watches_end_frame(struct lwp_watches *watches, struct lwp_thread *self, enum lwps_watch_end end)
{
    if (lwp_watches_framed(watches))
        watch_end(watches, self, (unsigned)watches->framed, end);
}

bool lwp_watches_busy(const struct lwp_watches *watches)
{
    for (unsigned i = 0; i < LWP_WATCHES; i++)
        if (watches->at[i].state == LWP_WATCH_PREDICTED || watches->at[i].state == LWP_WATCH_OPEN)
            return true;
    return false;
}

/* ---- traps ---- */

void lwp_watches_lose(struct lwp_watches *watches, unsigned which)
{
    lwp_debug_disarm(watches->registers, which);
    if (watches->at[which].state != LWP_WATCH_FREE && watches->at[which].state != LWP_WATCH_RESERVED && !watches->at[which].give_up)
        watches->at[which].give_up = LWPS_WATCH_UNKNOWN;
}

static bool range_holds(uint64_t start, uint64_t bytes, uint64_t inner, uint64_t inner_bytes)
{
    return start <= inner && start + bytes >= inner + inner_bytes;
}

/* The watched bytes that an access touches, as a mask; all when its address is not known. */
static uint8_t trap_reaches(const struct lwp_watch *watch, const struct lwp_trap *trap)
{
    uint8_t mask = 0;
    for (unsigned i = 0; i < watch->bytes; i++)
        if (!trap->access.address || range_holds(trap->access.address, trap->access.bytes, watch->address + i, 1))
            mask |= (uint8_t)(1u << i);
    return mask;
}

static uint8_t watch_all(const struct lwp_watch *watch)
{
    return (uint8_t)((1u << watch->bytes) - 1);
}

/* Before the chosen store: what the piece holds is the program's own value once all of it was loaded or stored. */
static void trap_before(struct lwp_watch *watch, const struct lwp_trap *trap)
{
    bool asked = watch->record.verdicts & LWPS_VERDICT_SILENT_STORE;
    if (asked && (watch->before_known || trap_reaches(watch, trap) == watch_all(watch)))
        watch->before_known = watch_read(watch->address, watch->bytes, &watch->before);
}

/* The chosen store has come to bytes whose value was known: whether that was silent is decided. */
static void trap_compare_before(struct lwp_watches *watches, struct lwp_watch *watch, struct lwp_thread *self)
{
    struct lwps_watch record = watch->record;
    if (!(record.verdicts & LWPS_VERDICT_SILENT_STORE) || !watch->before_known || !watch->old_known)
        return;
    record.second = record.first;
    record.second_context = record.first_context;
    record.overlap = watch->bytes;
    record.value = (uint8_t)lwp_value_compare(watch->before, watch->old, watch->bytes, watch->element);
    watch_write(watches, self, record, LWPS_VERDICT_SILENT_STORE, LWPS_WATCH_DECIDED);
    watch->record.verdicts &= (uint8_t)~LWPS_VERDICT_SILENT_STORE;
}

/* The access that was chosen has come. */
static void trap_open(struct lwp_watch *watch, const struct lwp_trap *trap)
{
    watch->old_known = watch->now_known = watch_read(watch->address, watch->bytes, &watch->old);
    watch->now = watch->old;
    watch->left = watch_all(watch);
    watch->strays = 0;
    watch->state = LWP_WATCH_OPEN;
    if (!watch->element)
        watch->element = trap->access.element;
}

/* A store that just reaches into the first one takes nothing away: copies of odd lengths are made of stores that
 * overlap. */
static bool trap_overwrites(const struct lwp_watch *watch, const struct lwp_trap *trap)
{
    const struct lwps_access *first = &watch->record.first;
    const struct lwp_insn_access *by = &trap->access;
    return by->store && (!by->address || range_holds(by->address, by->bytes, first->address, first->bytes) ||
                         range_holds(first->address, first->bytes, by->address, by->bytes));
}

/* A load waits for the next load. A store waits for the load of a byte that is still its own, or until others have
 * overwritten all of them. */
static bool trap_settles(struct lwp_watch *watch, const struct lwp_trap *trap)
{
    uint8_t reached = trap_reaches(watch, trap);
    if (watch->record.verdicts & LOADS)
        return trap->access.load;
    if (trap->access.load && watch->record.verdicts & LWPS_VERDICT_DEAD_STORE && reached & watch->left)
        return true;
    if (trap_overwrites(watch, trap))
        watch->left &= (uint8_t)~reached;
    return !watch->left;
}

static bool trap_passes(struct lwp_watch *watch, const struct lwp_trap *trap)
{
    if (trap_settles(watch, trap) || ++watch->strays > STRAYS_MOST)
        return false;
    watch->now_known = watch_read(watch->address, watch->bytes, &watch->now);
    return true;
}

/* The value found, but for the bytes that were not looked at: those count as they were. */
static uint64_t trap_value(const struct lwp_watch *watch, const struct lwp_trap *trap)
{
    uint8_t reached = trap_reaches(watch, trap);
    uint64_t value = watch->old;
    for (unsigned i = 0; i < watch->bytes; i++)
        if (!(watch->record.verdicts & LOADS) || reached >> i & 1)
            value = (value & ~((uint64_t)0xff << 8 * i)) | (watch->now & (uint64_t)0xff << 8 * i);
    return value;
}

/* Decides what it can. Returns the verdicts that are still open. */
static uint8_t trap_decide(struct lwp_watches *watches, struct lwp_watch *watch, struct lwp_thread *self, const struct lwp_frames *frames,
                           const struct lwp_trap *trap)
{
    struct lwps_watch record = watch->record;
    uint8_t open = record.verdicts, decided = open;
    record.second = lwp_access_record(&trap->access);
    if (trap->access.address)
        lwp_home_find(self, frames, trap->access.address, LWPS_SOURCE_BREAKPOINT, &record.second);
    record.second_context = lwp_frames_context(self, frames);
    unsigned overlap = lwp_overlap(&record.first, &record.second);
    record.overlap = (uint16_t)(overlap ? overlap : watch->bytes);
    if (watch->strays > STRAYS_MOST) {
        watch_write(watches, self, record, decided, LWPS_WATCH_OVERWRITTEN);
        return 0;
    }
    if (!(open & LOADS && trap->access.store)) /* else what it loaded is what was there before it stored */
        watch->now_known = watch_read(watch->address, watch->bytes, &watch->now);
    if (watch->old_known && watch->now_known)
        record.value = (uint8_t)lwp_value_compare(watch->old, trap_value(watch, trap), watch->bytes,
                                                  watch->element ? watch->element : trap->access.element);
    if (!(open & LOADS) && !trap->access.store) /* what was stored is used; the next store decides whether it was silent */
        decided &= LWPS_VERDICT_DEAD_STORE;
    watch_write(watches, self, record, decided, LWPS_WATCH_DECIDED);
    return open & (uint8_t)~decided;
}

static bool frames_hold(const struct lwp_frames *frames, uint64_t cfa)
{
    for (unsigned i = 0; i < frames->count; i++)
        if (frames->cfas[i] == cfa)
            return true;
    return false;
}

struct stopped {
    const struct lwp_stop *at;
    uint64_t time;
    enum lwp_trap_kind kind;
    struct lwp_trap trap;
};

static void watch_stopped(struct lwp_watches *watches, struct lwp_thread *self, unsigned which, const struct stopped *stopped)
{
    struct lwp_watch *watch = &watches->at[which];
    const struct lwp_trap *trap = &stopped->trap;
    bool predicted = watch->state == LWP_WATCH_PREDICTED, accessed = stopped->kind == LWP_TRAP_ACCESS;
    if (accessed && trap->partial)
        return;
    if (predicted && (!accessed || trap->access.ip != watch->record.first.ip)) {
        if (accessed)
            trap_before(watch, trap);
        if (++watch->strays > STRAYS_MOST)
            watch_end(watches, self, which, LWPS_WATCH_MISPREDICTED);
        return;
    }
    if (!accessed) {
        watch_end(watches, self, which, stopped->kind == LWP_TRAP_KERNEL ? LWPS_WATCH_KERNEL : LWPS_WATCH_UNKNOWN);
        return;
    }
    if (predicted) {
        trap_open(watch, trap);
        watch->before_known &= !trap->string;
        trap_compare_before(watches, watch, self);
        if (!watch->record.verdicts) {
            watch_end(watches, self, which, 0);
            return;
        }
        bool only_silent = watch->record.verdicts == LWPS_VERDICT_SILENT_STORE;
        if (only_silent && !lwp_debug_arm(watches->registers, which, LWP_DEBUG_WRITE, watch->address, watch->bytes))
            watch_end(watches, self, which, LWPS_WATCH_NOT_WATCHED);
        else
            watch->opened = lwp_clock(CLOCK_MONOTONIC);
        return;
    }
    if (trap_passes(watch, trap))
        return;
    lwp_frames_take(stopped->at->frames, stopped->at->ucontext, true);
    if (watch->frame && !frames_hold(stopped->at->frames, watch->frame)) { /* left by longjmp or an exception */
        watch_end(watches, self, which, LWPS_WATCH_FRAME_DIED);
        return;
    }
    watch->record.watched_ns = stopped->time - watch->opened;
    watch->record.verdicts = trap_decide(watches, watch, self, stopped->at->frames, trap);
    if (!watch->record.verdicts)
        watch_end(watches, self, which, 0);
    else if (!lwp_debug_arm(watches->registers, which, LWP_DEBUG_WRITE, watch->address, watch->bytes))
        watch_end(watches, self, which, LWPS_WATCH_NOT_WATCHED);
}

/* When one instruction sets off several registers the kernel reports only one of them, as it keeps one SIGTRAP. */
static void watch_stopped_too(struct lwp_watches *watches, struct lwp_thread *self, unsigned which, const struct stopped *stopped)
{
    const struct lwp_watch *reported = &watches->at[which];
    const struct lwp_insn_access *access = &stopped->trap.access;
    uint64_t low = access->address ? access->address : reported->address;
    uint64_t high = low + (access->address ? access->bytes : reported->bytes);
    for (unsigned i = 0; i < LWP_WATCHES; i++) {
        const struct lwp_watch *watch = &watches->at[i];
        bool armed = watch->state == LWP_WATCH_PREDICTED || watch->state == LWP_WATCH_OPEN;
        bool sees = access->store || watch->record.verdicts != LWPS_VERDICT_SILENT_STORE;
        if (i == which || !armed || !sees || watch->address >= high || watch->address + watch->bytes <= low)
            continue;
        if (stopped->trap.string) /* it may have stopped there before, or will again */
            watch_end(watches, self, i, LWPS_WATCH_UNKNOWN);
        else
            watch_stopped(watches, self, i, stopped);
    }
}

void lwp_watches_trap(struct lwp_watches *watches, struct lwp_thread *self, unsigned which, struct lwp_stop *stop)
{
    const struct lwp_watch *watch = &watches->at[which];
    const uint64_t time = lwp_clock(CLOCK_MONOTONIC);
    enum lwps_watch_end lost = watch_is_lost(watch, self);
    if (watch->state == LWP_WATCH_FREE || lost) {
        watch_end(watches, self, which, lost);
        return;
    }
    lwp_stop_look(stop);
    struct stopped stopped = {.at = stop, .time = time};
    stopped.kind = lwp_trap_find(stop, watch->address, watch->bytes, &stopped.trap);
    if (stopped.kind == LWP_TRAP_ACCESS)
        watch_stopped_too(watches, self, which, &stopped);
    watch_stopped(watches, self, which, &stopped);
}

void lwp_watches_finish(struct lwp_watches *watches, struct lwp_thread *self)
{
    for (unsigned i = 0; i < LWP_WATCHES; i++) {
        struct lwp_watch *watch = &watches->at[i];
        enum lwps_watch_end lost = watch_is_lost(watch, self);
        watch_write(watches, self, watch->record, watch->record.verdicts, lost ? lost : LWPS_WATCH_ENDED);
        if (watch->state != LWP_WATCH_FREE)
            lwp_watched_leave(watch->memory);
        *watch = (struct lwp_watch){0};
    }
    lwp_candidates_write(&watches->candidates, self);
}
