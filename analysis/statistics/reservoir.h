/* A bounded uniform sample of offsets that does not depend on the order and grouping of its input: every offset gets a random rank,
 * a hash of where it was recorded, and the lowest ranks are kept (bottom-k sampling). */
#ifndef LWP_ANALYSIS_STATISTICS_RESERVOIR_H
#define LWP_ANALYSIS_STATISTICS_RESERVOIR_H

#include <stddef.h>
#include <stdint.h>

enum { LWP_RESERVOIR = 64, LWP_RESERVOIR_LINE = 10, LWP_RESERVOIR_LINES = 13 };

/* Twelve bytes: there are many. */
struct lwp_reservoir_item {
    uint32_t rank;
    uint64_t offset;
} __attribute__((packed, aligned(4)));

/* Two cache lines of them, which processors fetch together. */
struct lwp_reservoir_line {
    uint32_t before; /* the reservoir's line before this one, or the next unused one */
    struct lwp_reservoir_item items[LWP_RESERVOIR_LINE];
} __attribute__((aligned(128)));

/* The lines of many reservoirs. Start from zero. */
struct lwp_reservoir_pool {
    struct lwp_reservoir_line *lines;
    size_t count, room;
    uint32_t unused, unused_count;
};

void lwp_reservoir_pool_free(struct lwp_reservoir_pool *pool);

/* Holds up to twice as many as are kept in the end; the surplus is dropped at once. Start from LWP_RESERVOIR_EMPTY. */
struct lwp_reservoir {
    uint32_t last;       /* its last line */
    uint32_t limit;      /* a higher rank is not among the lowest */
    uint8_t lines, used; /* used: items of the last line */
};

#define LWP_RESERVOIR_EMPTY                                                                                                                \
    (struct lwp_reservoir)                                                                                                                 \
    {                                                                                                                                      \
        .limit = UINT32_MAX, .used = LWP_RESERVOIR_LINE                                                                                    \
    }

/* Another line, when the last one is full. */
void lwp_reservoir_make_room(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir);

static inline void lwp_reservoir_add(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir, uint32_t rank, uint64_t offset)
{
    if (rank > reservoir->limit)
        return;
    if (reservoir->used == LWP_RESERVOIR_LINE)
        lwp_reservoir_make_room(pool, reservoir);
    pool->lines[reservoir->last].items[reservoir->used++] = (struct lwp_reservoir_item){rank, offset};
}

/* For a reservoir that will be added to soon. */
static inline void lwp_reservoir_prefetch(const struct lwp_reservoir_pool *pool, const struct lwp_reservoir *reservoir, uint32_t rank)
{
    if (rank <= reservoir->limit && reservoir->used < LWP_RESERVOIR_LINE)
        __builtin_prefetch(&pool->lines[reservoir->last].items[reservoir->used]);
}

/* The union of several reservoirs. Start with count 0. */
struct lwp_reservoir_items {
    struct lwp_reservoir_item items[LWP_RESERVOIR + (LWP_RESERVOIR_LINES + 1) * LWP_RESERVOIR_LINE];
    uint32_t count;
};

void lwp_reservoir_gather(struct lwp_reservoir_items *items, const struct lwp_reservoir_pool *pool, const struct lwp_reservoir *reservoir);

/* Writes the offsets kept, at most LWP_RESERVOIR, in order of their ranks: a random order that is always the same.
 * Returns their number. */
uint32_t lwp_reservoir_offsets(struct lwp_reservoir_items *items, uint64_t *offsets);

#endif
