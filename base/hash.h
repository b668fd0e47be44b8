/* A map from 64-bit keys to 32-bit values: open addressing with linear probing, inline for the innermost loops, emptied
 * in constant time. Nothing is erased. Keys made of several numbers are mixed with lwp_hash_mix first. */
#ifndef LWP_BASE_HASH_H
#define LWP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { LWP_MAP_NONE = UINT32_MAX };

struct lwp_map_slot {
    uint64_t key;
    uint32_t value, round; /* in use when its round is the map's */
};

/* All zero is an empty map. */
struct lwp_map {
    struct lwp_map_slot *slots;
    size_t capacity, count; /* capacity is a power of two */
    uint32_t round;
};

/* A map on the heap; for one of the caller's storage, lwp_map_fini releases what it holds and leaves it empty. */
struct lwp_map *lwp_map_new(void);
void lwp_map_free(struct lwp_map *map); /* NULL is fine */
void lwp_map_fini(struct lwp_map *map);

/* Room for so many more at once: doubling again and again would move each entry several times. */
void lwp_map_reserve(struct lwp_map *map, size_t more);
void lwp_map_grow(struct lwp_map *map);

static inline struct lwp_map_slot *lwp_map_slot(const struct lwp_map *map, uint64_t key)
{
    uint64_t x = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(x ^ x >> 29) & (map->capacity - 1);
    while (map->slots[i].round == map->round && map->slots[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

/* Forgets everything. */
static inline void lwp_map_clear(struct lwp_map *map)
{
    map->count = 0;
    if (++map->round == 0) /* after 2^32 rounds old slots would look new */
        lwp_map_fini(map);
}

/* The value of `key`, or LWP_MAP_NONE. */
static inline uint32_t lwp_map_get(const struct lwp_map *map, uint64_t key)
{
    if (!map->capacity)
        return LWP_MAP_NONE;
    const struct lwp_map_slot *slot = lwp_map_slot(map, key);
    return slot->round == map->round ? slot->value : LWP_MAP_NONE;
}

/* The place of the value of `key`, created holding LWP_MAP_NONE when absent; valid until the next call. */
static inline uint32_t *lwp_map_at(struct lwp_map *map, uint64_t key)
{
    if (map->count * 2 >= map->capacity)
        lwp_map_grow(map);
    struct lwp_map_slot *slot = lwp_map_slot(map, key);
    if (slot->round != map->round) {
        *slot = (struct lwp_map_slot){.key = key, .value = LWP_MAP_NONE, .round = map->round};
        map->count++;
    }
    return &slot->value;
}

/* The index of a key in an array of `count` items; `count`: it is new, and the next item is its own. LWP_MAP_NONE: it is new,
 * and there are `most` already. */
static inline uint32_t lwp_map_index(struct lwp_map *map, uint64_t key, size_t count, size_t most)
{
    if (count >= most)
        return lwp_map_get(map, key);
    uint32_t *at = lwp_map_at(map, key);
    *at = *at == LWP_MAP_NONE ? (uint32_t)count : *at;
    return *at;
}

static inline uint64_t lwp_hash_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ b;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

/* FNV-1a. */
uint64_t lwp_hash_text(const char *text);

#endif
