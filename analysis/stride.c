/* The stride of a stream (LWPTool eq. 2-4), made to survive stray addresses.
 *
 * In: addresses of one stream. The plain GCD of all their differences dies of one stray among hundreds. So, beside it,
 * GCDs of small random subsets are tried: most subsets hold no stray. A candidate is taken when nearly all addresses
 * agree with it and chance cannot explain that. Out: the largest such stride, and the probability that it is not a
 * multiple of the true one.
 * Limits: strays above some 15 % of the addresses win, and the answer is then too small (never too large). */
#include "analysis/stride.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESSES_MAX = 256, SUBSETS = 24, SUBSET = 5 };

static const double stray_share = 0.15;
static const double chance_limit = 1e-3;

uint64_t lwp_stride_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int stride_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many addresses agree with `g`, seen from `anchor`; their exact GCD (a multiple of g) in *exact. */
static size_t stride_agree(const uint64_t *addresses, size_t count, uint64_t anchor, uint64_t g, uint64_t *exact)
{
    size_t agree = 0;
    *exact = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t distance = addresses[i] > anchor ? addresses[i] - anchor : anchor - addresses[i];
        if (distance % g == 0) {
            agree++;
            *exact = lwp_stride_gcd(distance, *exact);
        }
    }
    return agree;
}

/* P(at least k of n fair coins show heads): a stride twice too large is agreed with by half of the addresses. */
static double stride_chance(size_t n, size_t k)
{
    double tail = 0;
    for (size_t i = k; i <= n; i++)
        tail += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) - (double)n * M_LN2);
    return tail;
}

/* Eq. 4. The paper counts k addresses; k addresses have k - 1 free differences, so that is the exponent here. */
static double stride_probability(size_t k)
{
    static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
    double wrong = 0;
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
        wrong += pow(primes[i], -((double)k - 1));
    return wrong >= 1 ? 0 : 1 - wrong;
}

struct lwp_stride lwp_stride_estimate(const uint64_t *addresses, size_t count)
{
    uint64_t sorted[ADDRESSES_MAX];
    struct lwp_stride stride = {0};
    if (count > ADDRESSES_MAX)
        count = ADDRESSES_MAX;
    if (count == 0)
        return stride;
    memcpy(sorted, addresses, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, stride_compare);
    size_t n = 1;
    for (size_t i = 1; i < count; i++)
        if (sorted[i] != sorted[n - 1])
            sorted[n++] = sorted[i];
    stride.support = n;
    if (n < 2)
        return stride;
    for (size_t i = 1; i < n; i++)
        stride.bytes = lwp_stride_gcd(sorted[i] - sorted[0], stride.bytes);

    uint64_t random = 0x9e3779b97f4a7c15u; /* fixed: the same samples give the same answer */
    for (int t = 0; n >= 10 && t < SUBSETS; t++) {
        uint64_t anchor = 0, g = 0;
        for (int i = 0; i < SUBSET; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t pick = sorted[(random >> 33) % n];
            if (i == 0)
                anchor = pick;
            g = lwp_stride_gcd(pick > anchor ? pick - anchor : anchor - pick, g);
        }
        if (g <= stride.bytes)
            continue;
        uint64_t exact;
        size_t agree = stride_agree(sorted, n, anchor, g, &exact);
        if ((double)(n - agree) > stray_share * (double)n || stride_chance(n, agree) > chance_limit)
            continue;
        stride.bytes = exact;
        stride.support = agree;
    }
    stride.probability = stride_probability(stride.support);
    return stride;
}
