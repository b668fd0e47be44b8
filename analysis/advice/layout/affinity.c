/* Field affinity (LWPTool eq. 7) and clustering.
 *
 *     FA_ij = cost of i and j in the loops that use both / cost of i and j in all loops
 *
 * Latency samples give each field's own cost in the paper. Here the cost of a stall goes to the first toucher of a cache line, so a
 * loop's cost is divided evenly among the fields it uses. Groups grow by average linkage: the two groups with the highest mean
 * affinity become one while that is at least the threshold. */
#include "analysis/advice/layout/split_internal.h"

#include "base/arena.h"

#include <stdlib.h>

void lwp_affinity_compute(const struct lwp_affinity_loop *loops, size_t loop_count, size_t fields, double *affinity)
{
    double *parts = lwp_zeroed(loop_count, sizeof *parts); /* of each loop, for each field it uses */
    for (size_t l = 0; l < loop_count; l++) {
        size_t used = 0;
        for (size_t f = 0; f < fields; f++)
            used += loops[l].uses[f];
        parts[l] = used ? loops[l].weight / (double)used : 0;
    }
    for (size_t i = 0; i < fields; i++)
        for (size_t j = 0; j < fields; j++) {
            double common = 0, all = 0;
            for (size_t l = 0; l < loop_count; l++) {
                all += parts[l] * (loops[l].uses[i] + loops[l].uses[j]);
                if (loops[l].uses[i] && loops[l].uses[j])
                    common += 2 * parts[l];
            }
            affinity[i * fields + j] = all > 0 ? common / all : 0;
        }
    free(parts);
}

static double affinity_between(const double *affinity, size_t fields, const int *group, int a, int b)
{
    double sum = 0;
    size_t pairs = 0;
    for (size_t i = 0; i < fields; i++)
        for (size_t j = 0; j < fields && group[i] == a; j++)
            if (group[j] == b) {
                sum += affinity[i * fields + j];
                pairs++;
            }
    return pairs ? sum / (double)pairs : 0;
}

/* The two groups with the highest affinity, if it reaches the threshold. A group's number is its first field. */
static bool affinity_closest(const double *affinity, size_t fields, const int *group, double threshold, int *a, int *b)
{
    double best = threshold;
    *a = *b = -1;
    for (size_t i = 0; i < fields; i++)
        for (size_t j = i + 1; j < fields; j++) {
            if (group[i] != (int)i || group[j] != (int)j) /* one call for each pair of groups */
                continue;
            double value = affinity_between(affinity, fields, group, group[i], group[j]);
            if (value >= best && (*a < 0 || value > best)) {
                best = value;
                *a = group[i];
                *b = group[j];
            }
        }
    return *a >= 0;
}

/* Numbers the groups by weight, the heaviest 0. Returns how many there are. */
static size_t affinity_number(const double *weights, size_t fields, int *group)
{
    double *sums = lwp_zeroed(fields, sizeof *sums);
    int *rank = lwp_zeroed(fields, sizeof *rank);
    size_t count = 0;
    for (size_t i = 0; i < fields; i++)
        if (group[i] >= 0)
            sums[group[i]] += weights[i];
    for (size_t i = 0; i < fields; i++) {
        if (group[i] != (int)i)
            continue;
        count++;
        for (size_t j = 0; j < fields; j++)
            if (group[j] == (int)j && (sums[j] > sums[i] || (j < i && sums[j] >= sums[i])))
                rank[i]++;
    }
    for (size_t i = fields; i--;)
        if (group[i] >= 0)
            group[i] = rank[group[i]];
    free(sums);
    free(rank);
    return count;
}

size_t lwp_affinity_cluster(const double *affinity, const double *weights, size_t fields, double threshold, double cold, int *group)
{
    double all = 0;
    int a, b;
    for (size_t i = 0; i < fields; i++)
        all += weights[i];
    for (size_t i = 0; i < fields; i++)
        group[i] = weights[i] > 0 && weights[i] >= cold * all ? (int)i : -1;
    while (affinity_closest(affinity, fields, group, threshold, &a, &b))
        for (size_t i = 0; i < fields; i++)
            if (group[i] == b)
                group[i] = a;
    return affinity_number(weights, fields, group);
}
