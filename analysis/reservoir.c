/* The k lowest of all ranks seen: merging is keeping the k lowest of both. Equal ranks are ordered by offset, so that
 * even then nothing depends on who came first. Where there are more than k, they are gathered up to 2 k and the higher
 * half is dropped: one selection for k offsets, not a search for the highest with each. */
#include "analysis/reservoir.h"

#include "base/arena.h"
#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4 << 20, LINE = 64 };

/* ---- memory ---- */

/* What whole cache lines hold. */
static const uint8_t reservoir_rooms[] = {5, 10, 21, 42, LWP_RESERVOIR, 2 * LWP_RESERVOIR};

static int reservoir_size(uint8_t room)
{
    int size = 0;
    while (reservoir_rooms[size] < room)
        size++;
    return size;
}

static void *reservoir_piece(struct lwp_reservoir_pool *pool, int size)
{
    size_t bytes = (reservoir_rooms[size] * sizeof(struct lwp_reservoir_item) + LINE - 1) & ~(size_t)(LINE - 1);
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
    int size = reservoir->room ? reservoir_size(reservoir->room) + 1 : 0;
    struct lwp_reservoir_item *items = reservoir_piece(pool, size);
    if (reservoir->room) {
        memcpy(items, reservoir->items, reservoir->count * sizeof *items);
        memcpy(reservoir->items, &pool->unused[size - 1], sizeof(void *));
        pool->unused[size - 1] = reservoir->items;
    }
    reservoir->items = items;
    reservoir->room = reservoir_rooms[size];
}

/* ---- keeping ---- */

static uint32_t reservoir_kth(uint32_t *ranks, uint32_t count, uint32_t k)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        uint32_t pivot = ranks[low + (high - low) / 2], i = low, j = high;
        for (;;) {
            while (ranks[i] < pivot)
                i++;
            while (ranks[j] > pivot)
                j--;
            if (i >= j)
                break;
            uint32_t rank = ranks[i];
            ranks[i++] = ranks[j];
            ranks[j--] = rank;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return ranks[k];
}

/* Down to the items of the lowest ranks, if there are more. */
static uint32_t reservoir_cut(struct lwp_reservoir_item *items, uint32_t count, uint32_t *limit)
{
    uint32_t ranks[2 * LWP_RESERVOIR], kept = 0, equal_count = 0;
    struct lwp_reservoir_item equal[2 * LWP_RESERVOIR]; /* to the highest rank that is kept: hardly ever two */
    if (count <= LWP_RESERVOIR)
        return count;
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = items[i].rank;
    *limit = reservoir_kth(ranks, count, LWP_RESERVOIR - 1);
    for (uint32_t i = 0; i < count; i++)
        if (items[i].rank < *limit)
            items[kept++] = items[i];
        else if (items[i].rank == *limit)
            equal[equal_count++] = items[i];
    while (kept < LWP_RESERVOIR) {
        uint32_t lowest = 0;
        for (uint32_t i = 1; i < equal_count; i++)
            lowest = equal[i].offset < equal[lowest].offset ? i : lowest;
        items[kept++] = equal[lowest];
        equal[lowest] = equal[--equal_count];
    }
    return kept;
}

void lwp_reservoir_make_room(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir)
{
    if (reservoir->room < 2 * LWP_RESERVOIR)
        reservoir_grow(pool, reservoir);
    else
        reservoir->count = (uint8_t)reservoir_cut(reservoir->items, reservoir->count, &reservoir->limit);
}

void lwp_reservoir_merge(struct lwp_reservoir_pool *pool, struct lwp_reservoir *into, const struct lwp_reservoir *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        lwp_reservoir_add(pool, into, from->items[i].rank, from->items[i].offset);
}

uint32_t lwp_reservoir_offsets(const struct lwp_reservoir *reservoir, uint64_t *offsets)
{
    struct lwp_reservoir_item items[2 * LWP_RESERVOIR];
    uint64_t order[LWP_RESERVOIR]; /* rank and place in one number: quick to compare and to move */
    uint32_t limit, count = reservoir->count;
    if (!count)
        return 0;
    memcpy(items, reservoir->items, count * sizeof *items);
    count = reservoir_cut(items, count, &limit);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t one = (uint64_t)items[i].rank << 32 | i;
        uint32_t j = i;
        for (; j && order[j - 1] > one; j--)
            order[j] = order[j - 1];
        order[j] = one;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = items[(uint32_t)order[i]].offset;
        uint32_t j = i; /* equal ranks by offset: hardly ever */
        for (; j && order[j - 1] >> 32 == order[i] >> 32 && offsets[j - 1] > offset; j--)
            offsets[j] = offsets[j - 1];
        offsets[j] = offset;
    }
    return count;
}
