/* A bounded uniform sample of offsets that comes out the same in whatever order and parts it was gathered: every offset
 * gets a rank from where it was recorded, and those of the lowest ranks are kept. */
#ifndef LWP_ANALYSIS_RESERVOIR_H
#define LWP_ANALYSIS_RESERVOIR_H

#include <stddef.h>
#include <stdint.h>

enum { LWP_RESERVOIR = 64 };

/* Twelve bytes: there are many. */
struct lwp_reservoir_item {
    uint32_t rank;
    uint64_t offset;
} __attribute__((packed, aligned(4)));

/* Where they are kept: many small pieces that are freed together. Start from zero. */
struct lwp_reservoir_pool {
    char **chunks;
    size_t count, room, used; /* used: of the last chunk */
    void *unused[6];          /* pieces that were outgrown, by size */
};

void lwp_reservoir_pool_free(struct lwp_reservoir_pool *pool);
/* Moves what is in `from`, which is empty then. */
void lwp_reservoir_pool_take(struct lwp_reservoir_pool *into, struct lwp_reservoir_pool *from);

/* Holds up to twice as many as it keeps in the end: those too many go all at once. Start from LWP_RESERVOIR_EMPTY. */
struct lwp_reservoir {
    struct lwp_reservoir_item *items;
    uint32_t limit; /* a higher rank is not among the lowest */
    uint8_t count, room;
};

#define LWP_RESERVOIR_EMPTY                                                                                            \
    (struct lwp_reservoir)                                                                                             \
    {                                                                                                                  \
        .limit = UINT32_MAX                                                                                            \
    }

void lwp_reservoir_make_room(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir);

static inline void lwp_reservoir_add(struct lwp_reservoir_pool *pool, struct lwp_reservoir *reservoir, uint32_t rank,
                                     uint64_t offset)
{
    if (rank > reservoir->limit)
        return;
    if (reservoir->count == reservoir->room)
        lwp_reservoir_make_room(pool, reservoir);
    reservoir->items[reservoir->count++] = (struct lwp_reservoir_item){rank, offset};
}

/* For a reservoir that is added to soon. */
static inline void lwp_reservoir_prefetch(const struct lwp_reservoir *reservoir, uint32_t rank)
{
    if (rank <= reservoir->limit && reservoir->room)
        __builtin_prefetch(&reservoir->items[reservoir->count]);
}

void lwp_reservoir_merge(struct lwp_reservoir_pool *pool, struct lwp_reservoir *into, const struct lwp_reservoir *from);

/* Writes the offsets kept, at most LWP_RESERVOIR, in order of their ranks: a random order that is always the same.
 * `offsets` may be the memory of the items. Returns their number. */
uint32_t lwp_reservoir_offsets(const struct lwp_reservoir *reservoir, uint64_t *offsets);

#endif
