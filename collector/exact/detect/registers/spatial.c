#include "collector/exact/detect/registers/spatial.h"

#include "collector/exact/detect/registers/spatial_counts.h"
#include "collector/exact/program/blocks.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/thread.h"
#include "format/record.h"

enum {
    STREAMS = 256,
    STORES = 1 << 16,        /* until it is looked at without waiting for the window's end */
    LEAST = 16,              /* stores of a stream */
    DENSE = 2,               /* at most so many places for each store */
    JUMP = 1 << 20,          /* bytes: farther away is something else */
    ELEMENTS_MOST = 1 << 16, /* looked at at once; of an array all */
};

bool lwp_spatial_runs;

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

void lwp_spatial_block(const struct lwp_trace_block *block, const ULong *addresses)
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
        lwp_spatial_look();
}

void lwp_spatial_look(void)
{
    stores = 0;
    for (struct stream *stream = streams; stream < streams + STREAMS; stream++)
        if (stream->site)
            spatial_end(stream);
}

void lwp_spatial_gone(Addr start, SizeT size)
{
    for (struct stream *stream = streams; stores && stream < streams + STREAMS; stream++)
        if (stream->site && stream->low - start < size)
            spatial_end(stream);
}

void lwp_spatial_forget(Addr start, SizeT size)
{
    for (struct stream *stream = streams; stores && stream < streams + STREAMS; stream++)
        if (stream->site && stream->low < start + size && stream->high + stream->site->bytes > start)
            stream->site = NULL;
}

void lwp_spatial_array(Addr ip, Addr pointer, SizeT count, SizeT size, bool is_float)
{
    lwp_calls_know();
    const struct lwp_spatial_elements elements = {.low = pointer, .count = count, .step = size, .size = size, .ip = ip,
                                                  .node = lwp_context_now, .is_float = is_float && (size == 4 || size == 8)};
    if (count && size && size < 1 << 16 && count < ((SizeT)1 << 40) / size &&
        VG_(am_is_valid_for_client)(pointer, count * size, VKI_PROT_READ))
        lwp_spatial_count(&elements);
}
