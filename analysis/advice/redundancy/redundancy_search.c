/* A linear search takes its loop's time; in its place come log2 n probes, each as dear as four elements of the scan (one to sixteen),
 * which it does one after the other.
 *
 * How many elements a search looks at is known in two ways, and the second one counts where it is clearly less:
 * - Twice the mean distance of the samples from the place where the scan begins: that takes many small arrays in one block for a large
 *   one.
 * - How many times its load is executed for each load of the loop around it, or else of the function or the caller's loop: within
 *   a nest of loops samples are divided as executions are (redundancy_counts.c). A load that is not made each time makes that too
 *   large; sampled, what the loop around it waits for between two searches makes it too small.
 *
 * Where a function of the C library compares, the search is the loop that calls it. */
#include "analysis/advice/redundancy/redundancy_search.h"

#include "analysis/advice/redundancy/redundancy_counts.h"
#include "analysis/profile/regions.h"

#include <math.h>

/* Machine iterations, 0: unknown. *step: bytes of each. */
static double scan_length(struct lwp_profile *profile, uint32_t region, const struct lwp_context_node *load, double *step)
{
    double sum = 0, least = INFINITY, count = 0;
    int64_t bytes = 0;
    uint32_t loop;
    if (lwp_code_loop_step(profile->code, load->module, load->address, 0, false, &loop, &bytes) != LWP_LOOP_STEP_CONSTANT || !bytes)
        return 0;
    *step = fabs((double)bytes);
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->module != load->module || stream->address != load->address || lwp_regions_final(profile, stream->region) != region)
            continue;
        for (uint32_t k = 0; k < stream->offsets.count; k++) {
            double offset = (double)stream->offsets.items[k];
            sum += offset;
            least = fmin(least, offset);
            count++;
        }
    }
    return count >= LWP_REDUNDANCY_PAIRS ? 2 * (sum / count - least) / *step : 0;
}

/* Whether the access is executed once for each entry into the search's loop, or at most so often. */
static bool is_around(struct lwp_profile *profile, uint32_t search, uint32_t outer, uint32_t access)
{
    const struct lwp_context_node *contexts = profile->contexts;
    uint32_t region = lwp_access_region(profile, access), call = contexts[search].parent;
    if (region == LWP_NONE)
        return false;
    if (contexts[access].parent == call)
        return outer != LWP_NONE ? region == outer : profile->regions[region].is_function;
    return outer == LWP_NONE && call && contexts[access].parent == contexts[call].parent && region == lwp_access_region(profile, call);
}

/* Executions of loads, up to a factor: samples stand for time, counts for bytes. */
static double origin_executions(const struct lwp_watchpoints *watched, const struct lwp_watchpoint_origin *origin)
{
    double weight = (double)origin->sampled.weight;
    for (size_t i = 0; i < watched->pair_count && watched->exact; i++)
        if (watched->pairs[i].kind == origin->kind && watched->pairs[i].first == origin->first && watched->pairs[i].bytes)
            return weight / watched->pairs[i].bytes;
    return weight;
}

/* How often the load is executed for each entry into the search's loop; infinite: nothing around it was seen. */
static double search_trips(struct lwp_profile *profile, uint32_t load, uint32_t search)
{
    const struct lwp_watchpoints *watched = &profile->watchpoints;
    uint32_t region = lwp_access_region(profile, load);
    uint32_t outer = lwp_regions_final(profile, profile->regions[lwp_access_region(profile, search)].parent);
    double own = 0, around = 0;
    for (size_t i = 0; i < watched->origin_count; i++) {
        const struct lwp_watchpoint_origin *origin = &watched->origins[i];
        if (origin->kind != LWP_WATCHPOINT_SILENT_LOAD)
            continue;
        bool same = profile->contexts[origin->first].parent == profile->contexts[load].parent;
        if (same && lwp_access_region(profile, origin->first) == region)
            own = fmax(own, origin_executions(watched, origin));
        else if (is_around(profile, search, outer, origin->first))
            around = fmax(around, origin_executions(watched, origin));
    }
    return around > 0 ? own / around : INFINITY;
}

uint32_t lwp_redundancy_search_place(struct lwp_profile *profile, uint32_t load)
{
    uint32_t region = lwp_access_region(profile, load);
    return region != LWP_NONE && profile->regions[region].is_function ? lwp_access_call(profile, load) : load;
}

/* A miss and a mispredicted branch take no longer than so many accesses of the some twenty that a sample looks ahead. */
enum { WAITING_MOST = 32 };

void lwp_redundancy_search(struct lwp_profile *profile, const struct lwp_redundancy *item, struct lwp_share time,
                           struct lwp_redundant_line *line)
{
    uint32_t load = item->pair->second, search = lwp_redundancy_search_place(profile, load), region = lwp_access_region(profile, search);
    if (region == LWP_NONE)
        return;
    if (search != load && line->stake > 0) { /* the time of the function that compares, at most */
        time.value = fmin(1, time.value + line->stake / 2);
        time.high = fmin(1, time.high + line->stake);
    }
    if (time.value <= 0)
        return;
    line->stake = fmax(line->stake, time.high); /* all that the loop does is the search */
    double step = 0, trips = search_trips(profile, load, search);
    double scanned = search == load ? scan_length(profile, region, &profile->contexts[load], &step) : 0;
    bool whole = scanned > 1 && scanned <= trips * (profile->watchpoints.exact ? 1 : WAITING_MOST);
    double length = whole ? scanned : isinf(trips) ? 0 : trips;
    if (length <= 0 || item->pair->object == LWP_NONE)
        return;
    double elements = whole ? fmax(length, (double)profile->objects[item->pair->object].largest / step) : 2 * length;
    double probes = log2(elements + 1);
    line->searched = length;
    line->saved = (struct lwp_share){time.value * fmax(0, 1 - 4 * probes / length), time.low * fmax(0, 1 - 16 * probes / length),
                                     time.high * fmax(0, 1 - probes / length)};
}
