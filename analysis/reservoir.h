/* A bounded uniform sample of offsets that comes out the same in whatever order and parts it was gathered: every offset
 * gets a rank from where it was recorded, and those of the lowest ranks are kept. */
#ifndef LWP_ANALYSIS_RESERVOIR_H
#define LWP_ANALYSIS_RESERVOIR_H

#include <stddef.h>
#include <stdint.h>

enum { LWP_RESERVOIR = 64 };

/* Where they are kept: many small pieces that are freed together. Start from zero. */
struct lwp_reservoir_pool {
    char **chunks;
    size_t count, room, used; /* used: of the last chunk */
    void *unused[3];          /* pieces that were outgrown, by size */
};

void lwp_reservoir_pool_free(struct lwp_reservoir_pool *pool);
/* Moves what is in `from`, which is empty then. */
void lwp_reservoir_pool_take(struct lwp_reservoir_pool *into, struct lwp_reservoir_pool *from);

struct lwp_reservoir {
    uint64_t seen;
    uint32_t count, room;
    uint32_t worst, worst_at; /* the highest rank kept, once it is full */
    uint64_t *offsets;        /* followed by their ranks */
};

void lwp_reservoir_keep(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir, uint32_t rank,
                        uint64_t offset);

static inline void lwp_reservoir_add(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir, uint32_t rank,
                                     uint64_t offset)
{
    reservoir->seen++;
    if (reservoir->count < LWP_RESERVOIR || rank <= reservoir->worst)
        lwp_reservoir_keep(pool, reservoir, rank, offset);
}

void lwp_reservoir_merge(struct lwp_reservoir_pool *pool, struct lwp_reservoir *into, const struct lwp_reservoir *from);

/* For a reservoir that is added to soon. */
static inline void lwp_reservoir_prefetch(const struct lwp_reservoir *reservoir, uint32_t rank)
{
    if (!reservoir->room || (reservoir->count == LWP_RESERVOIR && rank > reservoir->worst))
        return;
    const uint32_t *ranks = (const uint32_t *)(reservoir->offsets + reservoir->room);
    uint32_t at = reservoir->count < LWP_RESERVOIR ? reservoir->count : reservoir->worst_at;
    __builtin_prefetch(&reservoir->offsets[at]);
    __builtin_prefetch(reservoir->count < LWP_RESERVOIR ? &ranks[at] : ranks);
}

/* By rank: a random order that is always the same. */
void lwp_reservoir_sort(struct lwp_reservoir *reservoir);

#endif
