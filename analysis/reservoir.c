/* The k lowest of all ranks seen: merging is keeping the k lowest of both. Equal ranks are ordered by offset, so that
 * even then nothing depends on who came first. */
#include "analysis/reservoir.h"

#include "base/arena.h"
#include "base/pages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4 << 20, LINE = 64 };

static uint32_t *reservoir_ranks(const struct lwp_reservoir *reservoir)
{
    return (uint32_t *)(reservoir->offsets + reservoir->room);
}

static bool reservoir_before(const struct lwp_reservoir *reservoir, uint32_t a, uint32_t b)
{
    const uint32_t *ranks = reservoir_ranks(reservoir);
    if (ranks[a] != ranks[b])
        return ranks[a] < ranks[b];
    return reservoir->offsets[a] < reservoir->offsets[b];
}

/* Finds the last of a full reservoir. */
static void reservoir_find_worst(struct lwp_reservoir *reservoir)
{
    const uint32_t *ranks = reservoir_ranks(reservoir);
    uint32_t worst = 0, at = LWP_RESERVOIR;
    for (uint32_t i = 0; i < LWP_RESERVOIR; i++)
        worst = ranks[i] > worst ? ranks[i] : worst;
    for (uint32_t i = 0; i < LWP_RESERVOIR; i++)
        if (ranks[i] == worst && (at == LWP_RESERVOIR || reservoir->offsets[i] > reservoir->offsets[at]))
            at = i;
    reservoir->worst = worst;
    reservoir->worst_at = at;
}

/* ---- memory ---- */

static const uint32_t reservoir_rooms[] = {4, 16, LWP_RESERVOIR};

static size_t reservoir_bytes(int size)
{
    size_t bytes = reservoir_rooms[size] * (sizeof(uint64_t) + sizeof(uint32_t));
    return (bytes + LINE - 1) & ~(size_t)(LINE - 1);
}

static void *reservoir_piece(struct lwp_reservoir_pool *pool, int size)
{
    size_t bytes = reservoir_bytes(size);
    if (pool->unused[size]) {
        void *piece = pool->unused[size];
        memcpy(&pool->unused[size], piece, sizeof piece); /* the next one */
        return piece;
    }
    if (!pool->count || pool->used + bytes > CHUNK) {
        LWP_GROW(&pool->chunks, pool->count, &pool->room);
        pool->chunks[pool->count++] = lwp_pages_alloc(CHUNK);
        pool->used = 0;
    }
    void *piece = pool->chunks[pool->count - 1] + pool->used;
    pool->used += bytes;
    return piece;
}

void lwp_reservoir_pool_free(struct lwp_reservoir_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        lwp_pages_free(pool->chunks[i], CHUNK);
    free(pool->chunks);
    *pool = (struct lwp_reservoir_pool){0};
}

void lwp_reservoir_pool_take(struct lwp_reservoir_pool *into, struct lwp_reservoir_pool *from)
{
    /* The last chunk stays the one that is being filled. */
    for (size_t i = 0; i < from->count; i++) {
        LWP_GROW(&into->chunks, into->count, &into->room);
        into->chunks[into->count++] = from->chunks[i];
    }
    if (from->count)
        into->used = from->used;
    free(from->chunks);
    *from = (struct lwp_reservoir_pool){0};
}

static void reservoir_grow(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir)
{
    int size = 0;
    while (reservoir_rooms[size] <= reservoir->room)
        size++;
    uint32_t room = reservoir_rooms[size];
    uint64_t *offsets = reservoir_piece(pool, size);
    if (reservoir->room) {
        memcpy(offsets, reservoir->offsets, reservoir->count * sizeof *offsets);
        memcpy(offsets + room, reservoir_ranks(reservoir), reservoir->count * sizeof(uint32_t));
        memcpy(reservoir->offsets, &pool->unused[size - 1], sizeof(void *));
        pool->unused[size - 1] = reservoir->offsets;
    }
    reservoir->offsets = offsets;
    reservoir->room = room;
}

/* ---- keeping ---- */

void lwp_reservoir_keep(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir, uint32_t rank,
                        uint64_t offset)
{
    if (reservoir->count < LWP_RESERVOIR) {
        if (reservoir->count == reservoir->room)
            reservoir_grow(pool, reservoir);
        reservoir->offsets[reservoir->count] = offset;
        reservoir_ranks(reservoir)[reservoir->count++] = rank;
        if (reservoir->count == LWP_RESERVOIR)
            reservoir_find_worst(reservoir);
        return;
    }
    uint64_t *worst = &reservoir->offsets[reservoir->worst_at];
    if (rank > reservoir->worst || (rank == reservoir->worst && offset >= *worst))
        return;
    *worst = offset;
    reservoir_ranks(reservoir)[reservoir->worst_at] = rank;
    reservoir_find_worst(reservoir);
}

void lwp_reservoir_merge(struct lwp_reservoir_pool *pool, struct lwp_reservoir *into, const struct lwp_reservoir *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        lwp_reservoir_keep(pool, into, reservoir_ranks(from)[i], from->offsets[i]);
    into->seen += from->seen;
}

void lwp_reservoir_sort(struct lwp_reservoir *reservoir)
{
    uint32_t *ranks = reservoir_ranks(reservoir);
    for (uint32_t i = 1; i < reservoir->count; i++)
        for (uint32_t j = i; j > 0 && reservoir_before(reservoir, j, j - 1); j--) {
            uint64_t offset = reservoir->offsets[j];
            uint32_t rank = ranks[j];
            reservoir->offsets[j] = reservoir->offsets[j - 1];
            ranks[j] = ranks[j - 1];
            reservoir->offsets[j - 1] = offset;
            ranks[j - 1] = rank;
        }
}
