/* Spatial redundancy (RedSpy; Wen's thesis, 3.4.2): elements of an array beside each other that have one value. Looked at
 * are, when a window ends (or much was stored in it, or the block is freed), the parts of heap blocks and static data that
 * an instruction has stored to in it without leaving much out, by the distance and the width of its stores; and what
 * the program asks for with LWP_ARRAY() (collector/lwp.h), whatever else is asked for. */
#include "collector/exact/detect/registers/spatial_counts.h"
#include "collector/exact/detect/registers/spatial_registers.h"
#include "collector/exact/program/blocks.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/thread.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/store_element.h"
#include "collector/exact/trace/translation.h"
#include "format/record.h"

enum {
    STREAMS = 256,
    STORES = 1 << 16,        /* until it is looked at without waiting for the window's end */
    LEAST = 16,              /* stores of a stream */
    DENSE = 2,               /* at most so many places for each store */
    JUMP = 1 << 20,          /* bytes: farther away is something else */
    ELEMENTS_MOST = 1 << 16, /* looked at at once; of an array all */
};

/* The stores of one instruction on one call path to one block, or near to each other in static data. */
static struct stream {
    const struct lwp_trace_access *site; /* NULL: none */
    uint32_t node, count;
    Addr low, high, last; /* of the first bytes */
    uint64_t stride;      /* greatest common divisor of the distances; 0: none yet */
    Addr from, to;        /* where else would be another stream */
} streams[STREAMS];
static uint32_t stores;

static uint64_t spatial_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Of streams that share their places out among them, as those of an unrolled loop do, the others are dropped: their
 * number is told, and one stream has the range of all. */
static uint64_t spatial_join(struct stream *stream)
{
    uint64_t parts = 1;
    for (struct stream *other = streams; other < streams + STREAMS; other++) {
        if (other == stream || !other->site || other->node != stream->node || other->stride != stream->stride ||
            other->site->bytes != stream->site->bytes || other->low > stream->high || other->high < stream->low)
            continue;
        uint64_t apart = other->low > stream->low ? other->low - stream->low : stream->low - other->low;
        if (apart % stream->stride == 0 || apart % stream->site->bytes)
            continue;
        stream->low = other->low < stream->low ? other->low : stream->low;
        stream->high = other->high > stream->high ? other->high : stream->high;
        stream->count = other->count < stream->count ? other->count : stream->count;
        other->site = NULL;
        parts++;
    }
    return parts;
}

/* Takes the stream away. */
static void spatial_end(struct stream *stream)
{
    const struct lwp_trace_access *site = stream->site;
    if (stream->count < LEAST || !stream->stride || !site->element) {
        stream->site = NULL;
        return;
    }
    uint64_t parts = stream->stride > site->bytes ? spatial_join(stream) : 1;
    bool whole = parts * site->bytes >= stream->stride; /* no gaps */
    struct lwp_spatial_elements elements = {.low = stream->low, .size = site->element, .ip = site->ip, .node = stream->node,
                                            .is_float = (site->flags & LWPS_ACCESS_FLOAT) != 0,
                                            .step = whole ? site->element : stream->stride};
    SizeT bytes = stream->high - stream->low + site->bytes;
    bool dense = bytes / stream->stride <= (uint64_t)DENSE * stream->count;
    elements.count = (stream->high - stream->low + (whole ? site->bytes : elements.step)) / elements.step;
    if (elements.count > ELEMENTS_MOST)
        elements.count = ELEMENTS_MOST;
    stream->site = NULL;
    if (dense && (whole || site->bytes == site->element) && VG_(am_is_valid_for_client)(elements.low, bytes, VKI_PROT_READ))
        lwp_spatial_count(&elements);
}

static void spatial_begin(struct stream *stream, const struct lwp_trace_access *site, Addr address)
{
    const struct lwp_block *block = lwp_block_at(address);
    *stream = (struct stream){.site = site, .node = lwp_context_now, .count = 1, .low = address, .high = address, .last = address};
    stream->from = block ? block->start : address - JUMP;
    stream->to = block ? block->start + block->size : address + JUMP;
}

/* Where it is kept does not depend on where the tool's own memory is, which is not the same in every run. */
static void spatial_store(const struct lwp_trace_block *block, uint32_t access, Addr address)
{
    const struct lwp_trace_access *site = &block->access[access];
    struct stream *stream = &streams[(block->ip + access + lwp_context_now * 31) % STREAMS];
    if (stream->site != site || stream->node != lwp_context_now || address < stream->from || address >= stream->to) {
        if (stream->site)
            spatial_end(stream);
        spatial_begin(stream, site, address);
        return;
    }
    if (address == stream->last)
        return;
    stream->stride = spatial_divisor(address > stream->last ? address - stream->last : stream->last - address, stream->stride);
    stream->last = address;
    stream->low = address < stream->low ? address : stream->low;
    stream->high = address > stream->high ? address : stream->high;
    stream->count++;
}

/* All that was stored to since the last time. */
static void spatial_look(void)
{
    stores = 0;
    for (struct stream *stream = streams; stream < streams + STREAMS; stream++)
        if (stream->site)
            spatial_end(stream);
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
        stores++;
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
        lwp_spatial_registers_look();
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
    lwp_spatial_registers_finish();
}

static void spatial_array(ThreadId thread, const UWord *arguments)
{
    Addr pointer = arguments[1];
    SizeT count = arguments[2], size = arguments[3];
    lwp_calls_know();
    const struct lwp_spatial_elements elements = {.low = pointer, .count = count, .step = size, .size = size, .ip = VG_(get_IP)(thread),
                                                  .node = lwp_context_now, .is_float = arguments[4] && (size == 4 || size == 8)};
    if (count && size && size < 1 << 16 && count < ((SizeT)1 << 40) / size &&
        VG_(am_is_valid_for_client)(pointer, count * size, VKI_PROT_READ))
        lwp_spatial_count(&elements);
}

const struct lwp_detector lwp_spatial_detector = {
    .option = "spatial",
    .needs = LWP_NEEDS_ADDRESSES | LWP_NEEDS_PATHS,
    .finish = spatial_finish,
    .reset = lwp_spatial_registers_reset,
    .describe = spatial_describe,
    .words = spatial_words,
    .window = spatial_window,
    .forget = spatial_forget,
    .freeing = spatial_freeing,
    .thread_ends = spatial_thread_ends,
};

const struct lwp_detector lwp_arrays_detector = {
    .write = lwp_spatial_write,
    .reset = lwp_spatial_reset,
    .array = spatial_array,
};
