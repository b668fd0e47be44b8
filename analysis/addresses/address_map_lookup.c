/* Lookup: what was at an address of a process at a time.
 *
 * Blocks that start at one address are kept together, by time; over the addresses lies an implicit interval tree (each node has the
 * furthest end of its subtree), so that a program that allocates and frees one buffer ten million times costs a binary search and
 * no scan. Where the blocks of one address overlap no others, which is nearly everywhere, a lookup in a range index is enough.
 * Out: (module, address in its file) for code, (object, offset) for data.
 * Limits: of overlapping blocks the youngest one is taken. Clocks of threads differ a little, so a block is visible a moment before
 * its record. */
#include "analysis/addresses/address_map_internal.h"
#include "base/order.h"
#include "base/pages.h"

#include <stdlib.h>

enum { VISITS_MAX = 4096 };

static const uint64_t clock_slack_ns = 2000000;

/* ---- the index of blocks ---- */

static int map_block_compare(const void *a, const void *b)
{
    const struct map_block *x = a, *y = b;
    return LWP_COMPARE(x->address, y->address) ?: LWP_COMPARE(x->time, y->time) ?: LWP_COMPARE(x->id, y->id);
}

static uint64_t map_reach(struct lwp_address_map *map, size_t low, size_t high)
{
    if (low >= high)
        return 0;
    size_t middle = low + (high - low) / 2;
    struct map_start *start = &map->starts[middle];
    uint64_t left = map_reach(map, low, middle), right = map_reach(map, middle + 1, high);
    start->reach = start->furthest;
    LWP_RAISE(start->reach, left);
    LWP_RAISE(start->reach, right);
    return start->reach;
}

/* Marks the starts whose blocks overlap blocks of another start. The stack holds earlier starts whose blocks reach beyond; all but
 * the top one are marked already. */
static void map_mark_shared(struct lwp_address_map *map)
{
    uint32_t *open = NULL;
    size_t count = 0, room = 0;
    for (size_t i = 0; i < map->start_count; i++) {
        struct map_start *start = &map->starts[i];
        while (count && map->starts[open[count - 1]].furthest <= start->address)
            count--;
        if (count)
            start->shared = map->starts[open[count - 1]].shared = true;
        LWP_APPEND(&open, &count, &room, (uint32_t)i);
    }
    free(open);
}

static void map_build_index(struct lwp_address_map *map)
{
    uint64_t *starts = lwp_zeroed(map->start_count, sizeof *starts), *ends = lwp_zeroed(map->start_count, sizeof *ends);
    for (size_t i = 0; i < map->start_count; i++) {
        starts[i] = map->starts[i].address;
        ends[i] = map->starts[i].furthest;
    }
    lwp_range_index_build(&map->index, starts, ends, map->start_count);
    free(starts);
    free(ends);
}

/* All blocks have their objects now. */
void lwp_address_map_index(struct lwp_address_map *map)
{
    LWP_SORT(map->blocks, map->block_count, map_block_compare);
    for (size_t i = 0; i < map->block_count; i++) {
        struct map_block *block = &map->blocks[i];
        if (!map->start_count || map->starts[map->start_count - 1].address != block->address) {
            LWP_PAGES_GROW(&map->starts, map->start_count, &map->start_room);
            map->starts[map->start_count++] = (struct map_start){.address = block->address, .first = (uint32_t)i};
        }
        struct map_start *start = &map->starts[map->start_count - 1];
        start->count++;
        LWP_RAISE(start->furthest, block->address + block->size);
    }
    map_build_index(map);
    map_reach(map, 0, map->start_count);
    map_mark_shared(map);
    for (size_t i = 0; i < map->start_count; i++) {
        struct map_start *start = &map->starts[i];
        for (uint32_t k = start->first; !start->shared && k < start->first + start->count; k++) {
            struct map_block *block = &map->blocks[k];
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

bool lwp_address_map_reuses_code(const struct lwp_address_map *map)
{
    return map->modules_overlap || (map->jit && map->jit->moves);
}

void lwp_address_map_code(const struct lwp_address_map *map, uint64_t ip, uint64_t time, uint32_t *module, uint64_t *address,
                          uint64_t *from, uint64_t *until)
{
    lwp_address_map_data(map, ip, time, module, address, from, until);
    if (*module != LWP_NONE || !map->jit || !lwp_jit_code_at(map->jit, ip, time, address))
        return;
    *module = map->jit_module;
    if (map->jit->moves)
        *from = *until = time;
}

void lwp_address_map_data(const struct lwp_address_map *map, uint64_t address, uint64_t time, uint32_t *module, uint64_t *in_file,
                          uint64_t *from, uint64_t *until)
{
    const struct map_module *found = NULL;
    for (size_t i = 0; i < map->module_count; i++) {
        const struct map_module *at = &map->modules[i];
        if (address < at->start || address >= at->end)
            continue;
        bool live = time == 0 || (at->time <= time && time < at->end_time);
        if (live || !found)
            found = at;
        if (live && (time || !map->modules_overlap))
            break;
    }
    *module = found ? found->module : LWP_NONE;
    *in_file = found ? address - found->bias : address;
    *from = map->modules_overlap ? time : 0;
    *until = map->modules_overlap ? time : UINT64_MAX;
}

bool lwp_address_map_thread_local(const struct lwp_address_map *map, uint64_t pointer, uint64_t address, uint32_t *module,
                                  uint64_t *in_file)
{
    *module = map->module_count ? map->modules[0].module : LWP_NONE; /* the program's comes first */
    const uint64_t bytes = lwp_code_thread_local(map->profile->code, *module);
    *in_file = LWP_THREAD_LOCAL + bytes - (pointer - address);
    return address < pointer && pointer - address <= bytes;
}

uint64_t lwp_address_map_thread_locals(const struct lwp_address_map *map)
{
    return map->thread_locals;
}

/* The block from this start that was alive at `time` and holds the address. */
static const struct map_block *map_block_from(const struct lwp_address_map *map, const struct map_start *start, uint64_t address,
                                              uint64_t time)
{
    size_t later = LWP_PARTITION_POINT(i, start->first, start->first + start->count, map->blocks[i].time <= time);
    if (later == start->first)
        return NULL;
    const struct map_block *block = &map->blocks[later - 1];
    return time < block->end_time && address - block->address < block->size ? block : NULL;
}

/* Wherever blocks overlap: the one that began last of those that hold the address. */
static const struct map_block *map_block_search(const struct lwp_address_map *map, uint64_t address, uint64_t time)
{
    struct {
        size_t low, high;
    } stack[64];
    int depth = 0, visits = 0;
    const struct map_block *best = NULL;
    stack[depth].low = 0;
    stack[depth++].high = map->start_count;
    while (depth && visits++ < VISITS_MAX) {
        size_t low = stack[--depth].low, high = stack[depth].high;
        if (low >= high)
            continue;
        size_t middle = low + (high - low) / 2;
        const struct map_start *start = &map->starts[middle];
        if (start->reach <= address)
            continue;
        if (start->address <= address) {
            if (start->furthest > address) {
                const struct map_block *block = map_block_from(map, start, address, time);
                if (block && (!best || block->time > best->time || (block->time == best->time && block->address > best->address)))
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
static uint32_t map_start_at(const struct lwp_address_map *map, const struct lwp_range_index_slot *slot, uint64_t address)
{
    size_t beyond = LWP_PARTITION_POINT(i, slot->first, (size_t)slot->last + 1, map->starts[i].address <= address);
    return beyond > slot->first ? (uint32_t)beyond - 1 : slot->first;
}

void lwp_address_map_hints(const struct lwp_address_map *map, const uint64_t *addresses, size_t count, uint32_t *hints)
{
    for (size_t i = 0; i < count; i++)
        lwp_range_index_prefetch(&map->index, addresses[i]);
    for (size_t i = 0; i < count; i++) {
        const struct lwp_range_index_slot *slot = lwp_range_index_at(&map->index, addresses[i]);
        hints[i] = slot ? map_start_at(map, slot, addresses[i]) : (uint32_t)map->start_count;
        __builtin_prefetch(&map->starts[hints[i]]);
    }
}

static const struct map_block *map_block_at(const struct lwp_address_map *map, uint32_t at, uint64_t address, uint64_t time)
{
    if (at >= map->start_count || map->starts[at].address > address)
        return NULL;
    const struct map_start *start = &map->starts[at];
    return start->shared ? map_block_search(map, address, time) : map_block_from(map, start, address, time);
}

uint32_t lwp_address_map_object(const struct lwp_address_map *map, struct lwp_extent *last, uint32_t hint, uint64_t address, uint64_t time,
                                uint64_t *offset)
{
    if (hint == LWP_NONE)
        lwp_address_map_hints(map, &address, 1, &hint);
    if (hint < map->start_count) {
        const struct map_start *start = &map->starts[hint];
        const struct lwp_extent extent = {start->address, start->bytes, start->from, start->until, start->of};
        if (lwp_extent_holds(&extent, address, time)) {
            *last = extent;
            *offset = address - extent.start;
            return extent.object;
        }
    }
    const struct map_block *block = map_block_at(map, hint, address, time);
    if (!block && time + clock_slack_ns > time)
        block = map_block_at(map, hint, address, time + clock_slack_ns);
    if (!block)
        return LWP_NONE;
    *last = (struct lwp_extent){block->address, block->size, block->time, block->until, block->of};
    *offset = address - block->address;
    return block->of;
}

uint32_t lwp_address_map_pool_object(const struct lwp_address_map *map, uint32_t pool)
{
    return pool < map->pool_count ? map->pool_objects[pool] : LWP_NONE;
}
