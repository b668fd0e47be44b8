/* Hot data (LWPTool eq. 1): l_d = cost of the object / cost of the whole program, with a 95 % interval.
 *
 * The whole is all sampled CPU time, stalled or not: a structure with 90 % of the stalls of a program that hardly stalls is not
 * hot. Samples have unequal costs; the interval is Wilson's with the number of equal samples that would be as informative,
 * (sum w)^2 / sum w^2 (Kish's effective sample size). */
#include "analysis/statistics/share.h"

#include <math.h>

void lwp_tally_add(struct lwp_tally *tally, double weight)
{
    tally->weight += weight;
    tally->squares += weight * weight;
    tally->samples++;
}

void lwp_tally_merge(struct lwp_tally *tally, const struct lwp_tally *other)
{
    tally->weight += other->weight;
    tally->squares += other->squares;
    tally->samples += other->samples;
}

struct lwp_share lwp_share_of(const struct lwp_tally *part, const struct lwp_tally *whole)
{
    struct lwp_share share = {0, 0, 1};
    if (whole->weight <= 0 || whole->squares <= 0)
        return share;
    double p = part->weight / whole->weight, n = whole->weight * whole->weight / whole->squares;
    if (p > 1)
        p = 1;
    const double z = 1.959964;
    double scale = 1 + z * z / n;
    double middle = (p + z * z / (2 * n)) / scale;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale;
    share.value = p;
    share.low = fmax(0, fmin(p, middle - half));
    share.high = fmin(1, fmax(p, middle + half));
    return share;
}
