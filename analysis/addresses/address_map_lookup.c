/* What lay at an address of one process at a time.
 *
 * Blocks that began at one address are kept together, by time; over the addresses lies an implicit balanced tree with
 * the furthest end below each node, so that a program which allocates and frees one buffer ten million times costs a
 * binary search and no scan. Where the blocks of one address overlap no others, which is nearly everywhere, a look into
 * a directory of addresses is enough.
 * Out: (module, address in its file) for code, (object, offset) for data.
 * Limits: of several blocks over one address the one that began last is taken. Clocks of two threads are one clock, so
 * a block is visible a moment before its record. */
#include "analysis/addresses/address_map_internal.h"
#include "base/pages.h"

#include <stdlib.h>

enum { VISITS_MAX = 4096 };

static const uint64_t clock_slack_ns = 2000000;

/* ---- the index of blocks ---- */

static int space_block_compare(const void *a, const void *b)
{
    const struct space_block *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static uint64_t space_reach(struct lwp_address_map *space, size_t low, size_t high)
{
    if (low >= high)
        return 0;
    size_t middle = low + (high - low) / 2;
    struct space_start *start = &space->starts[middle];
    uint64_t left = space_reach(space, low, middle), right = space_reach(space, middle + 1, high);
    start->reach = start->furthest;
    if (left > start->reach)
        start->reach = left;
    if (right > start->reach)
        start->reach = right;
    return start->reach;
}

/* Marks the starts whose blocks overlap blocks of another start: of those before it whose blocks go on, the last is on
 * top of the stack, and the ones below were marked when that one came. */
static void space_mark_shared(struct lwp_address_map *space)
{
    uint32_t *open = NULL;
    size_t count = 0, room = 0;
    for (size_t i = 0; i < space->start_count; i++) {
        struct space_start *start = &space->starts[i];
        while (count && space->starts[open[count - 1]].furthest <= start->address)
            count--;
        if (count)
            start->shared = space->starts[open[count - 1]].shared = true;
        LWP_GROW(&open, count, &room);
        open[count++] = (uint32_t)i;
    }
    free(open);
}

static void space_directory(struct lwp_address_map *space)
{
    uint64_t *starts = malloc((space->start_count + 1) * sizeof *starts);
    uint64_t *ends = malloc((space->start_count + 1) * sizeof *ends);
    if (!starts || !ends)
        abort();
    for (size_t i = 0; i < space->start_count; i++) {
        starts[i] = space->starts[i].address;
        ends[i] = space->starts[i].furthest;
    }
    lwp_range_index_build(&space->directory, starts, ends, space->start_count);
    free(starts);
    free(ends);
}

/* All blocks have their objects now. */
void lwp_address_map_index(struct lwp_address_map *space)
{
    if (space->block_count)
        qsort(space->blocks, space->block_count, sizeof *space->blocks, space_block_compare);
    for (size_t i = 0; i < space->block_count; i++) {
        struct space_block *block = &space->blocks[i];
        if (!space->start_count || space->starts[space->start_count - 1].address != block->address) {
            LWP_PAGES_GROW(&space->starts, space->start_count, &space->start_room);
            space->starts[space->start_count++] = (struct space_start){.address = block->address, .first = (uint32_t)i};
        }
        struct space_start *start = &space->starts[space->start_count - 1];
        start->count++;
        if (block->address + block->size > start->furthest)
            start->furthest = block->address + block->size;
    }
    space_directory(space);
    space_reach(space, 0, space->start_count);
    space_mark_shared(space);
    for (size_t i = 0; i < space->start_count; i++) {
        struct space_start *start = &space->starts[i];
        for (uint32_t k = start->first; !start->shared && k < start->first + start->count; k++) {
            struct space_block *block = &space->blocks[k];
            bool last = k + 1 == start->first + start->count;
            block->until = last || block[1].time > block->end_time ? block->end_time : block[1].time;
            start->bytes = block->size;
            start->from = block->time;
            start->until = block->until;
            start->of = block->of;
        }
    }
}

/* ---- questions ---- */

bool lwp_address_map_reuses_code(const struct lwp_address_map *space)
{
    return space->modules_overlap;
}

void lwp_address_map_code(const struct lwp_address_map *space, uint64_t ip, uint64_t time, uint32_t *module, uint64_t *address,
                    uint64_t *from, uint64_t *until)
{
    const struct space_module *found = NULL;
    for (size_t i = 0; i < space->module_count; i++) {
        const struct space_module *at = &space->modules[i];
        if (ip < at->start || ip >= at->end)
            continue;
        bool live = time == 0 || (at->time <= time && time < at->end_time);
        if (live || !found)
            found = at;
        if (live && (time || !space->modules_overlap))
            break;
    }
    *module = found ? found->module : LWP_NONE;
    *address = found ? ip - found->bias : ip;
    *from = space->modules_overlap ? time : 0;
    *until = space->modules_overlap ? time : UINT64_MAX;
}

/* The block from this start that was alive at `time` and holds the address. */
static const struct space_block *space_block_from(const struct lwp_address_map *space, const struct space_start *start,
                                                  uint64_t address, uint64_t time)
{
    size_t low = start->first, high = start->first + start->count;
    while (low < high) { /* the first that began after the time */
        size_t middle = low + (high - low) / 2;
        if (space->blocks[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == start->first)
        return NULL;
    const struct space_block *block = &space->blocks[low - 1];
    return time < block->end_time && address - block->address < block->size ? block : NULL;
}

/* Wherever blocks overlap: the one that began last of those that hold the address. */
static const struct space_block *space_block_search(const struct lwp_address_map *space, uint64_t address, uint64_t time)
{
    struct {
        size_t low, high;
    } stack[64];
    int depth = 0, visits = 0;
    const struct space_block *best = NULL;
    stack[depth].low = 0;
    stack[depth++].high = space->start_count;
    while (depth && visits++ < VISITS_MAX) {
        size_t low = stack[--depth].low, high = stack[depth].high;
        if (low >= high)
            continue;
        size_t middle = low + (high - low) / 2;
        const struct space_start *start = &space->starts[middle];
        if (start->reach <= address)
            continue;
        if (start->address <= address) {
            if (start->furthest > address) {
                const struct space_block *block = space_block_from(space, start, address, time);
                if (block && (!best || block->time > best->time ||
                              (block->time == best->time && block->address > best->address)))
                    best = block;
            }
            if (depth < 63) {
                stack[depth].low = middle + 1;
                stack[depth++].high = high;
            }
        }
        if (depth < 63) {
            stack[depth].low = low;
            stack[depth++].high = middle;
        }
    }
    return best;
}

/* The last of the starts in a granule that is not beyond the address, or the first of them. */
static uint32_t space_start_at(const struct lwp_address_map *space, const struct lwp_range_index_slot *slot, uint64_t address)
{
    uint32_t low = slot->first, high = slot->last;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (space->starts[middle].address <= address)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void lwp_address_map_hints(const struct lwp_address_map *space, const uint64_t *addresses, size_t count, uint32_t *hints)
{
    for (size_t i = 0; i < count; i++)
        lwp_range_index_prefetch(&space->directory, addresses[i]);
    for (size_t i = 0; i < count; i++) {
        const struct lwp_range_index_slot *slot = lwp_range_index_at(&space->directory, addresses[i]);
        hints[i] = slot ? space_start_at(space, slot, addresses[i]) : (uint32_t)space->start_count;
        __builtin_prefetch(&space->starts[hints[i]]);
    }
}

static const struct space_block *space_block_at(const struct lwp_address_map *space, uint32_t at, uint64_t address,
                                                uint64_t time)
{
    if (at >= space->start_count || space->starts[at].address > address)
        return NULL;
    const struct space_start *start = &space->starts[at];
    return start->shared ? space_block_search(space, address, time) : space_block_from(space, start, address, time);
}

uint32_t lwp_address_map_object(const struct lwp_address_map *space, struct lwp_extent *last, uint32_t hint, uint64_t address,
                          uint64_t time, uint64_t *offset)
{
    if (hint == LWP_NONE)
        lwp_address_map_hints(space, &address, 1, &hint);
    if (hint < space->start_count) {
        const struct space_start *start = &space->starts[hint];
        const struct lwp_extent extent = {start->address, start->bytes, start->from, start->until, start->of};
        if (lwp_extent_holds(&extent, address, time)) {
            *last = extent;
            *offset = address - extent.start;
            return extent.object;
        }
    }
    const struct space_block *block = space_block_at(space, hint, address, time);
    if (!block && time + clock_slack_ns > time)
        block = space_block_at(space, hint, address, time + clock_slack_ns);
    if (!block)
        return LWP_NONE;
    *last = (struct lwp_extent){block->address, block->size, block->time, block->until, block->of};
    *offset = address - block->address;
    return block->of;
}

uint32_t lwp_address_map_pool_object(const struct lwp_address_map *space, uint32_t pool)
{
    return pool < space->pool_count ? space->pool_objects[pool] : LWP_NONE;
}
