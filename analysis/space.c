/* The address space of one process over time.
 *
 * In: modules, blocks and pools as recorded. Blocks that began at one address are kept together, by time; over the
 * addresses lies an implicit balanced tree with the furthest end below each node, so that a program which allocates
 * and frees one buffer ten million times costs a binary search and no scan.
 * Out: (module, address in its file) for code, (object, offset) for data.
 * Limits: a block that ends by another record than its own is not seen; of several blocks over one address the one
 * that began last is taken. Clocks of two threads are one clock, so a block is visible a moment before its record. */
#include "analysis/space.h"

#include "analysis/contexts.h"
#include "analysis/objects.h"

#include <stdlib.h>

enum { VISITS_MAX = 4096, CONTEXTS_PER_FILE_MAX = 1 << 22 };

static const uint64_t clock_slack_ns = 2000000;

struct space_module {
    uint32_t id, module;
    uint64_t time, end_time, start, end, bias;
};

struct space_block {
    uint64_t address, size, time, end_time;
    uint32_t id, object;
};

/* All blocks that began at one address. */
struct space_start {
    uint64_t address, furthest; /* the furthest end of a block here */
    uint64_t reach;             /* ... and in the subtree */
    uint32_t first, count;      /* in blocks[] */
};

struct lwp_space {
    struct lwp_profile *profile;
    uint64_t start_ns;
    struct space_module *modules;
    size_t module_count, module_room, module_last;
    uint32_t *contexts; /* local id -> profile context */
    size_t context_count, context_room;
    struct lwp_map *pools;       /* id -> object */
    struct lwp_map *block_index; /* id -> blocks[], until ready */
    struct lwp_map *alive;       /* object -> live[] */
    struct space_block *blocks;
    size_t block_count, block_room;
    struct space_start *starts;
    size_t start_count, start_room;
    struct space_live {
        uint64_t now, peak;
    } * live;
    size_t live_count, live_room;
};

struct lwp_space *lwp_space_new(struct lwp_profile *profile)
{
    struct lwp_space *space = lwp_arena_alloc(profile->arena, 1, sizeof *space);
    space->profile = profile;
    space->pools = lwp_map_new();
    space->block_index = lwp_map_new();
    space->alive = lwp_map_new();
    LWP_GROW(&space->contexts, space->context_count, &space->context_room);
    space->contexts[space->context_count++] = 0;
    return space;
}

void lwp_space_free(struct lwp_space *space)
{
    free(space->modules);
    free(space->contexts);
    free(space->blocks);
    free(space->starts);
    free(space->live);
    lwp_map_free(space->pools);
    lwp_map_free(space->block_index);
    lwp_map_free(space->alive);
}

void lwp_space_start(struct lwp_space *space, uint64_t start_ns)
{
    space->start_ns = start_ns;
}

uint64_t lwp_space_time(const struct lwp_space *space, uint64_t time)
{
    return time > space->start_ns ? time - space->start_ns : 0;
}

void lwp_space_module(struct lwp_space *space, const struct lwps_module *record)
{
    if (record->start >= record->end)
        return;
    LWP_GROW(&space->modules, space->module_count, &space->module_room);
    space->modules[space->module_count++] = (struct space_module){
        .id = record->id,
        .module = lwp_code_module(space->profile->code, record->path, record->build_id_bytes ? record->build_id : NULL,
                                  record->build_id_bytes),
        .time = record->time,
        .end_time = UINT64_MAX,
        .start = record->start,
        .end = record->end,
        .bias = record->bias};
}

void lwp_space_module_end(struct lwp_space *space, const struct lwps_module_end *record)
{
    for (size_t i = space->module_count; i--;)
        if (space->modules[i].id == record->id && space->modules[i].end_time == UINT64_MAX) {
            space->modules[i].end_time = record->time;
            return;
        }
}

static const struct space_module *space_module_at(struct lwp_space *space, uint64_t address, uint64_t time)
{
    const struct space_module *found = NULL;
    if (space->module_last < space->module_count) {
        const struct space_module *last = &space->modules[space->module_last];
        if (address >= last->start && address < last->end && last->end_time == UINT64_MAX)
            return last;
    }
    for (size_t i = 0; i < space->module_count; i++) {
        const struct space_module *module = &space->modules[i];
        if (address < module->start || address >= module->end)
            continue;
        bool live = time == 0 || (module->time <= time && time < module->end_time);
        if (live || !found) {
            found = module;
            space->module_last = i;
        }
        if (live && time)
            break;
    }
    return found;
}

void lwp_space_code(struct lwp_space *space, uint64_t ip, uint64_t time, uint32_t *module, uint64_t *address)
{
    const struct space_module *at = space_module_at(space, ip, time);
    *module = at ? at->module : LWP_NONE;
    *address = at ? ip - at->bias : ip;
}

void lwp_space_context(struct lwp_space *space, const struct lwps_context *record)
{
    if (record->id == 0 || record->id >= CONTEXTS_PER_FILE_MAX)
        return;
    while (space->context_count <= record->id) { /* ids are dense; a damaged block leaves a hole: the root */
        LWP_GROW(&space->contexts, space->context_count, &space->context_room);
        space->contexts[space->context_count++] = 0;
    }
    uint32_t module, parent = record->parent < record->id ? space->contexts[record->parent] : 0;
    uint64_t address;
    lwp_space_code(space, record->ip - 1, 0, &module, &address); /* a return address: the call is before it */
    space->contexts[record->id] = lwp_contexts_child(space->profile, parent, module, address, false);
}

static uint32_t space_heap_object(struct lwp_space *space, enum lwp_object_kind kind, uint32_t context,
                                  uint64_t pool_size)
{
    uint32_t at = context < space->context_count ? space->contexts[context] : 0;
    return lwp_objects_allocated(space->profile, kind, at, pool_size);
}

void lwp_space_pool(struct lwp_space *space, const struct lwps_pool *record)
{
    uint32_t id = space_heap_object(space, LWP_OBJECT_HEAP, record->context, record->size);
    *lwp_map_at(space->pools, record->id) = id;
    space->profile->objects[id].born_ns = 0; /* its blocks have no records of their own */
    space->profile->objects[id].died_ns = UINT64_MAX;
}

uint32_t lwp_space_pool_object(struct lwp_space *space, uint32_t pool)
{
    return lwp_map_get(space->pools, pool);
}

static struct space_live *space_live_of(struct lwp_space *space, uint32_t object)
{
    uint32_t *at = lwp_map_at(space->alive, object);
    if (*at == LWP_MAP_NONE) {
        *at = (uint32_t)space->live_count;
        LWP_GROW(&space->live, space->live_count, &space->live_room);
        space->live[space->live_count++] = (struct space_live){0};
    }
    return &space->live[*at];
}

void lwp_space_pool_count(struct lwp_space *space, const struct lwps_pool_count *record)
{
    uint32_t id = lwp_map_get(space->pools, record->id);
    if (id == LWP_MAP_NONE)
        return;
    struct lwp_object *object = &space->profile->objects[id];
    uint64_t average = object->pool_size;
    if (!average && record->allocations)
        average = record->bytes / record->allocations;
    uint64_t bytes;
    if (__builtin_mul_overflow(record->peak_blocks, average, &bytes))
        return;
    if (bytes > object->bytes)
        object->bytes = bytes;
    if (average > object->largest)
        object->largest = average;
    if (record->allocations > object->allocations)
        object->allocations = record->allocations;
}

void lwp_space_block(struct lwp_space *space, const struct lwps_block *record)
{
    uint64_t end;
    if (record->size == 0 || __builtin_add_overflow(record->address, record->size, &end))
        return;
    enum lwp_object_kind kind = record->kind == LWPS_BLOCK_MMAP ? LWP_OBJECT_MMAP : LWP_OBJECT_HEAP;
    uint32_t id = space_heap_object(space, kind, record->context, 0);
    *lwp_map_at(space->block_index, record->id) = (uint32_t)space->block_count;
    LWP_GROW(&space->blocks, space->block_count, &space->block_room);
    space->blocks[space->block_count++] = (struct space_block){.address = record->address,
                                                               .size = record->size,
                                                               .time = record->time,
                                                               .end_time = UINT64_MAX,
                                                               .id = record->id,
                                                               .object = id};
    struct lwp_object *object = &space->profile->objects[id];
    object->allocations++;
    if (record->size > object->largest)
        object->largest = record->size;
    struct space_live *live = space_live_of(space, id);
    live->now += record->size;
    if (live->now > live->peak)
        live->peak = live->now;
}

void lwp_space_block_end(struct lwp_space *space, const struct lwps_block_end *record)
{
    uint32_t at = lwp_map_get(space->block_index, record->id);
    if (at == LWP_MAP_NONE || space->blocks[at].end_time != UINT64_MAX)
        return;
    space->blocks[at].end_time = record->time;
    struct space_live *live = space_live_of(space, space->blocks[at].object);
    live->now -= space->blocks[at].size < live->now ? space->blocks[at].size : live->now;
}

static int space_block_compare(const void *a, const void *b)
{
    const struct space_block *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static uint64_t space_reach(struct lwp_space *space, size_t low, size_t high)
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

void lwp_space_ready(struct lwp_space *space)
{
    struct lwp_profile *profile = space->profile;
    for (size_t i = 0; i < space->block_count; i++) {
        struct lwp_object *object = &profile->objects[space->blocks[i].object];
        uint64_t born = lwp_space_time(space, space->blocks[i].time), end = space->blocks[i].end_time;
        uint64_t died = end == UINT64_MAX ? end : lwp_space_time(space, end);
        if (born < object->born_ns)
            object->born_ns = born;
        if (died > object->died_ns)
            object->died_ns = died;
        uint32_t *at = lwp_map_at(space->alive, space->blocks[i].object);
        uint64_t peak = *at == LWP_MAP_NONE ? 0 : space->live[*at].peak;
        if (peak > profile->objects[space->blocks[i].object].bytes)
            profile->objects[space->blocks[i].object].bytes = peak;
    }
    if (space->block_count)
        qsort(space->blocks, space->block_count, sizeof *space->blocks, space_block_compare);
    for (size_t i = 0; i < space->block_count; i++) {
        const struct space_block *block = &space->blocks[i];
        if (!space->start_count || space->starts[space->start_count - 1].address != block->address) {
            LWP_GROW(&space->starts, space->start_count, &space->start_room);
            space->starts[space->start_count++] = (struct space_start){.address = block->address, .first = (uint32_t)i};
        }
        struct space_start *start = &space->starts[space->start_count - 1];
        start->count++;
        if (block->address + block->size > start->furthest)
            start->furthest = block->address + block->size;
    }
    space_reach(space, 0, space->start_count);
}

/* The block from this start that was alive at `time` and holds the address. */
static const struct space_block *space_block_from(const struct lwp_space *space, const struct space_start *start,
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

static const struct space_block *space_block_at(const struct lwp_space *space, uint64_t address, uint64_t time)
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

uint32_t lwp_space_object(struct lwp_space *space, uint64_t address, uint64_t time, uint64_t *offset)
{
    const struct space_block *block = space_block_at(space, address, time);
    if (!block && time + clock_slack_ns > time)
        block = space_block_at(space, address, time + clock_slack_ns);
    if (block) {
        *offset = address - block->address;
        return block->object;
    }
    const struct space_module *module = space_module_at(space, address, time);
    if (module)
        return lwp_objects_static(space->profile, module->module, address - module->bias, offset);
    return LWP_NONE;
}
