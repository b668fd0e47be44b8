#include "analysis/statistics/heavy_hitters.h"

void lwp_heavy_hitters_add_new(struct lwp_heavy_hitters *hitters, int64_t value, uint64_t times)
{
    size_t least = 0;
    for (size_t i = 0; i < LWP_HEAVY_HITTERS; i++) {
        if (hitters->count[i] && hitters->value[i] == value) {
            hitters->count[i] += times;
            return;
        }
        if (hitters->count[i] < hitters->count[least])
            least = i;
    }
    /* A value that has no counter takes its occurrences off all counters, until one is free. */
    uint64_t gone = hitters->count[least] < times ? hitters->count[least] : times;
    for (size_t i = 0; gone && i < LWP_HEAVY_HITTERS; i++)
        hitters->count[i] -= gone;
    if (times == gone)
        return;
    for (least = 0; hitters->count[least];)
        least++;
    hitters->value[least] = value;
    hitters->count[least] = times - gone;
}
