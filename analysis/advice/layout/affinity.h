/* Which fields are used together, and the groups that makes (LWPTool 5.2.3). */
#ifndef LWP_ANALYSIS_ADVICE_LAYOUT_AFFINITY_H
#define LWP_ANALYSIS_ADVICE_LAYOUT_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>

/* One loop: its weight and which of the fields it uses. */
struct lwp_affinity_loop {
    double weight;
    const bool *uses;
};

/* Eq. 7 for every pair, into affinity[i * fields + j]. A loop's weight counts in even parts for the fields it uses. */
void lwp_affinity_compute(const struct lwp_affinity_loop *loops, size_t loop_count, size_t fields, double *affinity);

/* group[i]: the group of field i, numbered from 0 by their weight, heaviest first; fields whose weight is below
 * `cold` of the whole are left out with -1. Returns the number of groups. */
size_t lwp_affinity_cluster(const double *affinity, const double *weights, size_t fields, double threshold, double cold, int *group);

#endif
