#include "collector/exact/detect/redundancy/redundancy_counts.h"

#include "collector/exact/program/process.h"
#include "collector/exact/program/thread_sums.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/trace/sampling.h"
#include "collector/exact/valgrind/pages.h"
#include "format/record.h"

enum {
    PAIR_BITS = 19, /* 36 MiB */
    TUPLES = 1 << 19,
    HOME_BITS = 28, /* of the numbers of nodes and pools: as many never fit into memory */
};

struct lwp_shadow lwp_redundancy_shadow;
uint32_t lwp_redundancy_number;

/* Where a pair was first seen. There are as many as pairs: 32 bytes. */
struct sight {
    uint64_t time, address, home_base;
    uint32_t home_id : HOME_BITS; /* a node for LWPS_HOME_STACK */
    uint32_t home : 32 - HOME_BITS;
};
static XArray *sights;
static uint64_t sights_free; /* index + 1 of one that is free, which has the next in `address` */

/* Pairs belong to no thread: they have a file of their own, which is written as a whole. */
static struct {
    struct lwps_writer file;
    struct lwp_context_map contexts;
    uint64_t dead, silent, loads, overwritten; /* bytes of pairs */
    bool said_unseen, said_merged;
} counts;

static uint64_t counts_place(uint64_t address)
{
    uint32_t node;
    struct lwps_access access = {.address = address};
    if (address >= lwp_thread_now->stack_low && address < lwp_thread_now->stack_high) {
        const struct lwp_numbered_access *at = lwp_numbers_access(lwp_redundancy_number, &node);
        access.ip = at ? at->ip : 0;
    }
    lwp_sampling_attribute(&access);
    struct sight sight = {.time = lwp_trace_time(), .address = address, .home_base = access.home_base,
                          .home_id = access.home_id & ((1u << HOME_BITS) - 1), .home = access.home};
    uint64_t place = sights_free - 1;
    if (!sights_free)
        return (uint64_t)VG_(addToXA)(sights, &sight);
    struct sight *free = VG_(indexXA)(sights, (Word)place);
    sights_free = free->address;
    *free = sight;
    if (sights_free)
        __builtin_prefetch(VG_(indexXA)(sights, (Word)(sights_free - 1)), 1); /* for the next one */
    return place;
}

static void counts_leave(uint64_t place)
{
    struct sight *sight = VG_(indexXA)(sights, (Word)place);
    sight->address = sights_free;
    sights_free = place + 1;
}

/* ---- threads ---- */

struct lwp_shadow_threads lwp_redundancy_storers;
uint32_t lwp_redundancy_thread;
static uint32_t threads_count;
bool lwp_redundancy_threads;

static const struct lwp_shadow_port counts_port = {lwp_pages_map, lwp_pages_unmap, counts_place, counts_leave, lwp_pages_large};

static struct lwp_thread_sums *counts_threads;
static uint64_t counts_outside[LWP_SHADOW_SUMS]; /* of the region */
_Static_assert((int)LWP_SHADOW_SUMS <= (int)LWP_THREAD_SUMS, "room");

/* Where what the thread does is added up. */
static void counts_sums(struct lwp_exact_thread *thread, bool inside)
{
    if (thread)
        lwp_redundancy_shadow.sums = inside ? lwp_thread_sums_of(&counts_threads, &thread->shadow_sums)->sum : counts_outside;
}

void lwp_redundancy_thread_runs(struct lwp_exact_thread *thread)
{
    counts_sums(thread, lwp_trace_inside);
    if (!thread->storer)
        thread->storer = ++threads_count;
    lwp_redundancy_thread = thread->storer - 1;
    if (threads_count > 1 && !lwp_redundancy_storers.leaves)
        lwp_redundancy_threads = lwp_shadow_threads_init(&lwp_redundancy_storers, &counts_port);
}

void lwp_redundancy_other_threads(uint64_t address, unsigned bytes, uint32_t number)
{
    lwp_redundancy_number = number;
    for (; bytes > 8; bytes -= 8, address += 8)
        lwp_shadow_threads_store(&lwp_redundancy_storers, &lwp_redundancy_shadow, address, 8, number, lwp_redundancy_thread);
    lwp_shadow_threads_store(&lwp_redundancy_storers, &lwp_redundancy_shadow, address, bytes, number, lwp_redundancy_thread);
}

bool lwp_redundancy_counts_start(void)
{
    static const struct lwp_shadow_limits limits = {PAIR_BITS, TUPLES};
    sights = VG_(newXA)(VG_(malloc), "lwp.sights", VG_(free), sizeof(struct sight));
    return lwp_shadow_init(&lwp_redundancy_shadow, &counts_port, &limits);
}

/* ---- records ---- */

static uint32_t counts_access(uint32_t number, uint8_t flags, struct lwps_access *access)
{
    uint32_t context = lwp_numbers_in_file(number, &counts.contexts, &counts.file, access);
    access->flags = flags | (access->flags & (LWPS_ACCESS_VECTOR | LWPS_ACCESS_FLOAT));
    return context;
}

static void counts_sight(const struct sight *sight, struct lwps_pair *record)
{
    bool stack = sight->home == LWPS_HOME_STACK;
    record->time = sight->time;
    record->first.flags |= LWPS_ACCESS_KNOWN;
    record->first.address = sight->address;
    record->first.home = sight->home;
    record->first.home_base = sight->home_base;
    record->first.home_id =
        stack ? lwp_context_in_file(&counts.contexts, &counts.file, sight->home_id) : sight->home_id;
}

static void counts_put(struct lwps_pair record, uint8_t verdict, uint64_t waste, uint64_t close, uint64_t use,
                       uint64_t times)
{
    if (!(waste + close + use))
        return;
    record.verdict = verdict;
    record.waste = waste;
    record.close = close;
    record.use = use;
    record.times = times;
    record.again = record.again < times ? record.again : times;
    lwps_put_pair(&counts.file, &record);
}

static void counts_pair(size_t index)
{
    const struct lwp_shadow_pairs *pairs = &lwp_redundancy_shadow.pairs;
    const struct lwp_shadow_pair *pair = &pairs->entries[index];
    enum lwp_shadow_kind kind = lwp_shadow_pair_kind(pair);
    uint8_t flags = kind == LWP_SHADOW_LOADS ? LWPS_ACCESS_LOAD : LWPS_ACCESS_STORE;
    struct lwps_pair record = {.again = pair->again};
    record.first_context = counts_access(lwp_shadow_pair_first(pair), flags, &record.first);
    record.second_context = counts_access(lwp_shadow_pair_second(pair), flags, &record.second);
    counts_sight(VG_(indexXA)(sights, (Word)pairs->places[index]), &record);
    if (kind == LWP_SHADOW_LOADS) {
        counts_put(record, LWPS_VERDICT_SILENT_LOAD, pair->same, 0, pair->other, pair->same_times);
        counts.loads += pair->same + pair->other;
        return;
    }
    if (kind == LWP_SHADOW_OVERWRITES) {
        counts_put(record, LWPS_VERDICT_OVERWRITTEN, pair->dead, 0, 0, pair->dead_times);
        counts.overwritten += pair->dead;
        return;
    }
    counts_put(record, LWPS_VERDICT_DEAD_STORE, pair->dead, 0, 0, pair->dead_times);
    counts_put(record, LWPS_VERDICT_SILENT_STORE, pair->same, pair->close, pair->other, pair->same_times);
    counts.dead += pair->dead;
    counts.silent += pair->same + pair->close + pair->other;
}

/* What is not of pairs: `use`, and all that was neither. */
static void counts_rest(uint8_t verdict, uint64_t all, uint64_t of_pairs, uint64_t use)
{
    uint64_t open = all > of_pairs + use ? all - of_pairs - use : 0;
    if (use + open)
        lwps_put_pair(&counts.file, &(struct lwps_pair){.verdict = verdict, .use = use, .open = open});
}

/* What is counted on the other side of the region's border. */
static struct counts_set {
    struct lwp_shadow_pairs pairs;
    uint64_t stored, loaded, used;
} counts_elsewhere;

/* Sentences that are as true of what was counted before as of what comes; each is said once in a process. */
static void counts_note(bool applies, bool *said, const char *text)
{
    if (applies && !*said)
        lwp_exact_process_note(text);
    *said |= applies;
}

static void counts_losses(void)
{
    static const char unseen[] = "Some redundant accesses were not counted: there was not enough memory to follow all of them.",
                      merged[] = "There were more pairs of redundant accesses than lwp distinguishes: those of least bytes were "
                                 "counted together, and are in the totals only.";
    counts_note(lwp_redundancy_shadow.unseen, &counts.said_unseen, unseen);
    counts_note(lwp_redundancy_shadow.pairs.merged, &counts.said_merged, merged);
}

void lwp_redundancy_counts_write(void)
{
    struct lwp_shadow *shadow = &lwp_redundancy_shadow;
    if (!lwp_exact_process_rewrite(&counts.file, "t0"))
        return;
    counts.dead = counts.silent = counts.loads = counts.overwritten = 0;
    for (size_t i = 0; i < (size_t)1 << shadow->pairs.bits; i++)
        if (shadow->pairs.entries[i].key)
            counts_pair(i);
    counts_rest(LWPS_VERDICT_DEAD_STORE, shadow->stored, counts.dead, shadow->used);
    counts_rest(LWPS_VERDICT_SILENT_STORE, shadow->stored, counts.silent, 0);
    if (lwp_redundancy_threads)
        counts_rest(LWPS_VERDICT_OVERWRITTEN, shadow->stored, counts.overwritten, shadow->stored - counts.overwritten);
    counts_rest(LWPS_VERDICT_SILENT_LOAD, shadow->loaded, counts.loads, 0);
    lwp_thread_sums_write(counts_threads, &counts.file,
                          &(struct lwp_thread_sums_record){LWPS_VERDICT_DEAD_STORE, 0, -1, LWP_SHADOW_SUM_DEAD, -1});
    lwp_thread_sums_write(counts_threads, &counts.file,
                          &(struct lwp_thread_sums_record){LWPS_VERDICT_SILENT_STORE, 0, -1, LWP_SHADOW_SUM_SAME, LWP_SHADOW_SUM_CLOSE});
    lwp_thread_sums_write(counts_threads, &counts.file,
                          &(struct lwp_thread_sums_record){LWPS_VERDICT_SILENT_LOAD, 0, -1, LWP_SHADOW_SUM_LOADED_AGAIN, -1});
    lwp_exact_process_rewritten(&counts.file, "t0");
    lwp_context_map_clear(&counts.contexts);
    counts_losses();
}

void lwp_redundancy_counts_clear(void)
{
    struct lwp_shadow *shadow = &lwp_redundancy_shadow;
    lwp_shadow_pairs_clear(&shadow->pairs);
    if (counts_elsewhere.pairs.entries)
        lwp_shadow_pairs_clear(&counts_elsewhere.pairs);
    shadow->stored = shadow->loaded = shadow->used = 0;
    lwp_thread_sums_clear(counts_threads);
    VG_(dropTailXA)(sights, VG_(sizeXA)(sights));
    sights_free = 0;
    counts.said_unseen = counts.said_merged = false;
}

void lwp_redundancy_counts_change(void)
{
    struct lwp_shadow *shadow = &lwp_redundancy_shadow;
    if (!counts_elsewhere.pairs.entries && !lwp_shadow_pairs_init(&counts_elsewhere.pairs, &counts_port, PAIR_BITS))
        return;
    const struct counts_set now = {shadow->pairs, shadow->stored, shadow->loaded, shadow->used};
    shadow->pairs = counts_elsewhere.pairs;
    shadow->stored = counts_elsewhere.stored;
    shadow->loaded = counts_elsewhere.loaded;
    shadow->used = counts_elsewhere.used;
    counts_elsewhere = now;
    counts_sums(lwp_thread_now, shadow->sums == counts_outside);
}
