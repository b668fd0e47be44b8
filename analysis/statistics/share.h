/* How hot: shares of the cost and their intervals. */
#ifndef LWP_ANALYSIS_STATISTICS_SHARE_H
#define LWP_ANALYSIS_STATISTICS_SHARE_H

#include <stdint.h>

/* A sum of sample weights, with what an interval needs. */
struct lwp_tally {
    double weight, squares; /* sum of weights, and of their squares */
    uint64_t samples;
};

void lwp_tally_add(struct lwp_tally *tally, double weight);
void lwp_tally_merge(struct lwp_tally *tally, const struct lwp_tally *other);

/* The same in integers: sums that do not depend on the order of the parts. */
struct lwp_sum {
    unsigned __int128 squares;
    uint64_t weight, samples;
};

static inline void lwp_sum_add(struct lwp_sum *sum, uint64_t weight)
{
    sum->squares += (unsigned __int128)weight * weight;
    sum->weight += weight;
    sum->samples++;
}

/* `samples` of the same weight, or nearly so. */
static inline void lwp_sum_add_many(struct lwp_sum *sum, uint64_t weight, uint64_t samples)
{
    if (!samples)
        return;
    sum->squares += (unsigned __int128)weight * weight / samples;
    sum->weight += weight;
    sum->samples += samples;
}

static inline void lwp_sum_merge(struct lwp_sum *sum, const struct lwp_sum *other)
{
    sum->squares += other->squares;
    sum->weight += other->weight;
    sum->samples += other->samples;
}

static inline struct lwp_tally lwp_sum_tally(const struct lwp_sum *sum)
{
    return (struct lwp_tally){.weight = (double)sum->weight, .squares = (double)sum->squares, .samples = sum->samples};
}

struct lwp_share {
    double value, low, high; /* 0..1; low and high bound the 95 % interval */
};

struct lwp_share lwp_share_of(const struct lwp_tally *part, const struct lwp_tally *whole);

#endif
