/* Spatial redundancy (RedSpy; Wen's thesis, 3.4.2): elements of an array that have one value, and of them those beside each other. Looked
 * at are, when a window ends (or much was stored in it, or the block is freed), the parts of heap blocks and static data that
 * an instruction has stored to in it without leaving much out, by the distance and the width of its stores; and what
 * the program asks for with LWP_ARRAY() (collector/lwp.h), whatever else is asked for. So do registers that hold one value
 * when a window ends. */
#include "collector/exact/detect/registers/stored_elements.h"
#include "collector/exact/detect/registers/unique.h"
#include "collector/exact/program/blocks.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/thread.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/accesses.h"
#include "collector/exact/trace/sampling.h"
#include "collector/exact/trace/translation.h"
#include "collector/exact/valgrind/pages.h"
#include "collector/record/value.h"
#include "format/record.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

enum {
    STREAMS = 256,
    WAYS = 4,
    STORES = 1 << 16,  /* until it is looked at without waiting for the window's end */
    LEAST = 16,        /* stores to an array */
    JUMP = 1 << 20,    /* bytes: farther away is something else */
    REQUEST_BYTES = 3, /* xchg, which ends a request (collector/lwp.h) */
};

/* ---- how many elements have a value that others have, too, and how many that of the one before; by who stored them and in which
 * data; as records of a file of the process ---- */

/* Elements of `size` bytes at each `step` from `low` on, `is_float`: floating point numbers. */
struct elements {
    Addr low;
    SizeT count, step, size;
    bool is_float;
    Addr ip;       /* who stored them */
    uint32_t node; /* of the call tree */
};

enum { ROOM_BITS = 13, ROOM = 1 << ROOM_BITS, SUMS_MOST = ROOM / 2 }; /* what comes later is in the totals only */

/* Of one instruction on one call path and the data it stores to; bytes. other: of the elements whose value none before has; times: elements
 * that equal the one before, or nearly; near: nearly. ip 0: free. */
static struct sum {
    Addr ip, object;
    uint32_t node;
    uint64_t same, close, other, times, near;
    struct lwps_access access; /* the first element looked at */
    uint64_t time;
} sums[ROOM], rest;
static uint32_t sum_count;

static struct lwps_writer file;
static struct lwp_context_map contexts;

static struct sum *spatial_sum(const struct elements *elements)
{
    const struct lwp_block *block = lwp_block_at(elements->low);
    Addr object = !block ? 0 : block->pool ? block->pool : block->start;
    uint64_t hash = (elements->ip ^ object << 20 ^ (uint64_t)elements->node << 44) * 0x9e3779b97f4a7c15u;
    struct sum *sum = &sums[hash >> (64 - ROOM_BITS)];
    while (sum->ip && (sum->ip != elements->ip || sum->node != elements->node || sum->object != object))
        sum = sum == sums + ROOM - 1 ? sums : sum + 1;
    if (sum->ip)
        return sum;
    if (sum_count == SUMS_MOST)
        return &rest;
    sum_count++;
    *sum = (struct sum){.ip = elements->ip, .object = object, .node = elements->node, .time = lwp_trace_time()};
    uint8_t flags = LWPS_ACCESS_STORE | LWPS_ACCESS_KNOWN | (elements->is_float ? LWPS_ACCESS_FLOAT : 0);
    sum->access = (struct lwps_access){.ip = elements->ip, .address = elements->low, .bytes = (uint16_t)elements->size,
                                       .source = LWPS_SOURCE_TRACE, .flags = flags};
    lwp_sampling_attribute(&sum->access);
    if (sum->access.home == LWPS_HOME_STACK)
        sum->access.home = LWPS_HOME_ADDRESS;
    return sum;
}

static enum lwps_value spatial_compare(const UChar *before, const UChar *after, const struct elements *elements)
{
    uint64_t a = 0, b = 0;
    if (VG_(memcmp)(before, after, elements->size) == 0)
        return LWPS_VALUE_SAME;
    if (!elements->is_float)
        return LWPS_VALUE_OTHER;
    VG_(memcpy)(&a, before, elements->size);
    VG_(memcpy)(&b, after, elements->size);
    return lwp_value_compare(a, b, (unsigned)elements->size, (unsigned)elements->size);
}

static const struct lwp_shadow_port spatial_port = {.map = lwp_pages_map, .unmap = lwp_pages_unmap};

/* They can all be read. NULL: no memory. */
static struct sum *elements_count(const struct elements *elements, const void *at)
{
    struct lwp_unique unique;
    if (!lwp_unique_count(&spatial_port, at, elements->count, elements->step, elements->size, elements->is_float, &unique))
        return NULL;
    struct sum *sum = spatial_sum(elements);
    sum->same += (elements->count - unique.values) * elements->size;
    sum->close += (unique.values - unique.groups) * elements->size;
    sum->other += unique.groups * elements->size;
    return sum;
}

static void elements_compare(struct sum *sum, const UChar *before, const UChar *after, const struct elements *elements)
{
    const enum lwps_value value = spatial_compare(before, after, elements);
    sum->times += value != LWPS_VALUE_OTHER;
    sum->near += value == LWPS_VALUE_CLOSE;
}

/* An array of which all elements are looked at. */
static void array_count(const struct elements *elements)
{
    struct sum *sum = elements_count(elements, (const void *)elements->low);
    const UChar *at = (const UChar *)elements->low;
    for (SizeT i = 1; sum && i < elements->count; i++, at += elements->step)
        elements_compare(sum, at, at + elements->step, elements);
}

/* Those that were stored to, of which most are `step` apart. */
static void spatial_count(const struct lwp_stored_elements *set, uint64_t step, struct elements *elements)
{
    const UChar *memory = (const UChar *)set->low;
    const SizeT size = set->size, bytes = set->count * size;
    UChar *copies = lwp_pages_map(bytes), *copy = copies;
    if (!copies)
        return;
    for (uint64_t at = lwp_stored_next(set, 0); at < set->room; at = lwp_stored_next(set, at + 1), copy += size)
        VG_(memcpy)(copy, memory + at * size, size);
    elements->count = set->count;
    elements->step = size;
    struct sum *sum = elements_count(elements, copies);
    for (uint64_t at = lwp_stored_next(set, 0), next; sum && at < set->room; at = next) {
        next = lwp_stored_next(set, at + 1);
        if (next == at + step && next < set->room)
            elements_compare(sum, memory + at * size, memory + next * size, elements);
    }
    lwp_pages_unmap(copies, bytes);
}

static void spatial_put(const struct sum *sum)
{
    struct lwps_pair record = {.verdict = LWPS_VERDICT_SPATIAL, .use = sum->other, .waste = sum->same, .close = sum->close,
                               .times = sum->times, .again = sum->near, .time = sum->time, .first = sum->access};
    record.first_context = sum->ip ? lwp_context_in_file(&contexts, &file, sum->node) : 0;
    record.second_context = record.first_context;
    record.second = record.first;
    if (sum->other)
        lwps_put_pair(&file, &record);
}

static void spatial_write(void)
{
    if (!sum_count || !lwp_exact_process_rewrite(&file, "t0.3"))
        return;
    for (uint32_t i = 0; i < ROOM; i++)
        spatial_put(&sums[i]);
    spatial_put(&rest);
    lwp_exact_process_rewritten(&file, "t0.3");
    lwp_context_map_clear(&contexts);
}

static void spatial_reset(void)
{
    sum_count = 0;
    VG_(memset)(sums, 0, sizeof sums);
    rest = (struct sum){0};
}

/* ---- streams of stores ---- */

enum { POOL = STORES + 4096, TOGETHER_OF = 4 };

/* Addresses of the stores since the last look; the next one of the same stream, 0: none. [0] is not used. */
static struct store {
    Addr address;
    uint32_t next;
} pool[POOL];
static uint32_t stores; /* also those that are in no stream any more */

/* The stores of one instruction on one call path to one block, or near to each other in static data. */
static struct stream {
    const struct lwp_trace_access *site; /* NULL: none */
    uint32_t node, count;
    Addr low, high;       /* of the first bytes */
    Addr from, to;        /* where else would be another stream */
    uint32_t first, last; /* in the pool */
} streams[STREAMS];

static bool streams_are_alike(const struct stream *a, const struct stream *b)
{
    const struct lwp_trace_access *x = a->site, *y = b->site;
    return a->node == b->node && x->element == y->element && ((x->flags ^ y->flags) & LWPS_ACCESS_FLOAT) == 0 &&
           (a->low - b->low) % x->element == 0;
}

/* Those that store elements of one kind to one piece of memory as `first` does: what unrolled and vectorised loops are. The first one is
 * that with most stores. */
static uint32_t spatial_group(struct stream *first, struct stream *group[STREAMS], Addr *low, Addr *end)
{
    uint32_t count = 0, before;
    static bool taken[STREAMS];
    VG_(memset)(taken, 0, sizeof taken);
    *low = first->low;
    *end = first->high + first->site->bytes;
    do {
        before = count;
        for (struct stream *other = streams; other < streams + STREAMS; other++) {
            if (!other->site || taken[other - streams] || !streams_are_alike(first, other) || other->low >= *end ||
                other->high + other->site->bytes <= *low)
                continue;
            taken[other - streams] = true;
            group[count++] = other;
            *low = other->low < *low ? other->low : *low;
            *end = other->high + other->site->bytes > *end ? other->high + other->site->bytes : *end;
        }
    } while (count > before);
    for (uint32_t i = 1; i < count; i++)
        if (group[i]->count > group[0]->count) {
            struct stream *most = group[i];
            group[i] = group[0];
            group[0] = most;
        }
    return count;
}

/* Counts the elements that those of the group with the instruction of `of` have stored to, `of` NULL: all of them as one array, if they
 * are one: then most lie evenly apart, and none is out of step. */
static bool spatial_take(struct stream *const *group, uint32_t count, const struct stream *of, Addr low, Addr end)
{
    const struct lwp_trace_access *site = of ? of->site : group[0]->site;
    struct lwp_stored_elements set;
    uint64_t stored = 0, times;
    if (!lwp_stored_begin(&set, &spatial_port, low, end, site->element))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (of && group[i]->site->ip != site->ip)
            continue;
        stored += group[i]->count;
        for (uint32_t at = group[i]->first; at; at = pool[at].next)
            lwp_stored_put(&set, pool[at].address, group[i]->site->bytes);
    }
    const uint64_t step = lwp_stored_step(&set, &times);
    bool good = step && stored >= LEAST;
    for (uint32_t i = 0; good && !of && i < count; i++)
        good = (group[i]->low - group[0]->low) % (step * set.size) == 0 && TOGETHER_OF * times >= (TOGETHER_OF - 1) * (set.count - 1);
    if (good)
        spatial_count(&set, step,
                      &(struct elements){.low = group[0]->low,
                                         .size = set.size,
                                         .ip = site->ip,
                                         .node = group[0]->node,
                                         .is_float = (site->flags & LWPS_ACCESS_FLOAT) != 0});
    lwp_stored_end(&set);
    return good;
}

/* Takes the stream away, and all that belong to it. */
static void spatial_end(struct stream *stream)
{
    struct stream *group[STREAMS];
    Addr low, end;
    if (!stream->site->element) {
        stream->site = NULL;
        return;
    }
    const uint32_t count = spatial_group(stream, group, &low, &end);
    const bool readable = VG_(am_is_valid_for_client)(low, end - low, VKI_PROT_READ);
    const bool taken = readable && spatial_take(group, count, NULL, low, end);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = 0;
        while (before < i && group[before]->site->ip != group[i]->site->ip)
            before++;
        if (readable && !taken && before == i)
            spatial_take(group, count, group[i], low, end);
    }
    for (uint32_t i = 0; i < count; i++)
        group[i]->site = NULL;
}

static void spatial_begin(struct stream *stream, const struct lwp_trace_access *site, Addr address)
{
    const struct lwp_block *block = lwp_block_at(address);
    *stream = (struct stream){.site = site, .node = lwp_context_now, .low = address, .high = address};
    stream->from = block ? block->start : address - JUMP;
    stream->to = block ? block->start + block->size : address + JUMP;
}

/* One of a few streams that may be a store's; where they are does not depend on where the tool's own memory is, which is not the same in
 * every run. Of others the one with the fewest stores gives way. */
static struct stream *spatial_stream(const struct lwp_trace_access *site, uint32_t hash, Addr address)
{
    struct stream *set = &streams[(hash * 0x9e3779b1u >> 16) % (STREAMS / WAYS) * WAYS], *least = set;
    for (struct stream *stream = set; stream < set + WAYS; stream++) {
        if (stream->site == site && stream->node == lwp_context_now && address >= stream->from && address < stream->to)
            return stream;
        if (least->site && (!stream->site || stream->count < least->count))
            least = stream;
    }
    if (least->site && least->count >= LEAST)
        spatial_end(least);
    spatial_begin(least, site, address);
    return least;
}

static void spatial_store(const struct lwp_trace_block *block, uint32_t access, Addr address)
{
    const struct lwp_trace_access *site = &block->access[access];
    struct stream *stream = spatial_stream(site, (uint32_t)block->ip + access + lwp_context_now * 31, address);
    if ((stream->last && pool[stream->last].address == address) || stores + 1 >= POOL)
        return;
    pool[++stores] = (struct store){address, 0};
    if (stream->last)
        pool[stream->last].next = stores;
    else
        stream->first = stores;
    stream->last = stores;
    stream->low = address < stream->low ? address : stream->low;
    stream->high = address > stream->high ? address : stream->high;
    stream->count++;
}

/* All that was stored to since the last time. */
static void spatial_look(void)
{
    for (struct stream *stream = streams; stream < streams + STREAMS; stream++)
        if (stream->site)
            spatial_end(stream);
    stores = 0;
}

static void spatial_block(const struct lwp_trace_block *block, const ULong *addresses)
{
    const struct lwp_exact_thread *thread = lwp_thread_now;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct lwp_trace_access *site = &block->access[i];
        if (!(site->flags & LWPS_ACCESS_STORE) || !addresses[i] ||
            (addresses[i] >= thread->stack_low && addresses[i] < thread->stack_high))
            continue;
        spatial_store(block, i, addresses[i]);
    }
    if (stores >= STORES)
        spatial_look();
}

static void spatial_freeing(Addr start, SizeT size)
{
    for (struct stream *stream = streams; stores && stream < streams + STREAMS; stream++)
        if (stream->site && stream->low - start < size)
            spatial_end(stream);
}

/* It is something else by now, which may not even be there to be read (a file's mapping behind the file's end). */
static void spatial_forget(Addr start, SizeT size)
{
    for (struct stream *stream = streams; stores && stream < streams + STREAMS; stream++)
        if (stream->site && stream->low < start + size && stream->high + stream->site->bytes > start)
            stream->site = NULL;
}

static void spatial_words(ULong *begin, ULong *end)
{
    for (const ULong *at = begin; lwp_trace_open && at < end;) {
        const struct lwp_trace_block *block = (const void *)*at++;
        spatial_block(block, at);
        at += lwp_trace_length(block);
    }
}

/* ---- registers: how many hold a value that another one of the kind holds, too (of vector registers the first 8 bytes) ---- */

#define OFFSET(name) ((PtrdiffT)offsetof(VexGuestAMD64State, guest_##name))

enum { GROUPS = 3, REGISTERS_MOST = 16 };

static const struct {
    PtrdiffT offset;
    SizeT step, count;
} groups[GROUPS] = {{OFFSET(RAX), 8, 16}, {OFFSET(FPREG), 8, 8}, {OFFSET(YMM0), 32, 16}};

static uint64_t looks, equal[GROUPS];

static uint64_t registers_equal(ThreadId thread, unsigned group)
{
    uint64_t values[REGISTERS_MOST], count = 0;
    for (SizeT i = 0; i < groups[group].count; i++) {
        SizeT before = 0;
        PtrdiffT offset = groups[group].offset + (PtrdiffT)(i * groups[group].step);
        VG_(get_shadow_regs_area)(thread, (UChar *)&values[i], 0, offset, sizeof values[i]);
        while (before < i && values[before] != values[i])
            before++;
        count += before < i;
    }
    return count;
}

/* At a superblock's start, when the running thread's registers are all written. */
static void registers_look(void)
{
    looks++;
    for (unsigned group = 0; group < GROUPS; group++)
        equal[group] += registers_equal(VG_(get_running_tid)(), group);
}

static UInt registers_percent(unsigned group)
{
    return (UInt)(100 * equal[group] / (looks * groups[group].count));
}

static void registers_report(void)
{
    static HChar note[200];
    if (!looks)
        return;
    VG_(snprintf)(note, sizeof note,
                  "At the ends of %llu windows %u %% of the general registers, %u %% of the vector registers and %u %% of those of the "
                  "x87 held what another one held, too.",
                  (ULong)looks, registers_percent(0), registers_percent(2), registers_percent(1));
    lwp_exact_process_note(note);
}

static void registers_reset(void)
{
    looks = 0;
    VG_(memset)(equal, 0, sizeof equal);
}

/* ---- the detector ---- */

static void spatial_describe(const struct lwp_translation *now, const struct lwp_ir_access *access, struct lwp_trace_access *site)
{
    if (!(access->flags & LWPS_ACCESS_STORE))
        return;
    site->element = (uint8_t)lwp_store_element(now->in, access);
    if (site->element)
        site->flags |= LWPS_ACCESS_FLOAT;
    else
        site->element = (uint8_t)lwp_store_lane(now->in, access);
}

/* Registers are looked at where the window ends by itself. */
static void spatial_window(bool opens)
{
    if (opens)
        return;
    if (lwp_trace_inside)
        registers_look();
    spatial_look();
}

/* What is found is placed by the running thread's stack. */
static void spatial_thread_ends(struct lwp_exact_thread *thread)
{
    if (thread == lwp_thread_now)
        spatial_look();
}

static void spatial_finish(void)
{
    spatial_look();
    registers_report();
}

static void spatial_array(ThreadId thread, const UWord *arguments)
{
    Addr pointer = arguments[1];
    SizeT count = arguments[2], size = arguments[3];
    lwp_calls_know();
    const Addr request = VG_(get_IP)(thread) - REQUEST_BYTES;
    const struct elements elements = {.low = pointer, .count = count, .step = size, .size = size, .ip = request,
                                                  .node = lwp_context_now, .is_float = arguments[4] && (size == 4 || size == 8)};
    if (count && size && size < 1 << 16 && count < ((SizeT)1 << 40) / size &&
        VG_(am_is_valid_for_client)(pointer, count * size, VKI_PROT_READ))
        array_count(&elements);
}

const struct lwp_detector lwp_spatial_detector = {
    .option = "spatial",
    .needs = LWP_NEEDS_ADDRESSES | LWP_NEEDS_PATHS,
    .finish = spatial_finish,
    .reset = registers_reset,
    .describe = spatial_describe,
    .words = spatial_words,
    .window = spatial_window,
    .forget = spatial_forget,
    .freeing = spatial_freeing,
    .thread_ends = spatial_thread_ends,
};

const struct lwp_detector lwp_arrays_detector = {
    .write = spatial_write,
    .reset = spatial_reset,
    .array = spatial_array,
};
