#include "base/hash.h"

#include "base/arena.h"
#include "base/pages.h"

#include <stdbool.h>
#include <stdlib.h>

struct map_slot {
    uint64_t key;
    uint32_t value;
    bool used;
};

struct lwp_map {
    struct map_slot *slots;
    size_t capacity, count; /* capacity is a power of two */
};

uint64_t lwp_hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

struct lwp_map *lwp_map_new(void)
{
    enum { FIRST = 64 };
    struct lwp_map *map = lwp_zeroed(1, sizeof *map);
    map->capacity = FIRST;
    map->slots = lwp_pages_alloc(map->capacity * sizeof *map->slots);
    return map;
}

void lwp_map_free(struct lwp_map *map)
{
    if (map)
        lwp_pages_free(map->slots, map->capacity * sizeof *map->slots);
    free(map);
}

static struct map_slot *map_find(struct map_slot *slots, size_t capacity, uint64_t key)
{
    size_t i = lwp_hash_mix(key, 0) & (capacity - 1);
    while (slots[i].used && slots[i].key != key)
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static void map_resize(struct lwp_map *map, size_t capacity)
{
    struct map_slot *slots = lwp_pages_alloc(capacity * sizeof *slots);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used)
            *map_find(slots, capacity, map->slots[i].key) = map->slots[i];
    lwp_pages_free(map->slots, map->capacity * sizeof *map->slots);
    map->slots = slots;
    map->capacity = capacity;
}

void lwp_map_reserve(struct lwp_map *map, size_t more)
{
    size_t capacity = map->capacity;
    while (capacity < 2 * (map->count + more))
        capacity *= 2;
    if (capacity > map->capacity)
        map_resize(map, capacity);
}

uint32_t *lwp_map_at(struct lwp_map *map, uint64_t key)
{
    if (map->count * 2 >= map->capacity)
        map_resize(map, map->capacity * 2);
    struct map_slot *slot = map_find(map->slots, map->capacity, key);
    if (!slot->used) {
        *slot = (struct map_slot){.key = key, .value = LWP_MAP_NONE, .used = true};
        map->count++;
    }
    return &slot->value;
}

uint32_t lwp_map_get(const struct lwp_map *map, uint64_t key)
{
    const struct map_slot *slot = map_find(map->slots, map->capacity, key);
    return slot->used ? slot->value : LWP_MAP_NONE;
}

size_t lwp_map_count(const struct lwp_map *map)
{
    return map->count;
}
