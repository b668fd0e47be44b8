/* What a new layout saves: cache lines per element visit, and from it the program's speed-up. */
#ifndef LWP_ANALYSIS_GAIN_H
#define LWP_ANALYSIS_GAIN_H

#include "analysis/layout.h"

struct lwp_gain_loop {
    uint32_t region;
    double before, after; /* cache lines for each element visited */
};

struct lwp_gain {
    double before, after; /* the mean over loops by weight */
    double low, high;     /* expected speed-up of the whole program */
    struct lwp_gain_loop *loops;
    size_t loop_count;
};

/* `group` of each field as lwp_affinity_cluster left it (-1: cold), `groups` of them. */
void lwp_gain_estimate(struct lwp_profile *profile, const struct lwp_layout *layout, const int *group, size_t groups,
                       struct lwp_gain *gain);

/* Where each field goes in its group: offsets[field], and the size of the group's structure. Pointers from the first
 * group to the others are counted when `linked`. */
uint64_t lwp_gain_pack(const struct lwp_layout *layout, const int *group, int which, size_t links, uint64_t *offsets);

#endif
