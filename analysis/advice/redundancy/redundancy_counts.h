/* How many bytes are accessed in a unit of time, place by place: samples come by time, shares are of bytes. */
#ifndef LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_COUNTS_H
#define LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_COUNTS_H

#include "analysis/profile/profile.h"

/* A store or load of which there are samples. */
struct lwp_access_place {
    uint32_t context, object; /* object may be LWP_NONE */
    uint16_t bytes;
    double weight; /* time of the samples around it */
};

/* Of one place: its part of the bytes accessed is `weight` times `rate`, over the sum of that of all. */
struct lwp_access_rate {
    double rate;
    double doubt;   /* standard deviation of the rate's logarithm: the same error for all places of the group */
    uint32_t group; /* 0, 1, ... */
};

/* The innermost loop that the access is in, or its function; LWP_NONE: unknown code. */
uint32_t lwp_access_region(struct lwp_profile *profile, uint32_t context);

/* The call that led to the access's function, or to the C library's that it is of; 0: none. */
uint32_t lwp_access_call(const struct lwp_profile *profile, uint32_t context);

/* Returns how many groups there are; more than LWP_ACCESS_GROUPS_MOST share one. */
enum { LWP_ACCESS_GROUPS_MOST = 4096 };
uint32_t lwp_access_rates(struct lwp_profile *profile, const struct lwp_access_place *places, size_t count, struct lwp_access_rate *rates);

/* A sum over places of parts p of what each does, weighed by bytes; like a share of time's. `p` and `m` (how many observations p rests on)
 * have an entry for each place; `n`: what the weights rest on. */
struct lwp_share lwp_access_share(const struct lwp_access_place *places, const struct lwp_access_rate *rates, size_t count, uint32_t groups,
                                  const double *p, const double *m, double n);

#endif
