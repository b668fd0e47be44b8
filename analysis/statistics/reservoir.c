/* The k lowest of all ranks seen: merging keeps the k lowest of both. Equal ranks are ordered by offset, so that the order of the
 * input never matters. Offsets are gathered up to 2 k and then the higher half is dropped: one selection for k offsets instead of a
 * search for the highest with each. A reservoir is a chain of pairs of cache lines, the last one first, so that adding an offset
 * writes to one of them. */
#include "analysis/statistics/reservoir.h"

#include "base/pages.h"

#include <stdbool.h>
#include <string.h>

_Static_assert(sizeof(struct lwp_reservoir_line) == 128, "two cache lines");
_Static_assert(LWP_RESERVOIR_LINES *LWP_RESERVOIR_LINE >= 2 * LWP_RESERVOIR, "room to gather");

void lwp_reservoir_pool_free(struct lwp_reservoir_pool *pool)
{
    lwp_pages_free(pool->lines, pool->room * sizeof *pool->lines);
    *pool = (struct lwp_reservoir_pool){0};
}

/* ---- the lowest ranks ---- */

/* Hoare's selection: the rank that has k others below it. */
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

/* Down to the items of the lowest ranks, if there are more; *limit: the highest of them then. */
static uint32_t reservoir_cut(struct lwp_reservoir_item *items, uint32_t count, uint32_t *limit)
{
    enum { MOST = sizeof((struct lwp_reservoir_items *)NULL)->items / sizeof *items };
    uint32_t ranks[MOST], kept = 0, equal_count = 0;
    struct lwp_reservoir_item equal[MOST]; /* to the highest rank that is kept: hardly ever two */
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

/* ---- lines ---- */

static uint32_t reservoir_line(struct lwp_reservoir_pool *pool)
{
    if (pool->unused_count) {
        uint32_t line = pool->unused;
        pool->unused = pool->lines[line].before;
        pool->unused_count--;
        return line;
    }
    enum { AHEAD = 8 };
    LWP_PAGES_GROW(&pool->lines, pool->count, &pool->room);
    if (pool->count + AHEAD < pool->room)
        __builtin_prefetch(&pool->lines[pool->count + AHEAD]);
    return (uint32_t)pool->count++;
}

/* Copies what a reservoir holds, line by line from the last one; behind it there must be room for the rest of a line. */
static uint32_t reservoir_copy(const struct lwp_reservoir_pool *pool, const struct lwp_reservoir *reservoir,
                               struct lwp_reservoir_item *items)
{
    uint32_t count = 0, used = reservoir->used, line = reservoir->last;
    for (uint32_t i = 0; i < reservoir->lines; i++) {
        memcpy(items + count, pool->lines[line].items, sizeof pool->lines[line].items);
        count += used;
        used = LWP_RESERVOIR_LINE;
        line = pool->lines[line].before;
    }
    return count;
}

/* Keeps the lowest ranks in as few lines. */
static void reservoir_shrink(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir)
{
    struct lwp_reservoir_item items[(LWP_RESERVOIR_LINES + 1) * LWP_RESERVOIR_LINE];
    uint32_t count = reservoir_cut(items, reservoir_copy(pool, reservoir, items), &reservoir->limit);
    uint32_t lines = (count + LWP_RESERVOIR_LINE - 1) / LWP_RESERVOIR_LINE;
    while (reservoir->lines > lines) {
        uint32_t line = reservoir->last;
        reservoir->last = pool->lines[line].before;
        reservoir->lines--;
        pool->lines[line].before = pool->unused;
        pool->unused = line;
        pool->unused_count++;
    }
    reservoir->used = (uint8_t)(count - (lines - 1) * LWP_RESERVOIR_LINE);
    for (uint32_t at = 0, used = reservoir->used, line = reservoir->last; at < count; line = pool->lines[line].before) {
        memcpy(pool->lines[line].items, items + at, sizeof pool->lines[line].items);
        at += used;
        used = LWP_RESERVOIR_LINE;
    }
}

void lwp_reservoir_make_room(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir)
{
    if (reservoir->lines == LWP_RESERVOIR_LINES)
        reservoir_shrink(pool, reservoir);
    if (reservoir->used < LWP_RESERVOIR_LINE)
        return;
    uint32_t line = reservoir_line(pool);
    pool->lines[line].before = reservoir->last;
    reservoir->last = line;
    reservoir->lines++;
    reservoir->used = 0;
}

/* ---- out ---- */

void lwp_reservoir_gather(struct lwp_reservoir_items *items, const struct lwp_reservoir_pool *pool, const struct lwp_reservoir *reservoir)
{
    uint32_t limit;
    items->count = reservoir_cut(items->items, items->count + reservoir_copy(pool, reservoir, items->items + items->count), &limit);
}

static bool reservoir_before(const struct lwp_reservoir_item *a, const struct lwp_reservoir_item *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->offset < b->offset);
}

uint32_t lwp_reservoir_offsets(struct lwp_reservoir_items *items, uint64_t *offsets)
{
    for (uint32_t i = 0; i < items->count; i++) {
        struct lwp_reservoir_item item = items->items[i];
        uint32_t j = i;
        for (; j && reservoir_before(&item, &items->items[j - 1]); j--)
            items->items[j] = items->items[j - 1];
        items->items[j] = item;
    }
    for (uint32_t i = 0; i < items->count; i++)
        offsets[i] = items->items[i].offset;
    return items->count;
}
