/* A bounded uniform sample of offsets that comes out the same in whatever order and parts it was gathered: every offset
 * gets a rank from where it was recorded, and those of the lowest ranks are kept. */
#ifndef LWP_ANALYSIS_RESERVOIR_H
#define LWP_ANALYSIS_RESERVOIR_H

#include <stdint.h>

enum { LWP_RESERVOIR = 64 };

struct lwp_reservoir {
    uint64_t seen;
    uint32_t count, room;
    uint32_t worst, worst_at; /* the highest rank kept, once it is full */
    uint64_t *offsets; /* followed by their ranks */
};

void lwp_reservoir_keep(struct lwp_reservoir *reservoir, uint32_t rank, uint64_t offset);

static inline void lwp_reservoir_add(struct lwp_reservoir *reservoir, uint32_t rank, uint64_t offset)
{
    reservoir->seen++;
    if (reservoir->count < LWP_RESERVOIR || rank <= reservoir->worst)
        lwp_reservoir_keep(reservoir, rank, offset);
}

void lwp_reservoir_merge(struct lwp_reservoir *into, const struct lwp_reservoir *from);

/* By rank: a random order that is always the same. */
void lwp_reservoir_sort(struct lwp_reservoir *reservoir);

#endif
