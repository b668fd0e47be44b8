/* Communication between threads over the whole run: what the trace brings goes to the shadow (comm_shadow.h), what comes of
 * it is counted for each instruction that reads, by writer and reader, and its distance (comm_distance.h) measured among
 * all that the instruction's function has read so. */
#include "collector/exact/detect/communication/comm_counts.h"
#include "collector/exact/detect/communication/comm_distance.h"
#include "collector/exact/detect/communication/comm_fragments.h"
#include "collector/exact/detect/communication/comm_shadow.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/thread.h"
#include "collector/exact/trace/translation.h"
#include "collector/exact/valgrind/pages.h"
#include "format/record.h"

#include "pub_tool_hashtable.h"

enum { SHADOW_MOST = 512 << 20, NAME_MAX_BYTES = 32, BEFORE_MOST = 16 };

/* An access that something came of. */
struct lwp_comm_site {
    Addr ip;
    uint64_t scope;          /* its function */
    uint64_t time;           /* of the first time */
    struct lwp_comm_histogram *histograms; /* of distances, by site that read before; the one used last comes first */
    struct lwp_comm_trace *trace;
    uint32_t number, bytes;
    uint32_t writer, reader; /* of the last time; `trace` and `count` are theirs */
    uint32_t count;          /* place in counts.list */
    struct instruction *instruction;
};

/* Of all its accesses, in whatever superblocks it is. */
struct instruction {
    struct instruction *next; /* as VG_(HT) has it */
    Addr ip;
    uint64_t time; /* of the first time */
    struct lwp_comm_fragments fragments;
};

/* A thread. */
struct party {
    uint32_t tid;
    bool ended;
    HChar name[NAME_MAX_BYTES];
};

static struct lwp_comm_shadow shadow;
static struct lwp_comm_counts counts;
static struct lwp_comm_distances distances;
static XArray *sites;   /* pointers, by number */
static XArray *parties; /* by number - 1 */
static VgHashTable *instructions;
static unsigned piece_bytes;
static uint64_t accesses; /* all of the run */

static void *communication_alloc(size_t bytes)
{
    return VG_(calloc)("lwp.communication", 1, bytes);
}

static void communication_free(void *memory)
{
    VG_(free)(memory);
}

static const struct lwp_comm_port port = {lwp_pages_map, lwp_pages_unmap, communication_alloc, communication_free};

static bool communication_start(unsigned granule_bytes)
{
    sites = VG_(newXA)(VG_(malloc), "lwp.communication", VG_(free), sizeof(struct lwp_comm_site *));
    parties = VG_(newXA)(VG_(malloc), "lwp.communication", VG_(free), sizeof(struct party));
    instructions = VG_(HT_construct)("lwp.communication");
    piece_bytes = granule_bytes > LWP_COMM_PIECE ? granule_bytes : LWP_COMM_PIECE;
    return lwp_comm_init(&shadow, &port, (unsigned)__builtin_ctz(granule_bytes), SHADOW_MOST) &&
           lwp_comm_counts_init(&counts, &port) && lwp_comm_distances_init(&distances, &port);
}

/* ---- what came of an access ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 31;
}

/* Functions are distinguished by name: those of several files that share one count as one. */
static uint64_t scope_of(Addr ip)
{
    const HChar *name;
    uint64_t scope = 1;
    if (VG_(get_fnname)(VG_(current_DiEpoch)(), ip, &name))
        for (; *name; name++)
            scope = mix(scope, (UChar)*name);
    return scope;
}

static struct instruction *instruction_of(Addr ip)
{
    struct instruction *known = VG_(HT_lookup)(instructions, ip);
    if (known)
        return known;
    struct instruction *made = VG_(calloc)("lwp.communication", 1, sizeof *made);
    made->ip = ip;
    made->time = lwp_trace_time();
    VG_(HT_add_node)(instructions, made);
    return made;
}

static struct lwp_comm_site *site_of(struct lwp_trace_block *block, uint32_t access)
{
    if (!block->communication)
        block->communication = VG_(calloc)("lwp.communication", block->count, sizeof *block->communication);
    struct lwp_comm_site *site = &block->communication[access];
    if (site->ip)
        return site;
    UInt bytes = block->access[access].bytes;
    *site = (struct lwp_comm_site){.ip = block->access[access].ip,
                                   .scope = scope_of(block->access[access].ip),
                                   .time = lwp_trace_time(),
                                   .instruction = instruction_of(block->access[access].ip),
                                   .number = (uint32_t)VG_(sizeXA)(sites),
                                   .bytes = bytes < piece_bytes ? bytes : piece_bytes};
    VG_(addToXA)(sites, &site);
    return site;
}

/* Beyond BEFORE_MOST sites all others are taken for the site itself. */
static struct lwp_comm_histogram *histogram_of(struct lwp_comm_site *site, uint32_t before)
{
    unsigned known = 0;
    for (struct lwp_comm_histogram **at = &site->histograms; *at; at = &(*at)->next, known++) {
        struct lwp_comm_histogram *found = *at;
        if (found->before != before)
            continue;
        *at = found->next;
        found->next = site->histograms;
        return site->histograms = found;
    }
    if (known >= BEFORE_MOST && before != site->number)
        return histogram_of(site, site->number);
    struct lwp_comm_histogram *made = communication_alloc(sizeof *made);
    made->before = before;
    made->next = site->histograms;
    return site->histograms = made;
}

static void site_count(struct lwp_comm_site *site, const struct lwp_comm_event *event, Addr address)
{
    uint32_t reader = shadow.thread;
    if (site->writer != event->writer || site->reader != reader) {
        uint64_t key = mix(site->scope, (uint64_t)event->writer << LWP_COMM_THREAD_BITS | reader);
        site->writer = event->writer;
        site->reader = reader;
        site->count = lwp_comm_counts_at(&counts, site->number, event->writer, reader);
        site->trace = lwp_comm_trace_of(&distances, key ? key : 1);
    }
    struct lwp_comm_count *count = &counts.list[site->count];
    uint64_t times = (uint64_t)1 << shadow.thinned;
    *(event->again ? &count->again : &count->first) += times;
    if (!event->again && !shadow.thinned && piece_bytes == LWP_COMM_PIECE) /* lines left out would cut fragments */
        lwp_comm_fragments_read(&site->instruction->fragments, address, site->bytes);
    uint32_t before;
    int64_t distance = site->trace ? lwp_comm_trace_read(&distances, site->trace, address >> shadow.granule_bits, site->number, &before)
                                   : LWP_COMM_UNFOLLOWED;
    if (distance >= 0)
        lwp_comm_histogram_add(histogram_of(site, before), (uint64_t)distance << shadow.thinned, times << distances.thinned);
}

static __attribute__((noinline)) void piece_load(struct lwp_trace_block *block, uint32_t access, Addr address, unsigned bytes)
{
    struct lwp_comm_event events[LWP_COMM_EVENTS];
    unsigned count = lwp_comm_load_slowly(&shadow, address, bytes, events);
    for (unsigned i = 0; i < count && lwp_trace_open; i++)
        site_count(site_of(block, access), &events[i], address);
}

/* ---- accesses ---- */

static void block_load(struct lwp_trace_block *block, uint32_t access, Addr address)
{
    unsigned left = block->access[access].bytes;
    for (unsigned bytes; left; left -= bytes, address += bytes) {
        bytes = left < piece_bytes ? left : piece_bytes;
        if (!lwp_comm_nothing(&shadow, address, lwp_comm_way_of(bytes, false)))
            piece_load(block, access, address, bytes);
    }
}

/* What the loader writes (addresses of functions and data, threads' own data) is as if it had been there before. */
static bool block_is_loader(struct lwp_trace_block *block)
{
    enum { NO = 1, YES };
    const HChar *object;
    if (!block->loader)
        block->loader = VG_(get_objname)(VG_(current_DiEpoch)(), (Addr)block->ip, &object) && VG_(strstr)(object, "/ld-linux") ? YES : NO;
    return block->loader == YES;
}

static void block_store(struct lwp_trace_block *block, uint32_t access, Addr address)
{
    unsigned left = block->access[access].bytes;
    for (unsigned bytes; left; left -= bytes, address += bytes) {
        bytes = left < piece_bytes ? left : piece_bytes;
        if (lwp_comm_nothing(&shadow, address, lwp_comm_way_of(bytes, true)))
            continue;
        if (block_is_loader(block))
            lwp_comm_forget(&shadow, address, bytes);
        else
            lwp_comm_store_slowly(&shadow, address, bytes);
    }
}

/* To caches and layout a compare-and-swap is a store, whatever comes of it; to a reader only one that stored is. */
static bool block_stores(const struct lwp_trace_block *block, uint32_t access, const ULong *addresses)
{
    uint8_t swap = block->access[access].swap;
    return block->access[access].flags & LWPS_ACCESS_STORE && (!swap || addresses[lwp_trace_swap(block, swap)]);
}

static __attribute__((noinline)) void block_access(struct lwp_trace_block *block, uint32_t access, const ULong *addresses)
{
    if (!addresses[access])
        return;
    if (block->access[access].flags & LWPS_ACCESS_LOAD)
        block_load(block, access, addresses[access]);
    if (block_stores(block, access, addresses))
        block_store(block, access, addresses[access]);
}

static void communication_survey(struct lwp_translation *now)
{
    struct lwp_trace_block *block = now->block;
    for (uint32_t i = 0; i < block->count; i++)
        block->access[i].way = (uint8_t)lwp_comm_way_of(block->access[i].bytes, block->access[i].flags & LWPS_ACCESS_STORE);
}

static void communication_words(ULong *begin, ULong *end)
{
    const ULong *at = begin;
    uint64_t passed = 0;
    while (at < end) {
        struct lwp_trace_block *block = (void *)*at++;
        passed += block->count;
        for (uint32_t i = 0; i < block->count; i++)
            if (!lwp_comm_nothing(&shadow, at[i], block->access[i].way))
                block_access(block, i, at);
        at += lwp_trace_length(block);
    }
    accesses += passed;
}

static void communication_forget(Addr address, SizeT bytes)
{
    lwp_trace_drain();
    lwp_comm_forget(&shadow, address, bytes);
}

static void communication_kernel_wrote(Addr address, SizeT bytes)
{
    lwp_trace_drain();
    for (SizeT done = 0, piece; done < bytes; done += piece) {
        piece = bytes - done < piece_bytes ? bytes - done : piece_bytes;
        lwp_comm_store_slowly(&shadow, address + done, (unsigned)piece);
    }
}

/* ---- threads ---- */

static struct party *party_of(uint32_t number)
{
    return number && (Word)number <= VG_(sizeXA)(parties) ? VG_(indexXA)(parties, number - 1) : NULL;
}

static void communication_thread_made(struct lwp_exact_thread *thread)
{
    if (thread->number)
        return;
    Word known = VG_(sizeXA)(parties);
    thread->number = (uint32_t)(known < LWP_COMM_THREADS ? known + 1 : LWP_COMM_THREADS);
    if (known < LWP_COMM_THREADS)
        VG_(addToXA)(parties, &(struct party){.tid = 0});
}

static void communication_thread_runs(ThreadId id, struct lwp_exact_thread *before, struct lwp_exact_thread *thread)
{
    Addr sp = VG_(get_SP)(id);
    (void)before;
    communication_thread_made(thread); /* the first one is made by nobody */
    struct party *party = party_of(thread->number);
    if (!party->tid && thread->stack_low < sp && sp < thread->stack_high)
        lwp_comm_forget(&shadow, thread->stack_low, sp - thread->stack_low);
    party->tid = thread->tid; /* another one in the child of a fork */
    lwp_comm_run(&shadow, thread->number);
}

static void communication_thread_ends(struct lwp_exact_thread *thread)
{
    HChar name[LWP_THREAD_NAME_BYTES];
    struct party *party = party_of(thread->number);
    if (!party)
        return;
    VG_(strncpy)(party->name, lwp_thread_name(thread->tid, name), NAME_MAX_BYTES - 1);
    party->ended = true;
}

/* ---- records ---- */

static struct lwps_writer file;

static void write_parties(void)
{
    HChar name[NAME_MAX_BYTES];
    for (Word i = 0; i < VG_(sizeXA)(parties); i++) {
        struct party *party = VG_(indexXA)(parties, i);
        const HChar *called = party->ended ? party->name : lwp_thread_name(party->tid, name);
        lwps_put_party(&file, &(struct lwps_party){.number = (uint32_t)i + 1, .tid = party->tid, .name = called});
    }
}

static struct lwp_comm_site *site_at(uint32_t number)
{
    return *(struct lwp_comm_site **)VG_(indexXA)(sites, (Word)number);
}

static void write_counts(void)
{
    const struct lwp_comm_count *rest = &counts.list[0];
    if (rest->first + rest->again)
        lwps_put_flow(&file, &(struct lwps_flow){.first = rest->first, .again = rest->again});
    for (uint32_t i = 1; i < counts.count; i++) {
        const struct lwp_comm_count *count = &counts.list[i];
        const struct lwp_comm_site *site = site_at(count->site);
        lwps_put_flow(&file, &(struct lwps_flow){.time = site->time, .ip = site->ip, .bytes = site->bytes,
                                                 .writer = count->writer, .reader = count->reader,
                                                 .first = count->first, .again = count->again});
    }
}

static void write_fragments(void)
{
    const struct instruction *one;
    VG_(HT_ResetIter)(instructions);
    while ((one = VG_(HT_Next)(instructions))) {
        const struct lwp_comm_fragments *fragments = &one->fragments;
        if (fragments->count)
            lwps_put_flow_pieces(&file, &(struct lwps_flow_pieces){.time = one->time, .ip = one->ip, .count = fragments->count,
                                                                   .lines = fragments->lines, .bytes = fragments->bytes,
                                                                   .even = (uint64_t)fragments->votes, .step = fragments->step});
    }
}

static void write_distances(void)
{
    for (Word i = 0; i < VG_(sizeXA)(sites); i++) {
        const struct lwp_comm_site *site = site_at((uint32_t)i);
        for (const struct lwp_comm_histogram *histogram = site->histograms; histogram; histogram = histogram->next)
            for (unsigned k = 0; k < LWP_COMM_BUCKETS; k++)
                if (histogram->bucket[k].count)
                    lwps_put_flow_distance(&file, &(struct lwps_flow_distance){.time = site->time, .ip = site->ip,
                                                                              .up_to = histogram->bucket[k].most,
                                                                              .count = histogram->bucket[k].count,
                                                                              .before = site_at(histogram->before)->ip});
    }
}

static void communication_write(void)
{
    if (!lwp_exact_process_rewrite(&file, "t0.4"))
        return;
    lwps_put_flows(&file, &(struct lwps_flows){.granule_bytes = 1u << shadow.granule_bits, .alone_bytes = shadow.alone_most,
                                               .thinned = shadow.thinned, .distances_thinned = distances.thinned,
                                               .accesses = accesses});
    write_parties();
    write_counts();
    write_fragments();
    write_distances();
    lwp_exact_process_rewritten(&file, "t0.4");
}

static void communication_reset(void)
{
    for (Word i = 0; i < VG_(sizeXA)(sites); i++) {
        struct lwp_comm_site *site = site_at((uint32_t)i);
        for (struct lwp_comm_histogram *histogram; (histogram = site->histograms); communication_free(histogram))
            site->histograms = histogram->next;
        site->writer = site->reader = 0;
    }
    lwp_comm_counts_clear(&counts);
    lwp_comm_distances_clear(&distances);
    struct instruction *one;
    VG_(HT_ResetIter)(instructions);
    while ((one = VG_(HT_Next)(instructions)))
        one->fragments = (struct lwp_comm_fragments){0};
    accesses = 0;
}

const struct lwp_detector lwp_communication_detector = {
    .option = "communication",
    .most = 64,
    .needs = LWP_NEEDS_ADDRESSES | LWP_NEEDS_WHOLE_RUN,
    .failed = "Communication between threads was not counted: there is not enough memory.",
    .start = communication_start,
    .write = communication_write,
    .reset = communication_reset,
    .survey = communication_survey,
    .words = communication_words,
    .forget = communication_forget,
    .kernel_wrote = communication_kernel_wrote,
    .freed = communication_forget,
    .allocated = communication_forget,
    .thread_made = communication_thread_made,
    .thread_runs = communication_thread_runs,
    .thread_ends = communication_thread_ends,
};
