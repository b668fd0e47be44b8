/* How long a walk takes for one element, from pairs of samples: between them the address moved on by time / pace elements, modulo
 * the whole walks that lie between.
 *
 * Each pair votes for the paces that explain it, one for each number of whole walks, the fewer the more. Pairs between which something else
 * ran vote for anything; the pace sought gets votes from all others. A pace counts when it has far more votes than chance gives it, and
 * explains most pairs: of a thousand paces some get a few votes too many, and where there are many walks between all samples, none is
 * right. Nor is one where the samples are as far apart in time, all of them: a walk more between any two explains them as well.
 *
 * Threads that share an array have an equal part of it each, where all places of each thread lie in another part. */
#include "analysis/advice/gain/pace.h"

#include "base/order.h"

#include <math.h>

enum { PACES = 1024, WALKS_MOST = 64, VOTES_NEEDED = 5, PLACES_EACH = 10 };

/* Where memory is shared with others, a walk is faster in one moment than in the next. */
static const double least_ns = 0.05, most_ns = 5000, beside[] = {0.02, 0.05, 0.1}, above_chance = 3, as_well = 0.8;

static int pace_bin(double ns)
{
    return (int)(PACES * log(ns / least_ns) / log(most_ns / least_ns));
}

static double pace_of(int bin)
{
    return least_ns * pow(most_ns / least_ns, (bin + 0.5) / PACES);
}

/* Of a visit, ns, with so many whole walks between the two samples; 0: none that counts. */
static double pace_with(const struct lwp_traversal_pace *pace, double stride, double extent, int walks)
{
    const double visits = ((double)pace->bytes + walks * extent) / stride, ns = visits > 0 ? (double)pace->ns / visits : 0;
    return ns > least_ns && ns < most_ns ? ns : 0;
}

static bool pace_explains(const struct lwp_traversal_pace *pace, double stride, double extent, int low, int high)
{
    for (int walks = 0; walks <= WALKS_MOST; walks++) {
        const double ns = pace_with(pace, stride, extent, walks);
        if (ns > 0 && pace_bin(ns) >= low && pace_bin(ns) <= high)
            return true;
    }
    return false;
}

static uint32_t pace_explained(const struct lwp_traversal_pace *paces, uint32_t count, double stride, double extent, int low, int high)
{
    uint32_t explained = 0;
    for (uint32_t i = 0; i < count; i++)
        explained += pace_explains(&paces[i], stride, extent, low, high);
    return explained;
}

/* Whether one walk more, or one less, between the samples does not explain as many pairs. */
static bool pace_is_only(const struct lwp_traversal_pace *paces, uint32_t count, double stride, double extent, double ns, int width,
                         uint32_t explained)
{
    double mean = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += (double)paces[i].ns / count;
    for (int walks = -1; walks <= 1; walks += 2) {
        const double visits = mean / ns + walks * extent / stride, other = visits > 0 ? mean / visits : 0;
        if (other > least_ns && other < most_ns &&
            pace_explained(paces, count, stride, extent, pace_bin(other) - width, pace_bin(other) + width) >= as_well * explained)
            return false;
    }
    return true;
}

/* The pace with most votes beyond chance, of paces that differ by no more than `within` (a part of it). *score 0: none counts. */
static double pace_sought(const struct lwp_traversal_pace *paces, uint32_t count, double stride, double extent, const double *votes,
                          double within, double *score)
{
    const int width = (int)ceil(within * PACES / log(most_ns / least_ns));
    double sum = 0, all = 0;
    int found = -1;
    *score = 0;
    for (int bin = width; bin < PACES - width; bin++) {
        double here = 0, chance = 0, ns = pace_of(bin);
        for (int k = bin - width; k <= bin + width; k++)
            here += votes[k];
        for (uint32_t i = 0; i < count; i++) {
            double walks = (double)paces[i].ns * stride / (ns * extent);
            chance += 2 * within * walks / (1 + walks);
        }
        double beyond = (here - chance) / sqrt(chance + 1);
        if (here >= VOTES_NEEDED && here > above_chance * chance && beyond > *score) {
            *score = beyond;
            found = bin;
        }
    }
    const uint32_t explained = found < 0 ? 0 : pace_explained(paces, count, stride, extent, found - width, found + width);
    if (2 * explained < count || found < 0 || !pace_is_only(paces, count, stride, extent, pace_of(found), width, explained)) {
        *score = 0;
        return 0;
    }
    for (int k = found - width; k <= found + width; k++) {
        sum += votes[k] * pace_of(k);
        all += votes[k];
    }
    return all > 0 ? sum / all : 0;
}

double lwp_pace(const struct lwp_traversal_pace *paces, uint32_t count, double stride, double extent)
{
    double votes[PACES] = {0}, best = 0, pace = 0;
    if (count < VOTES_NEEDED || stride <= 0 || extent < 16 * stride)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        for (int walks = 0; walks <= WALKS_MOST; walks++) {
            const double ns = pace_with(&paces[i], stride, extent, walks);
            if (ns > 0)
                votes[pace_bin(ns)] += 1.0 / (1 + walks);
        }
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        double score;
        const double sought = pace_sought(paces, count, stride, extent, votes, beside[i], &score);
        if (score > best) {
            best = score;
            pace = sought;
        }
    }
    return pace;
}

struct pace_thread {
    uint32_t thread;
    uint64_t first, last; /* places */
    size_t places;
};

static size_t pace_threads(const struct lwp_traversal *traversal, struct pace_thread threads[LWP_TRAVERSAL_PLACES])
{
    size_t count = 0;
    for (uint32_t i = 0; i < traversal->count; i++) {
        const struct lwp_traversal_place *place = &traversal->places[i];
        size_t k = 0;
        while (k < count && threads[k].thread != place->thread)
            k++;
        if (k == count)
            threads[count++] = (struct pace_thread){.thread = place->thread, .first = UINT64_MAX};
        LWP_LOWER(threads[k].first, place->offset);
        LWP_RAISE(threads[k].last, place->offset);
        threads[k].places++;
    }
    return count;
}

double lwp_pace_extent(const struct lwp_traversal *traversal, double stride, double largest)
{
    struct pace_thread threads[LWP_TRAVERSAL_PLACES];
    bool taken[LWP_TRAVERSAL_PLACES] = {false};
    const size_t count = pace_threads(traversal, threads);
    const double part = largest / (double)count;
    for (size_t k = 0; k < count; k++) {
        const double first = (double)threads[k].first, last = (double)threads[k].last, which = floor((first + last) / 2 / part);
        if (threads[k].places < PLACES_EACH || which < 0 || which >= (double)count || taken[(size_t)which] ||
            first < which * part - stride || last > (which + 1) * part + stride)
            return largest;
        taken[(size_t)which] = true;
    }
    return count > 1 ? part : largest;
}

double lwp_pace_of(const struct lwp_traversal *traversal, double stride, double largest)
{
    return lwp_pace(traversal->paces, traversal->pace_count, stride, lwp_pace_extent(traversal, stride, largest));
}
