#include "analysis/advice/threads/communication_matrix.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* ---- rows ---- */

struct ranked_thread {
    size_t thread;
    double amount;
};

static int ranked_compare(const void *a, const void *b)
{
    const struct ranked_thread *x = a, *y = b;
    if (x->amount != y->amount)
        return x->amount < y->amount ? 1 : -1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

struct lwp_communication_rows lwp_communication_rows(struct lwp_arena *arena, const double *amounts, size_t threads)
{
    enum { OWN = LWP_COMMUNICATION_THREADS - 1 }; /* rows beside that of the others */
    struct ranked_thread *ranked = lwp_arena_alloc(arena, threads + 1, sizeof *ranked);
    struct lwp_communication_rows rows = {.of = lwp_arena_alloc(arena, threads + 1, sizeof *rows.of)};
    size_t wanted = 0;
    for (size_t i = 0; i < threads; i++) {
        rows.of[i] = -1;
        if (amounts[i] >= 0)
            ranked[wanted++] = (struct ranked_thread){i, amounts[i]};
    }
    qsort(ranked, wanted, sizeof *ranked, ranked_compare);
    size_t own = wanted > LWP_COMMUNICATION_THREADS ? OWN : wanted;
    for (size_t i = 0; i < own; i++)
        rows.of[ranked[i].thread] = 0;
    for (size_t i = 0; i < threads; i++)
        if (rows.of[i] == 0)
            rows.of[i] = (int)rows.count++;
    for (size_t i = own; i < wanted; i++)
        rows.of[ranked[i].thread] = (int)own;
    rows.others = wanted - own;
    rows.count += rows.others > 0;
    return rows;
}

/* ---- ratios ---- */

void lwp_communication_ratios(const uint64_t *first, const uint64_t *again, size_t threads, double *ratios)
{
    for (size_t i = 0; i < threads * threads; i++)
        ratios[i] = first[i] ? (double)again[i] / (double)first[i] : 0;
}

/* The variance of a row but for cell `except` (`threads`: of all of it). */
static double row_variance(const double *row, size_t threads, size_t except, double *mean)
{
    double sum = 0, squares = 0, cells = (double)(threads - (except < threads));
    for (size_t k = 0; k < threads; k++)
        sum += k == except ? 0 : row[k];
    *mean = sum / cells;
    for (size_t k = 0; k < threads; k++)
        squares += k == except ? 0 : (row[k] - *mean) * (row[k] - *mean);
    return squares / cells;
}

double lwp_communication_homogeneity(const double *ratios, size_t threads)
{
    double variances = 0, mean;
    for (size_t i = 0; i < threads; i++)
        variances += row_variance(ratios + i * threads, threads, threads, &mean);
    return threads ? variances / (double)threads : 0;
}

double lwp_communication_variation(const double *ratios, size_t threads)
{
    double variances = 0, means = 0, mean;
    for (size_t i = 0; i < threads; i++) {
        variances += row_variance(ratios + i * threads, threads, i, &mean) / (double)threads;
        means += mean / (double)threads;
    }
    return means > 0 ? sqrt(variances) / means : 0;
}

double lwp_communication_balance(const double *ratios, size_t threads)
{
    double most = 0, all = 0;
    for (size_t i = 0; i < threads; i++) {
        double sum = 0;
        for (size_t k = 0; k < threads; k++)
            sum += ratios[i * threads + k];
        most = fmax(sum, most);
        all += sum;
    }
    return all > 0 ? (most / (all / (double)threads) - 1) * 100 : 0;
}

/* ---- thread mapping ---- */

static const size_t nowhere = SIZE_MAX;

/* The thread without a group that communicates most with the threads of a group; `nowhere`: with others that have none. */
static size_t strongest(const uint64_t *first, size_t threads, const size_t *group, size_t with)
{
    size_t best = nowhere;
    uint64_t most = 0;
    for (size_t i = 0; i < threads; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < threads; k++)
            if (k != i && group[k] == with)
                sum += first[i * threads + k] + first[k * threads + i];
        if (group[i] == nowhere && (best == nowhere || sum > most)) {
            best = i;
            most = sum;
        }
    }
    return best;
}

void lwp_communication_group(const uint64_t *first, size_t threads, size_t size, size_t *group)
{
    for (size_t i = 0; i < threads; i++)
        group[i] = nowhere;
    for (size_t made = 0, left = threads; left; made++) {
        size_t thread = strongest(first, threads, group, nowhere);
        for (size_t count = 0; count < size && left; count++, left--) {
            group[thread] = made;
            thread = left > 1 ? strongest(first, threads, group, made) : nowhere;
        }
    }
}

double lwp_communication_within(const uint64_t *first, size_t threads, const size_t *group)
{
    double within = 0, all = 0;
    for (size_t i = 0; i < threads * threads; i++) {
        all += (double)first[i];
        within += group[i / threads] == group[i % threads] ? (double)first[i] : 0;
    }
    return all > 0 ? within / all : 0;
}

/* ---- distances ---- */

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
