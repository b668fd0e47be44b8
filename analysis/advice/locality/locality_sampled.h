/* What samples say of the locality of each data object in each loop. How far apart the uses of a line are, what caches keep and
 * how many accesses there were at all takes a trace (locality.h). */
#ifndef LWP_ANALYSIS_ADVICE_LOCALITY_LOCALITY_SAMPLED_H
#define LWP_ANALYSIS_ADVICE_LOCALITY_LOCALITY_SAMPLED_H

#include "analysis/profile/profile.h"

struct lwp_sampled_row {
    uint32_t object, region;
    double share;        /* of all weight */
    uint64_t seen;       /* accesses */
    int64_t stride;      /* bytes that most instructions go on by each time round, by accesses seen; */
    double stride_share; /* ... those of so large a part of them; 0: not known */
    unsigned streams;    /* walks side by side in the loop, at least; 0: none is known */
    uint64_t pages;      /* that its walks go over, and others were seen on; 0: not known */
};

struct lwp_sampled_locality {
    struct lwp_sampled_row *rows; /* largest share first */
    size_t count;
};

/* In profile->arena. After lwp_elements_find. */
void lwp_locality_sampled_find(struct lwp_profile *profile, struct lwp_sampled_locality *found);

#endif
