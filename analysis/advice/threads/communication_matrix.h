/* What a communication matrix is described by (Mazaheri et al., ICPP 2018, section 3.4), which threads have a row of it, and
 * which of them should share a cache. Matrices are `threads` rows of as many cells, row: writer. */
#ifndef LWP_ANALYSIS_ADVICE_THREADS_COMMUNICATION_MATRIX_H
#define LWP_ANALYSIS_ADVICE_THREADS_COMMUNICATION_MATRIX_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

enum { LWP_COMMUNICATION_THREADS = 64 }; /* rows at the most */

struct lwp_communication_rows {
    size_t count;  /* in all */
    size_t others; /* threads that the last row stands for; 0: each row is one thread's */
    int *of;       /* of each thread; -1: none. In the arena */
};

/* Rows in the threads' order for those whose amount is not below 0. Of more than LWP_COMMUNICATION_THREADS the top threads have
 * rows of their own, of equal ones the first. */
struct lwp_communication_rows lwp_communication_rows(struct lwp_arena *arena, const double *amounts, size_t threads);

/* Whether the thread has a row that is only its own. */
static inline int lwp_communication_has_row(const struct lwp_communication_rows *rows, size_t thread)
{
    return rows->of[thread] >= 0 && (!rows->others || rows->of[thread] < (int)rows->count - 1);
}

/* CRR: reuse for each true communication; 0 where there was none. */
void lwp_communication_ratios(const uint64_t *first, const uint64_t *again, size_t threads, double *ratios);

/* Equation 1: the mean over the rows of the variance of each; 0: all the same. */
double lwp_communication_homogeneity(const double *ratios, size_t threads);

/* Likewise without the diagonal, whose zeros say nothing: the standard deviation in a row, of the mean of all. */
double lwp_communication_variation(const double *ratios, size_t threads);

/* Equation 2: by how much the row with the largest sum is above the mean of all, in percent; 0: all the same, or none. */
double lwp_communication_balance(const double *ratios, size_t threads);

/* The name that parallel programming has for the matrix `first` of true communication, whatever the order of the threads (see
 * communication_pattern.c). NULL: none, or fewer than three threads communicate. */
const char *lwp_communication_pattern(const uint64_t *first, size_t threads);

/* ---- thread mapping ---- */

/* group[i] becomes the group of thread i, of at most `size` threads each. Greedy: the group that is being made takes the thread
 * that communicates most with it. */
void lwp_communication_group(const uint64_t *first, size_t threads, size_t size, size_t *group);

/* Part of all communication that stays within groups. */
double lwp_communication_within(const uint64_t *first, size_t threads, const size_t *group);

/* ---- distances ---- */

/* Buckets in ascending order, each from behind the one before. */
struct lwp_distance_bucket {
    uint64_t up_to, count;
};

/* Sorts, merges equal ones and returns how many are left. */
size_t lwp_distances_sort(struct lwp_distance_bucket *buckets, size_t count);

/* The bucket's end that so much (0 to 1) of all is up to; 0: there is none. */
uint64_t lwp_distances_quantile(const struct lwp_distance_bucket *buckets, size_t count, double part);

/* Part of all that is above `distance`, whole buckets. */
double lwp_distances_above(const struct lwp_distance_bucket *buckets, size_t count, double distance);

#endif
