/* The address space of one process as it was recorded.
 *
 * In: modules, blocks and pools. Out: them, with the module's number; address_map_objects.c gives blocks and pools objects.
 * Limits: a block that ends by another record than its own is not seen. */
#include "analysis/addresses/address_map_internal.h"
#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXTS_PER_FILE_MAX = 1 << 22, POOLS_MAX = 1 << 22, BLOCKS_MAX = 1 << 25, MODULES_MAX = 1 << 14, MODULES_COMPARED = 4096 };

struct lwp_address_map *lwp_address_map_new(struct lwp_profile *profile, uint32_t number)
{
    struct lwp_address_map *space = calloc(1, sizeof *space);
    if (!space)
        abort();
    space->profile = profile;
    space->number = number;
    LWP_GROW(&space->contexts, space->context_count, &space->context_room);
    space->contexts[space->context_count++] = (struct space_context){0};
    return space;
}

void lwp_address_map_free(struct lwp_address_map *space)
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
    lwp_range_index_free(&space->directory);
    lwp_table_free(&space->block_index);
    free(space);
}

uint64_t lwp_address_map_refused(const struct lwp_address_map *space)
{
    return space->refused;
}

uint32_t lwp_address_map_number(const struct lwp_address_map *space)
{
    return space->number;
}

void lwp_address_map_start(struct lwp_address_map *space, uint64_t start_ns)
{
    space->start_ns = start_ns;
}

uint64_t lwp_address_map_time(const struct lwp_address_map *space, uint64_t time)
{
    return time > space->start_ns ? time - space->start_ns : 0;
}

/* ---- records ---- */

void lwp_address_map_module(struct lwp_address_map *space, const struct lwps_module *record)
{
    if (record->start >= record->end)
        return;
    if (space->module_count >= MODULES_MAX) {
        space->refused++;
        return;
    }
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

void lwp_address_map_module_end(struct lwp_address_map *space, const struct lwps_module_end *record)
{
    for (size_t i = space->module_count; i--;)
        if (space->modules[i].id == record->id && space->modules[i].end_time == UINT64_MAX) {
            space->modules[i].end_time = record->time;
            return;
        }
}

void lwp_address_map_context(struct lwp_address_map *space, const struct lwps_context *record)
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

static struct space_pool *space_pool_at(struct lwp_address_map *space, uint32_t id)
{
    while (space->pool_count <= id) {
        LWP_GROW(&space->pools, space->pool_count, &space->pool_room);
        space->pools[space->pool_count++] = (struct space_pool){.context = LWP_NONE};
    }
    return &space->pools[id];
}

void lwp_address_map_pool(struct lwp_address_map *space, const struct lwps_pool *record)
{
    if (record->id >= POOLS_MAX)
        return;
    struct space_pool *pool = space_pool_at(space, record->id);
    pool->context = record->context;
    pool->size = record->size;
}

void lwp_address_map_pool_count(struct lwp_address_map *space, const struct lwps_pool_count *record)
{
    if (record->id < POOLS_MAX)
        space_pool_at(space, record->id)->count = *record;
}

void lwp_address_map_block(struct lwp_address_map *space, const struct lwps_block *record)
{
    uint64_t end;
    if (record->size == 0 || __builtin_add_overflow(record->address, record->size, &end))
        return;
    if (space->block_count >= BLOCKS_MAX) {
        space->refused++;
        return;
    }
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

void lwp_address_map_block_end(struct lwp_address_map *space, const struct lwps_block_end *record)
{
    uint32_t at = lwp_table_get(&space->block_index, record->id);
    if (at == LWP_TABLE_NONE || space->blocks[at].end_time != UINT64_MAX)
        return;
    space->blocks[at].end_time = record->time;
    LWP_GROW(&space->events, space->event_count, &space->event_room);
    space->events[space->event_count++] = at * 2 + 1;
}

void lwp_address_map_modules(struct lwp_address_map *space)
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
