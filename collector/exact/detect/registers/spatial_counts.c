#include "collector/exact/detect/registers/spatial_counts.h"

#include "collector/exact/program/blocks.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/sampling.h"
#include "collector/record/value.h"
#include "format/record.h"

enum { ROOM_BITS = 13, ROOM = 1 << ROOM_BITS, SUMS_MOST = ROOM / 2 }; /* what comes later is in the totals only */

/* Of one instruction on one call path and the data it stores to; bytes. ip 0: free. */
static struct sum {
    Addr ip, object;
    uint32_t node;
    uint64_t same, close, other, times;
    struct lwps_access access; /* the first element looked at */
    uint64_t time;
} sums[ROOM], rest;
static uint32_t sum_count;

static struct lwps_writer file;
static struct lwp_context_map contexts;

static struct sum *spatial_sum(const struct lwp_spatial_elements *elements)
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
    sum->access = (struct lwps_access){.ip = elements->ip, .address = elements->low, .bytes = (uint16_t)elements->size,
                                       .source = LWPS_SOURCE_TRACE,
                                       .flags = (uint8_t)(LWPS_ACCESS_STORE | LWPS_ACCESS_KNOWN | (elements->is_float ? LWPS_ACCESS_FLOAT : 0))};
    lwp_sampling_place(&sum->access);
    if (sum->access.home == LWPS_HOME_STACK)
        sum->access.home = LWPS_HOME_ADDRESS;
    return sum;
}

static enum lwps_value spatial_compare(const UChar *before, const UChar *after, const struct lwp_spatial_elements *elements)
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

void lwp_spatial_count(const struct lwp_spatial_elements *elements)
{
    struct sum *sum = spatial_sum(elements);
    const UChar *at = (const UChar *)elements->low;
    sum->other += elements->size; /* the first one */
    for (SizeT i = 1; i < elements->count; i++, at += elements->step) {
        enum lwps_value value = spatial_compare(at, at + elements->step, elements);
        *(value == LWPS_VALUE_SAME ? &sum->same : value == LWPS_VALUE_CLOSE ? &sum->close : &sum->other) += elements->size;
        sum->times += value != LWPS_VALUE_OTHER;
    }
}

static void spatial_put(const struct sum *sum)
{
    struct lwps_pair record = {.verdict = LWPS_VERDICT_SPATIAL, .use = sum->other, .waste = sum->same, .close = sum->close,
                               .times = sum->times, .time = sum->time, .first = sum->access};
    record.first_context = sum->ip ? lwp_context_in_file(&contexts, &file, sum->node) : 0;
    record.second_context = record.first_context;
    record.second = record.first;
    if (sum->other)
        lwps_put_pair(&file, &record);
}

void lwp_spatial_write(void)
{
    if (!sum_count || !lwp_exact_process_rewrite(&file, "t0.3"))
        return;
    for (uint32_t i = 0; i < ROOM; i++)
        spatial_put(&sums[i]);
    spatial_put(&rest);
    lwp_exact_process_rewritten(&file, "t0.3");
    lwp_context_map_clear(&contexts);
}

void lwp_spatial_reset(void)
{
    sum_count = 0;
    VG_(memset)(sums, 0, sizeof sums);
    rest = (struct sum){0};
}
