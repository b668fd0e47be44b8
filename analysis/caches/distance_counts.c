#include "analysis/caches/distance_counts.h"

#include "base/arena.h"

#include <stdlib.h>

struct lwp_distance_count *lwp_distance_counts_page(struct lwp_distance_counts *counts, uint32_t page)
{
    return counts->pages[page] = lwp_zeroed(LWP_DISTANCE_PAGE, sizeof **counts->pages);
}

void lwp_distance_counts_free(struct lwp_distance_counts *counts)
{
    for (unsigned i = 0; i < LWP_DISTANCE_PAGES; i++)
        free(counts->pages[i]);
    *counts = (struct lwp_distance_counts){0};
}
