/* A stride is known of instructions whose address moves on by a constant each time round their loop, as its code shows; others may go
 * anywhere (what samples have in common, struct lwp_stride, also holds the strides of the loops around). A traversal goes from the
 * lowest to the highest place seen of such an instruction. Traversals of one object whose ranges overlap may be one and count as one,
 * so there are at least so many concurrent streams. Pages are counted in objects of one block, in which offsets are places: of
 * traversals all from end to end, of other accesses those that a bounded number of samples fell on. */
#include "analysis/advice/locality/locality.h"

#include "analysis/program/flow/machine_code.h"
#include "base/arena.h"
#include "base/hash.h"

#include <stdlib.h>

enum { ROWS_MOST = 100, PAGE = 4096, STREAM_LINES = 2, STRIDES_MOST = 8 };

static const double row_least = 0.005; /* of all weight */

/* From one place of an object to another, both seen. */
struct sampled_range {
    uint32_t object;
    uint64_t low, high;
};

struct sampled_ranges {
    struct sampled_range *items;
    size_t count, room;
};

static void ranges_add(struct sampled_ranges *ranges, uint32_t object, uint64_t low, uint64_t high)
{
    LWP_GROW(&ranges->items, ranges->count, &ranges->room);
    ranges->items[ranges->count++] = (struct sampled_range){object, low, high};
}

static int range_compare(const void *a, const void *b)
{
    const struct sampled_range *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->low > y->low) - (x->low < y->low);
}

/* Overlapping ones become one. */
static void ranges_merge(struct sampled_ranges *ranges)
{
    size_t kept = 0;
    if (ranges->count)
        qsort(ranges->items, ranges->count, sizeof *ranges->items, range_compare);
    for (size_t i = 0; i < ranges->count; i++) {
        const struct sampled_range next = ranges->items[i];
        struct sampled_range *last = kept ? &ranges->items[kept - 1] : NULL;
        if (last && last->object == next.object && next.low <= last->high)
            last->high = next.high > last->high ? next.high : last->high;
        else
            ranges->items[kept++] = next;
    }
    ranges->count = kept;
}

/* The strides of instructions: many streams have the same one, and its loop's code is read once. */
struct sampled_strides {
    struct lwp_map *index; /* module and address -> items[] */
    int64_t *items;
    size_t count, room;
};

/* Bytes it moves on by each time round; 0: not known, or it does not. */
static int64_t stream_stride(const struct lwp_profile *profile, const struct lwp_stream *stream, struct sampled_strides *strides)
{
    enum { ADDRESS_BITS = 48 };
    struct lwp_loop_shape shape;
    uint32_t *at = lwp_map_at(strides->index, (uint64_t)stream->module << ADDRESS_BITS ^ stream->address);
    if (*at == LWP_MAP_NONE) {
        *at = (uint32_t)strides->count;
        LWP_GROW(&strides->items, strides->count, &strides->room);
        strides->items[strides->count++] = lwp_loop_shape(profile->code, stream->module, stream->address, &shape) ? shape.step : 0;
    }
    return strides->items[*at]; // NOLINT(clang-analyzer-core.NullDereference): a number that was there has its item
}

static bool stream_ends(const struct lwp_stream *stream, uint64_t *low, uint64_t *high)
{
    for (uint32_t i = 0; i < stream->offsets.count; i++) {
        uint64_t offset = stream->offsets.items[i];
        *low = i && *low < offset ? *low : offset;
        *high = i && *high > offset ? *high : offset;
    }
    return stream->offsets.count > 0;
}

/* ---- what streams show ---- */

/* Of one object in one loop. */
struct row_making {
    struct lwp_sampled_row row;
    int64_t strides[STRIDES_MOST];
    uint64_t seen[STRIDES_MOST]; /* accesses that have it */
    size_t stride_count;
    struct sampled_ranges pages;
    uint32_t next_of_region;
};

static void making_stride(struct row_making *making, int64_t stride, uint64_t seen)
{
    size_t k = 0;
    while (k < making->stride_count && making->strides[k] != stride)
        k++;
    if (k == STRIDES_MOST)
        return;
    making->stride_count += k == making->stride_count;
    making->strides[k] = stride;
    making->seen[k] += seen;
}

static void making_stream(struct row_making *making, const struct lwp_stream *stream, int64_t stride)
{
    uint64_t low = 0, high = 0;
    if (stride)
        making_stride(making, stride, stream->accesses);
    if (stride && llabs(stride) <= PAGE && stream_ends(stream, &low, &high))
        ranges_add(&making->pages, 0, low / PAGE, high / PAGE);
    else
        for (uint32_t i = 0; i < stream->offsets.count; i++)
            ranges_add(&making->pages, 0, stream->offsets.items[i] / PAGE, stream->offsets.items[i] / PAGE);
}

static void making_finish(const struct lwp_profile *profile, struct row_making *making)
{
    struct lwp_sampled_row *row = &making->row;
    const struct lwp_object *object = &profile->objects[row->object];
    for (size_t i = 0; i < making->stride_count; i++)
        if ((double)making->seen[i] > row->stride_share * (double)row->seen) {
            row->stride = making->strides[i];
            row->stride_share = (double)making->seen[i] / (double)row->seen;
        }
    ranges_merge(&making->pages);
    for (size_t i = 0; i < making->pages.count && object->allocations <= 1 && !object->pool_size; i++)
        row->pages += making->pages.items[i].high - making->pages.items[i].low + 1;
    free(making->pages.items);
}

/* ---- which are reported ---- */

static int making_compare(const void *a, const void *b)
{
    const struct lwp_sampled_row *x = &((const struct row_making *)a)->row, *y = &((const struct row_making *)b)->row;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

/* All with enough weight, largest first; owned by the caller. */
static struct row_making *makings_of(const struct lwp_profile *profile, size_t *count)
{
    struct row_making *all = NULL;
    size_t room = 0, k;
    *count = 0;
    for (uint32_t object = 0; object < profile->object_count; object++) {
        size_t first = *count, kept = first;
        if (profile->objects[object].weight.weight < row_least * profile->total.weight)
            continue;
        for (uint32_t at = profile->object_streams[object]; at != LWP_NONE; at = profile->streams[at].next_of_object) {
            const struct lwp_stream *stream = &profile->streams[at];
            for (k = first; k < *count && all[k].row.region != stream->region; k++)
                ;
            if (stream->region == LWP_NONE)
                continue;
            if (k == *count) {
                LWP_GROW(&all, *count, &room);
                all[(*count)++] = (struct row_making){.row = {.object = object, .region = stream->region}};
            }
            all[k].row.share += stream->weight.weight / profile->total.weight;
            all[k].row.seen += stream->accesses;
        }
        for (k = first; k < *count; k++)
            if (all[k].row.share >= row_least)
                all[kept++] = all[k];
        *count = kept;
    }
    if (*count)
        qsort(all, *count, sizeof *all, making_compare);
    *count = *count < ROWS_MOST ? *count : ROWS_MOST;
    return all;
}

void lwp_locality_sampled_find(struct lwp_profile *profile, struct lwp_sampled_locality *found)
{
    struct row_making *makings = makings_of(profile, &found->count);
    struct sampled_strides strides = {.index = lwp_map_new()};
    struct sampled_ranges *traversals = lwp_zeroed(found->count + 1, sizeof *traversals);
    uint32_t *first = lwp_arena_alloc(profile->arena, profile->region_count + 1, sizeof *first); /* index + 1 of a region's first row */
    for (size_t i = found->count; i-- > 0;) {
        makings[i].next_of_region = first[makings[i].row.region];
        first[makings[i].row.region] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        uint32_t row = stream->region == LWP_NONE ? 0 : first[stream->region];
        int64_t stride = row ? stream_stride(profile, stream, &strides) : 0;
        uint64_t low = 0, high = 0;
        if (stride && (uint64_t)llabs(stride) <= STREAM_LINES * profile->machine.line_bytes && stream_ends(stream, &low, &high))
            ranges_add(&traversals[row - 1], stream->object, low, high);
        for (; row; row = makings[row - 1].next_of_region)
            if (makings[row - 1].row.object == stream->object)
                making_stream(&makings[row - 1], stream, stride);
    }
    found->rows = lwp_arena_alloc(profile->arena, found->count + 1, sizeof *found->rows);
    for (size_t i = 0; i < found->count; i++) {
        making_finish(profile, &makings[i]);
        ranges_merge(&traversals[i]);
        for (uint32_t row = (uint32_t)i + 1; traversals[i].count && row; row = makings[row - 1].next_of_region)
            makings[row - 1].row.streams = (unsigned)traversals[i].count;
        free(traversals[i].items);
    }
    for (size_t i = 0; i < found->count; i++)
        found->rows[i] = makings[i].row;
    lwp_map_free(strides.index);
    free(strides.items);
    free(traversals);
    free(makings);
}
