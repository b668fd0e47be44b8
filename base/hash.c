#include "base/hash.h"

#include "base/arena.h"
#include "base/pages.h"

#include <stdlib.h>

enum { MAP_FIRST = 64 };

uint64_t lwp_hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

struct lwp_map *lwp_map_new(void)
{
    return lwp_zeroed(1, sizeof(struct lwp_map));
}

void lwp_map_fini(struct lwp_map *map)
{
    lwp_pages_free(map->slots, map->capacity * sizeof *map->slots);
    *map = (struct lwp_map){0};
}

void lwp_map_free(struct lwp_map *map)
{
    if (map)
        lwp_map_fini(map);
    free(map);
}

static void map_resize(struct lwp_map *map, size_t capacity)
{
    struct lwp_map larger = {.capacity = capacity, .count = map->count, .round = 1};
    larger.slots = lwp_pages_alloc(capacity * sizeof *larger.slots);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].round == map->round) {
            struct lwp_map_slot *slot = lwp_map_slot(&larger, map->slots[i].key);
            *slot = map->slots[i];
            slot->round = larger.round;
        }
    lwp_map_fini(map);
    *map = larger;
}

void lwp_map_grow(struct lwp_map *map)
{
    map_resize(map, map->capacity ? map->capacity * 2 : MAP_FIRST);
}

void lwp_map_reserve(struct lwp_map *map, size_t more)
{
    size_t capacity = map->capacity ? map->capacity : MAP_FIRST;
    while (capacity < 2 * (map->count + more))
        capacity *= 2;
    if (capacity > map->capacity)
        map_resize(map, capacity);
}
