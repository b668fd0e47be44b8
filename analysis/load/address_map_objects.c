/* The objects of a process's blocks and pools: how many blocks each has, how large, and when. */
#include "analysis/load/resolver.h"

#include "analysis/addresses/address_map_internal.h"
#include "analysis/profile/objects.h"
#include "base/order.h"
#include "base/pages.h"

#include <stdlib.h>

/* An object in this process. */
struct live_object {
    uint32_t object;
    uint32_t blocks, newest; /* how many are there; the last one allocated, in blocks[] */
    bool grows;              /* that one is larger than the only other one, and may take its place */
    uint64_t now;
    struct lwp_object_life life; /* bytes: the most at one time */
};

static uint32_t objects_of_context(struct lwp_address_map *map, struct lwp_resolver *resolver, enum lwp_object_kind kind, uint32_t context,
                                   uint64_t pool_size)
{
    uint32_t node = context < map->context_count ? map->contexts[context].node : 0;
    return lwp_resolver_allocated(resolver, kind, node, pool_size);
}

struct objects_lives {
    struct lwp_map index; /* object -> items[] */
    struct live_object *items;
    size_t count, room;
};

static struct live_object *objects_live(struct objects_lives *lives, uint32_t object)
{
    uint32_t *at = lwp_map_at(&lives->index, object);
    if (lwp_number_new(at, lives->count))
        LWP_APPEND(&lives->items, &lives->count, &lives->room, (struct live_object){.object = object, .life.allocated_ns = UINT64_MAX});
    return &lives->items[*at];
}

static void objects_count_pool(const struct map_pool *pool, struct live_object *live)
{
    uint64_t average = pool->size, bytes;
    live->life.allocated_ns = 0; /* its blocks have no records of their own */
    live->life.freed_ns = UINT64_MAX;
    if (!average && pool->count.allocations)
        average = pool->count.bytes / pool->count.allocations;
    if (__builtin_mul_overflow(pool->count.peak_blocks, average, &bytes))
        return;
    live->now += bytes; /* several pools may be one object, whose paths differ in recursion */
    LWP_RAISE(live->life.bytes, live->now);
    LWP_RAISE(live->life.largest, average);
    live->life.allocations += pool->count.allocations;
}

/* Before the object's next event, that this block is freed (NULL: another one, or none is left). A growing array's old block is there until
 * its elements are copied, a small part of the new one's life: they count once. */
static void live_settle(const struct lwp_address_map *map, struct live_object *live, const struct map_block *freed)
{
    const struct map_block *newest = &map->blocks[live->newest];
    const bool replaced = live->grows && freed && freed != newest && freed->end_time - newest->time < (newest->end_time - newest->time) / 2;
    LWP_RAISE(live->life.bytes, replaced ? newest->size : live->now);
    live->grows = false;
}

static void objects_count_event(const struct lwp_address_map *map, uint32_t event, struct objects_lives *lives)
{
    const struct map_block *block = &map->blocks[event / 2];
    struct live_object *live = objects_live(lives, block->of);
    live_settle(map, live, event % 2 ? block : NULL);
    if (event % 2) {
        live->now -= block->size < live->now ? block->size : live->now;
        live->blocks -= live->blocks > 0;
        return;
    }
    uint64_t allocated = lwp_address_map_time(map, block->time);
    uint64_t freed = block->end_time == UINT64_MAX ? UINT64_MAX : lwp_address_map_time(map, block->end_time);
    live->grows = live->blocks == 1 && live->now < block->size;
    live->now += block->size;
    live->blocks++;
    live->newest = event / 2;
    live->life.allocations++;
    LWP_RAISE(live->life.largest, block->size);
    LWP_LOWER(live->life.allocated_ns, allocated);
    LWP_RAISE(live->life.freed_ns, freed);
}

static void objects_find(struct lwp_address_map *map, struct lwp_resolver *resolver)
{
    struct objects_lives lives = {0};
    size_t allocated = map->block_count < map->context_count ? map->block_count : map->context_count;
    lwp_resolver_expect(resolver, map->context_count, allocated + map->pool_count);
    lwp_map_reserve(&lives.index, allocated + map->pool_count);
    for (size_t i = 1; i < map->context_count; i++) {
        struct map_context *context = &map->contexts[i];
        if (!context->ip && !context->parent)
            context->node = lwp_resolver_various(resolver);
        if (!context->ip)
            continue;
        const struct lwp_location *location = lwp_resolver_location(resolver, context->ip, 0); /* a call, or a function */
        uint32_t outer = map->contexts[context->parent].node;
        context->node =
            location->starts ? lwp_resolver_function(resolver, outer, location) : lwp_resolver_call(resolver, outer, location);
    }
    map->pool_objects = lwp_zeroed(map->pool_count, sizeof *map->pool_objects);
    for (size_t i = 0; i < map->pool_count; i++) {
        const struct map_pool *pool = &map->pools[i];
        map->pool_objects[i] = LWP_NONE;
        if (pool->context == LWP_NONE)
            continue;
        map->pool_objects[i] = objects_of_context(map, resolver, LWP_OBJECT_HEAP, pool->context, pool->size);
        objects_count_pool(pool, objects_live(&lives, map->pool_objects[i]));
    }
    for (size_t i = 0; i < map->block_count; i++) {
        struct map_block *block = &map->blocks[i];
        block->of = objects_of_context(map, resolver, block->mapped ? LWP_OBJECT_MMAP : LWP_OBJECT_HEAP, block->of, 0);
    }
    for (size_t i = 0; i < map->event_count; i++)
        objects_count_event(map, map->events[i], &lives);
    for (size_t i = 0; i < lives.count; i++)
        live_settle(map, &lives.items[i], NULL);
    pthread_mutex_lock(&map->profile->lock);
    for (size_t i = 0; i < lives.count; i++)
        lwp_objects_count(&map->profile->objects[lives.items[i].object], &lives.items[i].life);
    pthread_mutex_unlock(&map->profile->lock);
    free(lives.items);
    lwp_map_fini(&lives.index);
}

void lwp_address_map_objects(struct lwp_address_map *map, struct lwp_resolver *resolver)
{
    lwp_resolver_enter(resolver, map);
    objects_find(map, resolver);
    lwp_map_fini(&map->block_index);
    free(map->events);
    free(map->contexts);
    map->events = NULL;
    map->contexts = NULL;
    map->event_count = map->event_room = map->context_count = map->context_room = 0;
    lwp_address_map_index(map);
}
