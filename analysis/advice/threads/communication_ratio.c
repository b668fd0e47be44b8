#include "analysis/advice/threads/communication_ratio.h"

#include <stdlib.h>

void lwp_reuse_ratios(const uint64_t *first, const uint64_t *again, size_t threads, double *ratios)
{
    for (size_t i = 0; i < threads * threads; i++)
        ratios[i] = first[i] ? (double)again[i] / (double)first[i] : 0;
}

static double row_sum(const double *row, size_t threads)
{
    double sum = 0;
    for (size_t k = 0; k < threads; k++)
        sum += row[k];
    return sum;
}

double lwp_reuse_homogeneity(const double *ratios, size_t threads)
{
    double variances = 0;
    for (size_t i = 0; i < threads; i++) {
        const double *row = ratios + i * threads;
        double mean = row_sum(row, threads) / (double)threads, squares = 0;
        for (size_t k = 0; k < threads; k++)
            squares += (row[k] - mean) * (row[k] - mean);
        variances += squares / (double)threads;
    }
    return threads ? variances / (double)threads : 0;
}

double lwp_reuse_balance(const double *ratios, size_t threads)
{
    double most = 0, all = 0;
    for (size_t i = 0; i < threads; i++) {
        double sum = row_sum(ratios + i * threads, threads);
        most = sum > most ? sum : most;
        all += sum;
    }
    return all > 0 ? (most / (all / (double)threads) - 1) * 100 : 0;
}

static int bucket_compare(const void *a, const void *b)
{
    const struct lwp_distance_bucket *x = a, *y = b;
    return (x->up_to > y->up_to) - (x->up_to < y->up_to);
}

size_t lwp_distances_sort(struct lwp_distance_bucket *buckets, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(buckets, count, sizeof *buckets, bucket_compare);
    for (size_t i = 0; i < count; i++) {
        if (kept && buckets[kept - 1].up_to == buckets[i].up_to)
            buckets[kept - 1].count += buckets[i].count;
        else
            buckets[kept++] = buckets[i];
    }
    return kept;
}

static double distances_count(const struct lwp_distance_bucket *buckets, size_t count)
{
    double all = 0;
    for (size_t i = 0; i < count; i++)
        all += (double)buckets[i].count;
    return all;
}

uint64_t lwp_distances_quantile(const struct lwp_distance_bucket *buckets, size_t count, double part)
{
    double wanted = part * distances_count(buckets, count), seen = 0;
    for (size_t i = 0; i < count; i++) {
        seen += (double)buckets[i].count;
        if (seen >= wanted)
            return buckets[i].up_to;
    }
    return 0;
}

double lwp_distances_above(const struct lwp_distance_bucket *buckets, size_t count, double distance)
{
    double all = distances_count(buckets, count), above = 0;
    for (size_t i = 0; i < count; i++)
        above += (double)buckets[i].up_to > distance ? (double)buckets[i].count : 0;
    return all > 0 ? above / all : 0;
}
