/* A map from 64-bit keys to 32-bit values (open addressing), for interning ids.
 * Keys made of several numbers are mixed with lwp_hash_mix first and compared by the caller. */
#ifndef LWP_BASE_HASH_H
#define LWP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct lwp_map;

enum { LWP_MAP_NONE = UINT32_MAX };

struct lwp_map *lwp_map_new(void);
void lwp_map_free(struct lwp_map *map); /* NULL is fine */

/* Room for so many more at once. */
void lwp_map_reserve(struct lwp_map *map, size_t more);

/* The value's place for `key`, created holding LWP_MAP_NONE when absent; valid until the next call. */
uint32_t *lwp_map_at(struct lwp_map *map, uint64_t key);

/* The value of `key`, or LWP_MAP_NONE. */
uint32_t lwp_map_get(const struct lwp_map *map, uint64_t key);

size_t lwp_map_count(const struct lwp_map *map);

static inline uint64_t lwp_hash_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ b;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

uint64_t lwp_hash_text(const char *text);

#endif
