/* How long a loop takes for a visit, from how long it takes to come back to an element.
 *
 * In: watched loads and stores that the same instruction made again at the same place, in one thread, and after what time. However visits
 * are distributed, they are in the mean as many as there are elements (Kac's lemma, 1947), so that time / elements is a visit's, of the
 * instruction that is run at each of them: the one that comes back soonest. What of that time the loop did not run is taken off.
 * A watch may have given way to another one before the loop came back, and long times the more likely: at worst, of a watch that sees m
 * more samples, one in m + 1 is left, and with that the mean is worked out once more. Of a loop that comes back after the same time each
 * time round, those that are left are like the others. After the collector's work the loop finds less in the caches: it may have taken less
 * by as much as that work took, and of short times only how long they are at most is known. Elements that are never visited make a visit
 * seem shorter than it is: of a loop at random those that as many draws leave out are allowed for. */
#include "analysis/advice/gain/returns.h"

#include "analysis/profile/regions.h"
#include "analysis/tables/engines.h"

#include <math.h>

enum { INSTRUCTIONS_MOST = 32, RETURNS_LEAST = 16, RETURNS_ALIKE = 4, PLACES_LEAST = 8 };

static const double alike = 0.3; /* of the mean, as a standard deviation */
static const double drawn = 1 - 1 / M_E; /* of n elements those that n visits at random go to, which may be the same each time round */

struct returns_of {
    uint64_t address;
    struct lwp_gain_returned seen;
};

static size_t returns_collect(struct lwp_profile *profile, const struct lwp_gain_visit *visit, struct returns_of *all)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->watchpoints.pair_count; i++) {
        const struct lwp_watchpoint_pair *pair = &profile->watchpoints.pairs[i];
        bool mine = false;
        for (size_t k = 0; k < visit->object_count; k++)
            mine |= visit->objects[k] == pair->object;
        if (!mine || !pair->returns || (pair->kind != LWP_WATCHPOINT_SILENT_LOAD && pair->kind != LWP_WATCHPOINT_SILENT_STORE))
            continue;
        const struct lwp_context_node *node = &profile->contexts[pair->first];
        const uint32_t region = lwp_regions_at(profile, pair->first ? node->module : LWP_NONE, node->address);
        if (lwp_regions_final(profile, region) != visit->region)
            continue;
        size_t at = 0;
        while (at < count && all[at].address != node->address)
            at++;
        if (at == INSTRUCTIONS_MOST)
            continue;
        if (at == count)
            all[count++] = (struct returns_of){.address = node->address};
        all[at].seen.count += (double)pair->returns;
        all[at].seen.sum += (double)pair->returned_us;
        all[at].seen.squares += (double)pair->returned_us2;
        all[at].seen.own += (double)pair->returned_own_us;
    }
    return count;
}

/* For how long the loop was there on the first object, µs: ends that a uniform sample of its places did not hold are added. */
static double returns_span(const struct lwp_profile *profile, const struct lwp_gain_visit *visit)
{
    const struct lwp_traversal *traversal = lwp_traversals_of(&profile->traversals, visit->objects[0], visit->region);
    uint64_t first = UINT64_MAX, last = 0;
    for (uint32_t i = 0; traversal && i < traversal->count; i++) {
        const uint64_t time = traversal->places[i].time;
        first = time < first ? time : first;
        last = time > last ? time : last;
    }
    const double count = traversal ? traversal->count : 0;
    return count < PLACES_LEAST ? 0 : (double)(last - first) / 1000 * (count + 1) / (count - 1);
}

double lwp_gain_return_part(const struct lwp_profile *profile, const struct lwp_gain_visit *visit, unsigned threads)
{
    const double ran = profile->regions[visit->region].weight.weight;
    double part = ran / profile->total.weight;
    for (size_t k = 0; k < visit->object_count; k++) {
        const struct lwp_object *object = &profile->objects[visit->objects[k]];
        if (object->last_ns > object->first_ns)
            part = fmin(part, ran / threads / (double)(object->last_ns - object->first_ns));
    }
    return part;
}

struct lwp_gain_range lwp_gain_return_time(const struct lwp_gain_returned *seen, double gap)
{
    if (seen->count < RETURNS_ALIKE || seen->sum <= 0)
        return (struct lwp_gain_range){0, 0};
    const double mean = seen->sum / seen->count, varies = sqrt(fmax(0, seen->squares / seen->count / (mean * mean) - 1));
    const bool same = varies <= alike;
    if (!same && seen->count < RETURNS_LEAST)
        return (struct lwp_gain_range){0, 0};
    const double off = exp(lwp_gain_deviations * varies / sqrt(seen->count)),
                 most = (seen->sum + seen->squares / gap) / (seen->count + seen->sum / gap);
    return (struct lwp_gain_range){fmax(0, mean / off - seen->own / seen->count), (same ? mean : most) * off};
}

struct lwp_gain_range lwp_gain_returns(struct lwp_profile *profile, const struct lwp_gain_visit *visit, unsigned threads)
{
    struct returns_of all[INSTRUCTIONS_MOST];
    struct lwp_gain_range least = {0, 0};
    const struct lwp_tally *weight = &profile->regions[visit->region].weight;
    double span = returns_span(profile, visit), part = 1; /* of the time between that the loop ran, at least */
    if (span <= 0) {                                      /* blocks one by one: the loop may have been there at any time */
        part = lwp_gain_return_part(profile, visit, threads);
        span = weight->weight / 1000 / threads;
    }
    if (span <= 0 || !weight->samples || !lwp_engine_row(profile->engine)->cpu_time || profile->watchpoints.exact)
        return least;
    const size_t count = returns_collect(profile, visit, all);
    for (size_t i = 0; i < count; i++) {
        const struct lwp_gain_range mean = lwp_gain_return_time(&all[i].seen, span * threads / (double)weight->samples);
        if (mean.high > 0 && (least.high <= 0 || mean.high < least.high))
            least = mean;
    }
    const double visit_ns = 1000 * fmin(1, weight->weight / 1000 / span / threads) / visit->elements;
    const bool draws = visit->access.pattern == LWP_GAIN_RANDOM && !visit->access.dependent;
    return (struct lwp_gain_range){least.low * part * visit_ns, least.high * visit_ns * threads / (draws ? drawn : 1)};
}
