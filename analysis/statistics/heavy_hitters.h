/* The most frequent values of a long sequence in little memory (Misra and Gries, 1982): each value that makes up more than one in
 * LWP_HEAVY_HITTERS + 1 of it is among them, counted at most that much too low. The result depends on the order, so two of these
 * are never merged: values of several sequences are added up in a list (locality_counts.h). */
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
