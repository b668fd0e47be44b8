/* The objects of one process's blocks and pools: how many there were of each, how large, and when. */
#include "analysis/load/address_map_objects.h"

#include "analysis/addresses/address_map_internal.h"
#include "analysis/profile/objects.h"
#include "base/pages.h"

#include <stdlib.h>

/* An object in this process. */
struct live {
    uint32_t object;
    uint64_t now;
    struct lwp_object_life life; /* bytes: the most at one time */
};

static uint32_t objects_of_context(struct lwp_address_map *space, struct lwp_resolver *resolver, enum lwp_object_kind kind,
                                   uint32_t context, uint64_t pool_size)
{
    uint32_t node = context < space->context_count ? space->contexts[context].node : 0;
    return lwp_resolver_allocated(resolver, kind, node, pool_size);
}

struct objects_lives {
    struct lwp_table index; /* object -> items[] */
    struct live *items;
    size_t count, room;
};

static struct live *objects_live(struct objects_lives *lives, uint32_t object)
{
    uint32_t *at = lwp_table_at(&lives->index, object);
    if (*at == LWP_TABLE_NONE) {
        *at = (uint32_t)lives->count;
        LWP_GROW(&lives->items, lives->count, &lives->room);
        lives->items[lives->count++] = (struct live){.object = object, .life.born_ns = UINT64_MAX};
    }
    return &lives->items[*at];
}

static void objects_count_pool(const struct space_pool *pool, struct live *live)
{
    uint64_t average = pool->size, bytes;
    live->life.born_ns = 0; /* its blocks have no records of their own */
    live->life.died_ns = UINT64_MAX;
    if (!average && pool->count.allocations)
        average = pool->count.bytes / pool->count.allocations;
    if (__builtin_mul_overflow(pool->count.peak_blocks, average, &bytes))
        return;
    live->now += bytes; /* several pools may be one object: recursion is taken out of their paths */
    if (live->now > live->life.bytes)
        live->life.bytes = live->now;
    if (average > live->life.largest)
        live->life.largest = average;
    live->life.allocations += pool->count.allocations;
}

static void objects_count_event(const struct lwp_address_map *space, uint32_t event, struct objects_lives *lives)
{
    const struct space_block *block = &space->blocks[event / 2];
    struct live *live = objects_live(lives, block->of);
    if (event % 2) {
        live->now -= block->size < live->now ? block->size : live->now;
        return;
    }
    uint64_t born = lwp_address_map_time(space, block->time);
    uint64_t died = block->end_time == UINT64_MAX ? UINT64_MAX : lwp_address_map_time(space, block->end_time);
    live->now += block->size;
    live->life.allocations++;
    if (live->now > live->life.bytes)
        live->life.bytes = live->now;
    if (block->size > live->life.largest)
        live->life.largest = block->size;
    if (born < live->life.born_ns)
        live->life.born_ns = born;
    if (died > live->life.died_ns)
        live->life.died_ns = died;
}

static void objects_find(struct lwp_address_map *space, struct lwp_resolver *resolver)
{
    struct objects_lives lives = {0};
    size_t allocated = space->block_count < space->context_count ? space->block_count : space->context_count;
    lwp_resolver_expect(resolver, space->context_count, allocated + space->pool_count);
    lwp_table_reserve(&lives.index, allocated + space->pool_count);
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
        space->pool_objects[i] = objects_of_context(space, resolver, LWP_OBJECT_HEAP, pool->context, pool->size);
        objects_count_pool(pool, objects_live(&lives, space->pool_objects[i]));
    }
    for (size_t i = 0; i < space->block_count; i++) {
        struct space_block *block = &space->blocks[i];
        block->of =
            objects_of_context(space, resolver, block->mapped ? LWP_OBJECT_MMAP : LWP_OBJECT_HEAP, block->of, 0);
    }
    for (size_t i = 0; i < space->event_count; i++)
        objects_count_event(space, space->events[i], &lives);
    pthread_mutex_lock(&space->profile->lock);
    for (size_t i = 0; i < lives.count; i++)
        lwp_objects_count(&space->profile->objects[lives.items[i].object], &lives.items[i].life);
    pthread_mutex_unlock(&space->profile->lock);
    free(lives.items);
    lwp_table_free(&lives.index);
}

void lwp_address_map_objects(struct lwp_address_map *space, struct lwp_resolver *resolver)
{
    lwp_resolver_enter(resolver, space);
    objects_find(space, resolver);
    lwp_table_free(&space->block_index);
    free(space->events);
    free(space->contexts);
    space->events = NULL;
    space->contexts = NULL;
    space->event_count = space->event_room = space->context_count = space->context_room = 0;
    lwp_address_map_index(space);
}
