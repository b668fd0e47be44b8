/* The values that come most often in a long row, in little memory (Misra and Gries): what makes up more than one part in
 * LWP_HEAVY_HITTERS of it is among them, counted at most that much too low. What is found depends on the order of the row, so two
 * of these are never put together: several rows' values add up in a list (locality_values.h). */
#ifndef LWP_ANALYSIS_STATISTICS_HEAVY_HITTERS_H
#define LWP_ANALYSIS_STATISTICS_HEAVY_HITTERS_H

#include <stddef.h>
#include <stdint.h>

enum { LWP_HEAVY_HITTERS = 8 };

/* Starts from zero. */
struct lwp_heavy_hitters {
    int64_t value[LWP_HEAVY_HITTERS];
    uint64_t count[LWP_HEAVY_HITTERS]; /* 0: free */
    uint64_t all;
};

void lwp_heavy_hitters_add_new(struct lwp_heavy_hitters *hitters, int64_t value, uint64_t times);

static inline void lwp_heavy_hitters_add(struct lwp_heavy_hitters *hitters, int64_t value, uint64_t times)
{
    hitters->all += times;
    if (hitters->count[0] && hitters->value[0] == value)
        hitters->count[0] += times;
    else
        lwp_heavy_hitters_add_new(hitters, value, times);
}

#endif
