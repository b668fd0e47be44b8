/* Mazaheri et al., ICPP 2018, section 3.4: what a communication matrix is described by. Matrices are `threads` rows of as
 * many cells, row: writer. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_COMMUNICATION_RATIO_H
#define LWP_ANALYSIS_ADVICE_THREADS_COMMUNICATION_RATIO_H

#include <stddef.h>
#include <stdint.h>

/* CRR: reuse for each true communication; 0 where there was none. */
void lwp_reuse_ratios(const uint64_t *first, const uint64_t *again, size_t threads, double *ratios);

/* Equation 1: the mean over the rows of the variance of each; 0: all the same. */
double lwp_reuse_homogeneity(const double *ratios, size_t threads);

/* Equation 2: by how much the row with the largest sum is above the mean of all, in percent; 0: all the same, or none. */
double lwp_reuse_balance(const double *ratios, size_t threads);

/* ---- distances ---- */

/* Buckets in ascending order, each from behind the one before. */
struct lwp_distance_bucket {
    uint64_t up_to, count;
};

/* Joins equal ones and sorts; returns how many are left. */
size_t lwp_distances_sort(struct lwp_distance_bucket *buckets, size_t count);

/* The bucket's end that so much (0 to 1) of all is up to; 0: there is none. */
uint64_t lwp_distances_quantile(const struct lwp_distance_bucket *buckets, size_t count, double part);

/* Part of all that is above `distance`, whole buckets. */
double lwp_distances_above(const struct lwp_distance_bucket *buckets, size_t count, double distance);

#endif
