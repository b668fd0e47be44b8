/* The address map of one process as it was recorded.
 *
 * In: modules, blocks and pools. Out: them, with the module's number; address_map_objects.c gives blocks and pools objects.
 * Limits: a block that ends by another record than its own is not seen. */
#include "analysis/addresses/address_map_internal.h"
#include "base/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS_PER_FILE_MAX = 1 << 22, POOLS_MAX = 1 << 22, BLOCKS_MAX = 1 << 25, MODULES_MAX = 1 << 14, MODULES_COMPARED = 4096 };

struct lwp_address_map *lwp_address_map_new(struct lwp_profile *profile, uint32_t number)
{
    struct lwp_address_map *map = lwp_zeroed(1, sizeof *map);
    map->profile = profile;
    map->number = number;
    LWP_PUSH(map->context, (struct map_context){0});
    return map;
}

void lwp_address_map_free(struct lwp_address_map *map)
{
    for (size_t i = 0; i < map->module_count; i++)
        free(map->modules[i].path);
    free(map->modules);
    free(map->contexts);
    free(map->pools);
    free(map->pool_objects);
    free(map->kinds);
    free(map->blocks);
    free(map->events);
    lwp_pages_free(map->starts, map->start_room * sizeof *map->starts);
    lwp_range_index_free(&map->index);
    lwp_map_fini(&map->block_index);
    free(map);
}

uint64_t lwp_address_map_refused(const struct lwp_address_map *map)
{
    return map->refused;
}

uint32_t lwp_address_map_number(const struct lwp_address_map *map)
{
    return map->number;
}

void lwp_address_map_start(struct lwp_address_map *map, uint64_t start_ns)
{
    map->start_ns = start_ns;
}

uint64_t lwp_address_map_time(const struct lwp_address_map *map, uint64_t time)
{
    return time > map->start_ns ? time - map->start_ns : 0;
}

void lwp_address_map_left_out(struct lwp_address_map *map, uint64_t recorded, uint64_t left_out)
{
    map->recorded = recorded;
    map->left_out = left_out;
}

bool lwp_address_map_leaves_out(const struct lwp_address_map *map)
{
    return map->left_out > 0;
}

/* ---- records ---- */

void lwp_address_map_module(struct lwp_address_map *map, const struct lwps_module *record)
{
    if (record->start >= record->end)
        return;
    if (map->module_count >= MODULES_MAX) {
        map->refused++;
        return;
    }
    struct map_module *module = LWP_PUSH(map->module, (struct map_module){.id = record->id, .module = LWP_NONE,
                                                                          .time = record->time, .end_time = UINT64_MAX,
                                                                          .start = record->start, .end = record->end,
                                                                          .bias = record->bias,
                                                                          .build_id_bytes = record->build_id_bytes,
                                                                          .path = lwp_allocated(strdup(record->path))});
    memcpy(module->build_id, record->build_id, sizeof module->build_id);
}

void lwp_address_map_module_end(struct lwp_address_map *map, const struct lwps_module_end *record)
{
    for (size_t i = map->module_count; i--;)
        if (map->modules[i].id == record->id && map->modules[i].end_time == UINT64_MAX) {
            map->modules[i].end_time = record->time;
            return;
        }
}

void lwp_address_map_context(struct lwp_address_map *map, const struct lwps_context *record)
{
    if (record->id == 0 || record->id >= CONTEXTS_PER_FILE_MAX)
        return;
    while (map->context_count <= record->id) { /* ids are dense; a damaged block leaves a hole: the root */
        LWP_PUSH(map->context, (struct map_context){0});
    }
    map->contexts[record->id] = (struct map_context){.parent = record->parent < record->id ? record->parent : 0, .ip = record->ip};
}

static struct map_pool *map_pool_at(struct lwp_address_map *map, uint32_t id)
{
    while (map->pool_count <= id) {
        LWP_PUSH(map->pool, (struct map_pool){.context = LWP_NONE});
    }
    return &map->pools[id];
}

void lwp_address_map_pool(struct lwp_address_map *map, const struct lwps_pool *record)
{
    if (record->id >= POOLS_MAX)
        return;
    struct map_pool *pool = map_pool_at(map, record->id);
    pool->context = record->context;
    pool->size = record->size;
}

void lwp_address_map_pool_count(struct lwp_address_map *map, const struct lwps_pool_count *record)
{
    if (record->id < POOLS_MAX)
        map_pool_at(map, record->id)->count = *record;
}

void lwp_address_map_block(struct lwp_address_map *map, const struct lwps_block *record)
{
    uint64_t end;
    if (record->size == 0 || __builtin_add_overflow(record->address, record->size, &end))
        return;
    if (map->block_count >= BLOCKS_MAX) {
        map->refused++;
        return;
    }
    uint32_t index = (uint32_t)map->block_count;
    *lwp_map_at(&map->block_index, record->id) = index;
    LWP_PUSH(map->block, (struct map_block){.address = record->address, .size = record->size, .time = record->time,
                                            .end_time = UINT64_MAX, .id = record->id, .of = record->context,
                                            .mapped = record->kind == LWPS_BLOCK_MMAP});
    LWP_PUSH(map->event, index * 2);
}

void lwp_address_map_block_end(struct lwp_address_map *map, const struct lwps_block_end *record)
{
    uint32_t at = lwp_map_get(&map->block_index, record->id);
    if (at == LWP_MAP_NONE || map->blocks[at].end_time != UINT64_MAX)
        return;
    map->blocks[at].end_time = record->time;
    LWP_PUSH(map->event, at * 2 + 1);
}

void lwp_address_map_jit(struct lwp_address_map *map, const char *folder)
{
    map->jit = lwp_jit_code_read(folder);
    for (size_t i = 0; map->jit && i < map->jit->function_count; i++)
        if (map->jit->functions[i].time) /* what was there before is there from the start */
            map->jit->functions[i].time = lwp_address_map_time(map, map->jit->functions[i].time);
}

void lwp_address_map_modules(struct lwp_address_map *map)
{
    pthread_mutex_lock(&map->profile->lock);
    for (size_t i = 0; i < map->module_count; i++) {
        struct map_module *module = &map->modules[i];
        module->module =
            lwp_code_module(map->profile->code, module->path, module->build_id_bytes ? module->build_id : NULL, module->build_id_bytes);
        map->thread_locals += lwp_code_thread_local(map->profile->code, module->module);
        map->modules_overlap |= i > MODULES_COMPARED;
        for (size_t k = 0; k < i && !map->modules_overlap; k++)
            map->modules_overlap = module->start < map->modules[k].end && map->modules[k].start < module->end;
    }
    if (map->jit) {
        char name[64];
        snprintf(name, sizeof name, "[JIT code of process %u]", map->number + 1);
        map->jit_module = lwp_code_jit_module(map->profile->code, name, map->jit);
        map->jit = map->jit_module == LWP_NONE ? NULL : map->jit;
    }
    pthread_mutex_unlock(&map->profile->lock);
}
