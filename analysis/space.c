/* The address space of one process over time.
 *
 * In: modules, blocks and pools as recorded. Blocks that began at one address are kept together, by time; over the
 * addresses lies an implicit balanced tree with the furthest end below each node, so that a program which allocates
 * and frees one buffer ten million times costs a binary search and no scan. Where the blocks of one address overlap no
 * others, which is nearly everywhere, a look into a directory of addresses is enough.
 * Out: (module, address in its file) for code, (object, offset) for data.
 * Limits: a block that ends by another record than its own is not seen; of several blocks over one address the one
 * that began last is taken. Clocks of two threads are one clock, so a block is visible a moment before its record. */
#include "analysis/space.h"

#include "analysis/directory.h"
#include "analysis/resolve.h"
#include "base/pages.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

enum { VISITS_MAX = 4096, CONTEXTS_PER_FILE_MAX = 1 << 22, POOLS_MAX = 1 << 22, MODULES_COMPARED = 4096 };

static const uint64_t clock_slack_ns = 2000000;

struct space_module {
    uint32_t id, module;
    uint64_t time, end_time, start, end, bias;
    uint8_t build_id[32], build_id_bytes;
    char *path;
};

struct space_context {
    uint32_t parent, node; /* node: in the profile, once ready */
    uint64_t ip;
};

struct space_pool {
    uint64_t size;
    uint32_t context;
    struct lwps_pool_count count; /* the last one */
};

struct space_block {
    uint64_t address, size, time, end_time;
    uint64_t until;  /* up to then it is the answer for its whole range: 0 when others overlap it */
    uint32_t id, of; /* of: its context, and its object once ready */
    bool mapped;
};

/* All blocks that began at one address. Most often there is one, and this line of memory says all of it. */
struct space_start {
    uint64_t address, furthest; /* the furthest end of a block here */
    uint64_t reach;             /* ... and in the subtree */
    uint32_t first, count;      /* in blocks[] */
    uint64_t bytes, from, until; /* of the last block; bytes 0: blocks that began elsewhere overlap it */
    uint32_t of;
    bool shared; /* overlaps blocks that began elsewhere */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct space_start) == 64, "one cache line");

/* An object in this process. */
struct space_live {
    uint32_t object;
    uint64_t now, peak, allocations, largest, born_ns, died_ns;
};

struct lwp_space {
    struct lwp_profile *profile;
    uint32_t number;
    uint64_t start_ns;
    struct space_module *modules;
    size_t module_count, module_room;
    bool modules_overlap; /* one was unloaded and another came there: time matters */
    struct space_context *contexts;
    size_t context_count, context_room;
    struct space_pool *pools; /* by id */
    size_t pool_count, pool_room;
    uint32_t *pool_objects; /* of pools[], close together, once ready */
    struct lwp_table block_index; /* id -> blocks[], until ready */
    struct space_block *blocks;
    size_t block_count, block_room;
    uint32_t *events; /* in order: twice a block's index, and one more at its end */
    size_t event_count, event_room;
    struct space_start *starts;
    struct lwp_directory directory; /* of starts[] */
    size_t start_count, start_room;
};

struct lwp_space *lwp_space_new(struct lwp_profile *profile, uint32_t number)
{
    struct lwp_space *space = calloc(1, sizeof *space);
    if (!space)
        abort();
    space->profile = profile;
    space->number = number;
    LWP_GROW(&space->contexts, space->context_count, &space->context_room);
    space->contexts[space->context_count++] = (struct space_context){0};
    return space;
}

void lwp_space_free(struct lwp_space *space)
{
    for (size_t i = 0; i < space->module_count; i++)
        free(space->modules[i].path);
    free(space->modules);
    free(space->contexts);
    free(space->pools);
    free(space->pool_objects);
    free(space->blocks);
    free(space->events);
    lwp_pages_free(space->starts, space->start_room * sizeof *space->starts);
    lwp_directory_free(&space->directory);
    lwp_table_free(&space->block_index);
    free(space);
}

uint32_t lwp_space_number(const struct lwp_space *space)
{
    return space->number;
}

void lwp_space_start(struct lwp_space *space, uint64_t start_ns)
{
    space->start_ns = start_ns;
}

uint64_t lwp_space_time(const struct lwp_space *space, uint64_t time)
{
    return time > space->start_ns ? time - space->start_ns : 0;
}

/* ---- records ---- */

void lwp_space_module(struct lwp_space *space, const struct lwps_module *record)
{
    if (record->start >= record->end)
        return;
    LWP_GROW(&space->modules, space->module_count, &space->module_room);
    struct space_module *module = &space->modules[space->module_count++];
    *module = (struct space_module){.id = record->id,
                                    .module = LWP_NONE,
                                    .time = record->time,
                                    .end_time = UINT64_MAX,
                                    .start = record->start,
                                    .end = record->end,
                                    .bias = record->bias,
                                    .build_id_bytes = record->build_id_bytes,
                                    .path = strdup(record->path)};
    if (!module->path)
        abort();
    memcpy(module->build_id, record->build_id, sizeof module->build_id);
}

void lwp_space_module_end(struct lwp_space *space, const struct lwps_module_end *record)
{
    for (size_t i = space->module_count; i--;)
        if (space->modules[i].id == record->id && space->modules[i].end_time == UINT64_MAX) {
            space->modules[i].end_time = record->time;
            return;
        }
}

void lwp_space_context(struct lwp_space *space, const struct lwps_context *record)
{
    if (record->id == 0 || record->id >= CONTEXTS_PER_FILE_MAX)
        return;
    while (space->context_count <= record->id) { /* ids are dense; a damaged block leaves a hole: the root */
        LWP_GROW(&space->contexts, space->context_count, &space->context_room);
        space->contexts[space->context_count++] = (struct space_context){0};
    }
    space->contexts[record->id] =
        (struct space_context){.parent = record->parent < record->id ? record->parent : 0, .ip = record->ip};
}

static struct space_pool *space_pool_at(struct lwp_space *space, uint32_t id)
{
    while (space->pool_count <= id) {
        LWP_GROW(&space->pools, space->pool_count, &space->pool_room);
        space->pools[space->pool_count++] = (struct space_pool){.context = LWP_NONE};
    }
    return &space->pools[id];
}

void lwp_space_pool(struct lwp_space *space, const struct lwps_pool *record)
{
    if (record->id >= POOLS_MAX)
        return;
    struct space_pool *pool = space_pool_at(space, record->id);
    pool->context = record->context;
    pool->size = record->size;
}

void lwp_space_pool_count(struct lwp_space *space, const struct lwps_pool_count *record)
{
    if (record->id < POOLS_MAX)
        space_pool_at(space, record->id)->count = *record;
}

void lwp_space_block(struct lwp_space *space, const struct lwps_block *record)
{
    uint64_t end;
    if (record->size == 0 || __builtin_add_overflow(record->address, record->size, &end) ||
        space->block_count >= UINT32_MAX / 2)
        return;
    uint32_t index = (uint32_t)space->block_count;
    *lwp_table_at(&space->block_index, record->id) = index;
    LWP_GROW(&space->blocks, space->block_count, &space->block_room);
    space->blocks[space->block_count++] = (struct space_block){.address = record->address,
                                                               .size = record->size,
                                                               .time = record->time,
                                                               .end_time = UINT64_MAX,
                                                               .id = record->id,
                                                               .of = record->context,
                                                               .mapped = record->kind == LWPS_BLOCK_MMAP};
    LWP_GROW(&space->events, space->event_count, &space->event_room);
    space->events[space->event_count++] = index * 2;
}

void lwp_space_block_end(struct lwp_space *space, const struct lwps_block_end *record)
{
    uint32_t at = lwp_table_get(&space->block_index, record->id);
    if (at == LWP_TABLE_NONE || space->blocks[at].end_time != UINT64_MAX)
        return;
    space->blocks[at].end_time = record->time;
    LWP_GROW(&space->events, space->event_count, &space->event_room);
    space->events[space->event_count++] = at * 2 + 1;
}

/* ---- objects ---- */

void lwp_space_modules(struct lwp_space *space)
{
    pthread_mutex_lock(&space->profile->lock);
    for (size_t i = 0; i < space->module_count; i++) {
        struct space_module *module = &space->modules[i];
        module->module = lwp_code_module(space->profile->code, module->path,
                                         module->build_id_bytes ? module->build_id : NULL, module->build_id_bytes);
        space->modules_overlap |= i > MODULES_COMPARED;
        for (size_t k = 0; k < i && !space->modules_overlap; k++)
            space->modules_overlap = module->start < space->modules[k].end && space->modules[k].start < module->end;
    }
    pthread_mutex_unlock(&space->profile->lock);
}

static uint32_t space_heap_object(struct lwp_space *space, struct lwp_resolver *resolver, enum lwp_object_kind kind,
                                  uint32_t context, uint64_t pool_size)
{
    uint32_t node = context < space->context_count ? space->contexts[context].node : 0;
    return lwp_resolver_allocated(resolver, kind, node, pool_size);
}

struct space_lives {
    struct lwp_table index; /* object -> items[] */
    struct space_live *items;
    size_t count, room;
};

static struct space_live *space_live_of(struct space_lives *lives, uint32_t object)
{
    uint32_t *at = lwp_table_at(&lives->index, object);
    if (*at == LWP_TABLE_NONE) {
        *at = (uint32_t)lives->count;
        LWP_GROW(&lives->items, lives->count, &lives->room);
        lives->items[lives->count++] = (struct space_live){.object = object, .born_ns = UINT64_MAX};
    }
    return &lives->items[*at];
}

static void space_count_pool(const struct space_pool *pool, struct space_live *live)
{
    uint64_t average = pool->size, bytes;
    live->born_ns = 0; /* its blocks have no records of their own */
    live->died_ns = UINT64_MAX;
    if (!average && pool->count.allocations)
        average = pool->count.bytes / pool->count.allocations;
    if (__builtin_mul_overflow(pool->count.peak_blocks, average, &bytes))
        return;
    live->now += bytes; /* several pools may be one object: recursion is taken out of their paths */
    if (live->now > live->peak)
        live->peak = live->now;
    if (average > live->largest)
        live->largest = average;
    live->allocations += pool->count.allocations;
}

static void space_count_event(const struct lwp_space *space, uint32_t event, struct space_lives *lives)
{
    const struct space_block *block = &space->blocks[event / 2];
    struct space_live *live = space_live_of(lives, block->of);
    if (event % 2) {
        live->now -= block->size < live->now ? block->size : live->now;
        return;
    }
    uint64_t born = lwp_space_time(space, block->time);
    uint64_t died = block->end_time == UINT64_MAX ? UINT64_MAX : lwp_space_time(space, block->end_time);
    live->now += block->size;
    live->allocations++;
    if (live->now > live->peak)
        live->peak = live->now;
    if (block->size > live->largest)
        live->largest = block->size;
    if (born < live->born_ns)
        live->born_ns = born;
    if (died > live->died_ns)
        live->died_ns = died;
}

static void space_objects(struct lwp_space *space, struct lwp_resolver *resolver)
{
    struct space_lives lives = {0};
    for (size_t i = 1; i < space->context_count; i++) {
        struct space_context *context = &space->contexts[i];
        if (context->ip) /* a return address: the call is before it */
            context->node = lwp_resolver_call(resolver, space->contexts[context->parent].node,
                                              lwp_resolver_spot(resolver, context->ip - 1, 0));
    }
    space->pool_objects = malloc((space->pool_count + 1) * sizeof *space->pool_objects);
    if (!space->pool_objects)
        abort();
    for (size_t i = 0; i < space->pool_count; i++) {
        const struct space_pool *pool = &space->pools[i];
        space->pool_objects[i] = LWP_NONE;
        if (pool->context == LWP_NONE)
            continue;
        space->pool_objects[i] = space_heap_object(space, resolver, LWP_OBJECT_HEAP, pool->context, pool->size);
        space_count_pool(pool, space_live_of(&lives, space->pool_objects[i]));
    }
    for (size_t i = 0; i < space->block_count; i++) {
        struct space_block *block = &space->blocks[i];
        block->of = space_heap_object(space, resolver, block->mapped ? LWP_OBJECT_MMAP : LWP_OBJECT_HEAP, block->of, 0);
    }
    for (size_t i = 0; i < space->event_count; i++)
        space_count_event(space, space->events[i], &lives);
    pthread_mutex_lock(&space->profile->lock);
    for (size_t i = 0; i < lives.count; i++) {
        const struct space_live *live = &lives.items[i];
        struct lwp_object *object = &space->profile->objects[live->object];
        object->allocations += live->allocations;
        if (live->peak > object->bytes)
            object->bytes = live->peak;
        if (live->largest > object->largest)
            object->largest = live->largest;
        if (live->born_ns < object->born_ns)
            object->born_ns = live->born_ns;
        if (live->died_ns > object->died_ns)
            object->died_ns = live->died_ns;
    }
    pthread_mutex_unlock(&space->profile->lock);
    free(lives.items);
    lwp_table_free(&lives.index);
}

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

/* Marks the starts whose blocks overlap blocks of another start: of those before it whose blocks go on, the last is on
 * top of the stack, and the ones below were marked when that one came. */
static void space_mark_shared(struct lwp_space *space)
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

static void space_directory(struct lwp_space *space)
{
    uint64_t *starts = malloc((space->start_count + 1) * sizeof *starts);
    uint64_t *ends = malloc((space->start_count + 1) * sizeof *ends);
    if (!starts || !ends)
        abort();
    for (size_t i = 0; i < space->start_count; i++) {
        starts[i] = space->starts[i].address;
        ends[i] = space->starts[i].furthest;
    }
    lwp_directory_build(&space->directory, starts, ends, space->start_count);
    free(starts);
    free(ends);
}

void lwp_space_ready(struct lwp_space *space, struct lwp_resolver *resolver)
{
    lwp_resolver_enter(resolver, space);
    space_objects(space, resolver);
    lwp_table_free(&space->block_index);
    free(space->events);
    free(space->contexts);
    space->events = NULL;
    space->contexts = NULL;
    space->event_count = space->event_room = space->context_count = space->context_room = 0;
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

bool lwp_space_reuses_code(const struct lwp_space *space)
{
    return space->modules_overlap;
}

void lwp_space_code(const struct lwp_space *space, uint64_t ip, uint64_t time, uint32_t *module, uint64_t *address,
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

/* Wherever blocks overlap: the one that began last of those that hold the address. */
static const struct space_block *space_block_search(const struct lwp_space *space, uint64_t address, uint64_t time)
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
static uint32_t space_start_at(const struct lwp_space *space, const struct lwp_directory_slot *slot, uint64_t address)
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

void lwp_space_hints(const struct lwp_space *space, const uint64_t *addresses, size_t count, uint32_t *hints)
{
    for (size_t i = 0; i < count; i++)
        lwp_directory_prefetch(&space->directory, addresses[i]);
    for (size_t i = 0; i < count; i++) {
        const struct lwp_directory_slot *slot = lwp_directory_at(&space->directory, addresses[i]);
        hints[i] = slot ? space_start_at(space, slot, addresses[i]) : (uint32_t)space->start_count;
        __builtin_prefetch(&space->starts[hints[i]]);
    }
}

static const struct space_block *space_block_at(const struct lwp_space *space, uint32_t at, uint64_t address,
                                                uint64_t time)
{
    if (at >= space->start_count || space->starts[at].address > address)
        return NULL;
    const struct space_start *start = &space->starts[at];
    return start->shared ? space_block_search(space, address, time) : space_block_from(space, start, address, time);
}

uint32_t lwp_space_object(const struct lwp_space *space, struct lwp_extent *last, uint32_t hint, uint64_t address,
                          uint64_t time, uint64_t *offset)
{
    if (hint == LWP_NONE)
        lwp_space_hints(space, &address, 1, &hint);
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

uint32_t lwp_space_pool_object(const struct lwp_space *space, uint32_t pool)
{
    return pool < space->pool_count ? space->pool_objects[pool] : LWP_NONE;
}
