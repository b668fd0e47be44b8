/* Shares of strata: double sampling for stratification (redundancy.c). */
#ifndef LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_ESTIMATE_H
#define LWP_ANALYSIS_ADVICE_REDUNDANCY_REDUNDANCY_ESTIMATE_H

#include "analysis/statistics/share.h"

#include <math.h>

/* A sum over strata. */
struct redundancy_estimate {
    double value;   /* sum of W p */
    double squares; /* sum of W p^2 */
    double within;  /* variance of all p, and... */
    double doubt;   /* ...the sum of its parts' squares, each by what it rests on */
};

static inline void estimate_add(struct redundancy_estimate *estimate, double part, double p, double m)
{
    double smooth = (p * m + 0.5) / (m + 1), variance = part * part * smooth * (1 - smooth) / m;
    estimate->value += part * p;
    estimate->squares += part * p * p;
    estimate->within += variance;
    estimate->doubt += variance * variance / m;
}

/* `n`: what the sum was sampled from; infinite where all was counted. */
static inline struct lwp_share estimate_share(const struct redundancy_estimate *estimate, double n)
{
    if (isinf(n))
        return (struct lwp_share){estimate->value, estimate->value, estimate->value};
    const double z = 1.959964;
    double between = fmax(0, estimate->squares - estimate->value * estimate->value) / n;
    double variance = between + estimate->within;
    double freedom = variance * variance / (estimate->doubt + between * between / n);
    double half = z * (1 + (z * z + 1) / (4 * freedom)) * sqrt(variance);
    return (struct lwp_share){estimate->value, fmax(0, estimate->value - half), fmin(1, estimate->value + half)};
}

#endif
