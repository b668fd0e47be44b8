/* The stride of a stream (LWPTool eq. 2-4), made to survive stray addresses.
 *
 * In: addresses of one stream. The plain GCD of all their differences dies of one stray among hundreds. So, beside it,
 * GCDs of small random subsets are tried: most subsets hold no stray. Each candidate is weighed by how likely it makes
 * the addresses seen: with a share of strays between none and 15 %, those that keep to a stride m times the plain GCD
 * are m times as dense there, those that do not are strays. Out: the likeliest stride, and its probability against the
 * other candidates and against a part of it of which only multiples were seen (eq. 4).
 * Limits: strays above some 15 % of the addresses win, and the answer is then too small. */
#include "analysis/statistics/stride.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    ADDRESSES_MAX = 256,
    SUBSETS = 24,
    SUBSET = 5,
    ALL_LEFT_OUT = 12, /* up to so many addresses every set of one or two strays is tried */
    STRAYS_SEEN = 6,   /* fewer addresses cannot show that one of them is a stray */
    CANDIDATES = 1 + SUBSETS + ALL_LEFT_OUT * (ALL_LEFT_OUT + 1) / 2
};

static const double undetected = 0.05; /* share of strays to reckon with where they cannot show */

/* How many of the addresses of a stream are strays, and how often that is so. Bounds are not tight: it decides little.
 */
static const struct {
    double share, prior;
} strays[] = {{0, 0.4}, {0.01, 0.2}, {0.05, 0.25}, {0.15, 0.15}};

static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};

struct stride_candidate {
    uint64_t bytes;
    size_t agree;
    double log_likelihood; /* over that of the plain GCD */
};

uint64_t lwp_stride_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Shell's: for so few numbers quicker than calls of a comparison. */
static void stride_sort(uint64_t *numbers, size_t count)
{
    static const size_t gaps[] = {57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g]; i < count; i++) {
            uint64_t number = numbers[i];
            size_t j = i;
            for (; j >= gaps[g] && numbers[j - gaps[g]] > number; j -= gaps[g])
                numbers[j] = numbers[j - gaps[g]];
            numbers[j] = number;
        }
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

/* Eq. 4 for `differences` independent ones: the probability that their GCD is no multiple of the stride. */
static double stride_accuracy(double differences)
{
    double wrong = 0;
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
        wrong += pow(primes[i], -differences);
    return wrong >= 1 ? 0 : 1 - wrong;
}

/* `agree` of `count` addresses on one of the m places the plain GCD has in each stride. That m came out as large as it
 * did by chance is the likelier the more values it could have had, hence the last 1/m where strays must be assumed. */
static double stride_likelihood(double m, size_t count, size_t agree)
{
    double sum = 0, most = -INFINITY, terms[sizeof strays / sizeof *strays];
    for (size_t i = 0; i < sizeof strays / sizeof *strays; i++) {
        double share = strays[i].share;
        terms[i] = log(strays[i].prior) - log(m) + (double)agree * log((1 - share) * m + share);
        if (agree < count)
            terms[i] = share > 0 ? terms[i] + (double)(count - agree) * log(share) - log(m) : -INFINITY;
        most = fmax(most, terms[i]);
    }
    for (size_t i = 0; i < sizeof strays / sizeof *strays; i++)
        sum += exp(terms[i] - most);
    return most + log(sum);
}

static void stride_consider(struct stride_candidate *candidates, size_t *count, uint64_t bytes, uint64_t plain, size_t addresses,
                            size_t agree)
{
    for (size_t i = 0; i < *count; i++)
        if (candidates[i].bytes == bytes) {
            if (candidates[i].agree >= agree)
                return;
            candidates[i] = candidates[--*count];
            break;
        }
    candidates[(*count)++] =
        (struct stride_candidate){bytes, agree, bytes == plain ? 0 : stride_likelihood((double)bytes / (double)plain, addresses, agree)};
}

static size_t stride_distinct(const uint64_t *addresses, size_t count, uint64_t *sorted)
{
    size_t n = 0;
    memcpy(sorted, addresses, count * sizeof *sorted);
    stride_sort(sorted, count);
    for (size_t i = 0; i < count; i++)
        if (n == 0 || sorted[i] != sorted[n - 1])
            sorted[n++] = sorted[i];
    return n;
}

/* What the others agree on when addresses i and j (or one only, i == j) are strays. */
static void stride_leave_out(const uint64_t *sorted, size_t n, uint64_t plain, struct stride_candidate *candidates, size_t *count)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            uint64_t anchor = sorted[i > 0 ? 0 : j > 1 ? 1 : 2], g = 0, exact;
            for (size_t k = 0; k < n; k++)
                if (k != i && k != j)
                    g = lwp_stride_gcd(sorted[k] > anchor ? sorted[k] - anchor : anchor - sorted[k], g);
            if (g > plain)
                stride_consider(candidates, count, g, plain, n, stride_agree(sorted, n, anchor, g, &exact));
        }
}

static void stride_subsets(const uint64_t *sorted, size_t n, uint64_t plain, struct stride_candidate *candidates, size_t *count)
{
    uint64_t random = 0x9e3779b97f4a7c15u; /* fixed: the same samples give the same answer */
    for (int t = 0; t < SUBSETS; t++) {
        uint64_t anchor = 0, g = 0, exact;
        for (int i = 0; i < SUBSET; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t pick = sorted[(random >> 33) % n];
            if (i == 0)
                anchor = pick;
            if (g != plain) /* it cannot become less than that */
                g = lwp_stride_gcd(pick > anchor ? pick - anchor : anchor - pick, g);
        }
        if (g <= plain)
            continue;
        size_t agree = stride_agree(sorted, n, anchor, g, &exact);
        if (agree * 2 > n)
            stride_consider(candidates, count, exact, plain, n, agree);
    }
}

struct lwp_stride lwp_stride_estimate(const uint64_t *addresses, size_t count)
{
    uint64_t sorted[ADDRESSES_MAX], plain = 0;
    struct stride_candidate candidates[CANDIDATES];
    struct lwp_stride stride = {0};
    size_t candidate_count = 0;
    if (count > ADDRESSES_MAX)
        count = ADDRESSES_MAX;
    if (count == 0)
        return stride;
    size_t n = stride_distinct(addresses, count, sorted);
    if (n < 2)
        return stride;
    for (size_t i = 1; i < n; i++)
        plain = lwp_stride_gcd(sorted[i] - sorted[0], plain);
    stride_consider(candidates, &candidate_count, plain, plain, n, n);
    if (n >= STRAYS_SEEN)
        stride_subsets(sorted, n, plain, candidates, &candidate_count);
    if (n >= STRAYS_SEEN && n <= ALL_LEFT_OUT)
        stride_leave_out(sorted, n, plain, candidates, &candidate_count);

    const struct stride_candidate *best = candidates;
    for (size_t i = 1; i < candidate_count; i++)
        if (candidates[i].log_likelihood > best->log_likelihood)
            best = &candidates[i];
    double all = 0;
    for (size_t i = 0; i < candidate_count; i++)
        all += exp(candidates[i].log_likelihood - best->log_likelihood);
    stride.bytes = best->bytes;
    /* k addresses have k - 1 free differences: the first only says where the others are counted from. */
    stride.probability = fmax(0, stride_accuracy((double)best->agree - 1) + 1 / all - 1);
    if (n < STRAYS_SEEN)
        stride.probability *= pow(1 - undetected, (double)n);
    return stride;
}

uint64_t lwp_stride_common(const uint64_t *distances, size_t count, uint64_t least)
{
    enum { TRIED = 12 };
    uint64_t best = least;
    for (size_t i = 0; i < count && i < TRIED; i++)
        for (size_t j = i; j < count && j < TRIED; j++) {
            uint64_t stride = lwp_stride_gcd(distances[i], distances[j]);
            size_t agree = 0;
            for (size_t k = 0; k < count && stride > best; k++)
                agree += distances[k] % stride == 0;
            if (stride > best && agree * 10 >= count * 8)
                best = stride;
        }
    return best;
}
