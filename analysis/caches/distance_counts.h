/* How often each reuse distance occurs, in little memory: distances below LWP_DISTANCE_EXACT are counted one by one, larger ones in
 * intervals of which 128 make up a power of two, so that each is at most 0.8 % wide. At most 106 KiB. */
#ifndef LWP_ANALYSIS_CACHES_DISTANCE_COUNTS_H
#define LWP_ANALYSIS_CACHES_DISTANCE_COUNTS_H

#include <stdint.h>

enum {
    LWP_DISTANCE_EXACT_BITS = 12,
    LWP_DISTANCE_EXACT = 1 << LWP_DISTANCE_EXACT_BITS,
    LWP_DISTANCE_PART_BITS = 7, /* 128 intervals a power of two */
    LWP_DISTANCE_INTERVALS = LWP_DISTANCE_EXACT + ((32 - LWP_DISTANCE_EXACT_BITS) << LWP_DISTANCE_PART_BITS),
    LWP_DISTANCE_PAGE = 64,
    LWP_DISTANCE_PAGES = LWP_DISTANCE_INTERVALS / LWP_DISTANCE_PAGE
};

struct lwp_distance_count {
    uint64_t count;
    uint32_t most; /* the largest distance in the interval; of constant distances, the distance */
};

/* Starts from zero; a page of intervals is allocated when a distance falls into it. */
struct lwp_distance_counts {
    struct lwp_distance_count *pages[LWP_DISTANCE_PAGES];
};

/* The interval of a distance. */
static inline uint32_t lwp_distance_interval(uint32_t distance)
{
    if (distance < LWP_DISTANCE_EXACT)
        return distance;
    unsigned high = 31 - (unsigned)__builtin_clz(distance);
    uint32_t parts = distance >> (high - LWP_DISTANCE_PART_BITS) & ((1u << LWP_DISTANCE_PART_BITS) - 1);
    return LWP_DISTANCE_EXACT + ((high - LWP_DISTANCE_EXACT_BITS) << LWP_DISTANCE_PART_BITS) + parts;
}

struct lwp_distance_count *lwp_distance_counts_page(struct lwp_distance_counts *counts, uint32_t page);
void lwp_distance_counts_free(struct lwp_distance_counts *counts);

static inline void lwp_distance_counts_add(struct lwp_distance_counts *counts, uint32_t distance)
{
    uint32_t interval = lwp_distance_interval(distance);
    struct lwp_distance_count *page = counts->pages[interval / LWP_DISTANCE_PAGE];
    page = page ? page : lwp_distance_counts_page(counts, interval / LWP_DISTANCE_PAGE);
    struct lwp_distance_count *count = &page[interval % LWP_DISTANCE_PAGE];
    count->count++;
    count->most = distance > count->most ? distance : count->most;
}

#endif
