/* How hot: shares of weight and how sure they are. */
#ifndef LWP_ANALYSIS_HOT_H
#define LWP_ANALYSIS_HOT_H

#include <stdint.h>

/* A sum of sample weights, with what an interval needs. */
struct lwp_tally {
    double weight, squares; /* sum of weights, and of their squares */
    uint64_t samples;
};

void lwp_tally_add(struct lwp_tally *tally, double weight);
void lwp_tally_merge(struct lwp_tally *tally, const struct lwp_tally *other);

struct lwp_share {
    double value, low, high; /* 0..1; low and high bound the 95 % interval */
};

struct lwp_share lwp_share_of(const struct lwp_tally *part, const struct lwp_tally *whole);

#endif
