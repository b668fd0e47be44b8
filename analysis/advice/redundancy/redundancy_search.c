/* A linear search takes its loop's time; in its place come log2 n probes, or one for the elements of a list, each as dear as four elements
 * of the scan (one to sixteen), which it does one after the other, and as much for each element that is put where it is found so.
 *
 * How many elements a search looks at is known in two ways, and the second one counts where it is clearly less:
 * - Twice the mean distance of the samples from the place where the scan begins: that takes many small arrays in one block for a large
 *   one.
 * - How many times its load is executed for each load of the loop around it, or else of the function or the caller's loop: within
 *   a nest of loops samples are divided as executions are (redundancy_counts.c). A load that is not made each time makes that too
 *   large; sampled, what the loop around it waits for between two searches makes it too small.
 *   Where samples saw none of the latter, the time of both bounds it from below.
 *   So does what samples saw one after the other: how often the loop went round, and how often it may have ended (moves.h). As far as that
 *   shows that executions make the length too small, it is no sign of many small arrays.
 *
 * Where a function compares, the search is the loop that calls it, and its time is that of what it calls, too. */
#include "analysis/advice/redundancy/redundancy_search.h"

#include "analysis/advice/gain/gain_model.h"
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

/* Whether an access is executed once for each entry into the search's loop, or at most so often: in the loop around it or its function;
 * or in the caller's loop, which may go round without a call. */
enum around { AROUND_NOT, AROUND_HERE, AROUND_CALLER };

static enum around access_around(struct lwp_profile *profile, uint32_t search, uint32_t outer, uint32_t access)
{
    const struct lwp_context_node *contexts = profile->contexts;
    uint32_t region = lwp_access_region(profile, access), call = contexts[search].parent;
    if (region == LWP_NONE)
        return AROUND_NOT;
    if (contexts[access].parent == call)
        return (outer != LWP_NONE ? region == outer : profile->regions[region].is_function) ? AROUND_HERE : AROUND_NOT;
    return outer == LWP_NONE && call && contexts[access].parent == contexts[call].parent && region == lwp_access_region(profile, call)
               ? AROUND_CALLER
               : AROUND_NOT;
}

/* Whether the access is made by what the loop calls. */
static bool is_called_by(struct lwp_profile *profile, uint32_t access, uint32_t loop)
{
    enum { CALLS_MOST = 8 };
    uint32_t at = profile->contexts[access].parent;
    for (int i = 0; i < CALLS_MOST && at; i++, at = profile->contexts[at].parent)
        if (!profile->contexts[at].is_function && lwp_access_region(profile, at) == loop)
            return true;
    return false;
}

/* Executions of loads, up to a factor: samples stand for time, of which only what is no stall tells how often code is executed; counts
 * stand for bytes. */
static double origin_executions(struct lwp_profile *profile, const struct lwp_watchpoint_origin *origin, uint32_t region)
{
    const struct lwp_watchpoints *watched = &profile->watchpoints;
    const double weight = (double)origin->sampled.weight;
    for (size_t i = 0; i < watched->pair_count && watched->exact; i++)
        if (watched->pairs[i].kind == origin->kind && watched->pairs[i].first == origin->first && watched->pairs[i].bytes)
            return weight / watched->pairs[i].bytes;
    const struct lwp_region *of = region == LWP_NONE ? NULL : &profile->regions[region];
    return watched->exact || !of || of->weight.weight <= 0 ? weight : weight * fmax(0, 1 - of->stalled / of->weight.weight);
}

/* Whether a region is a part of the search's loop: compilers make a nest of loops, which go along one list, of a single one. */
static bool is_part(const struct lwp_profile *profile, uint32_t region, uint32_t loop)
{
    const struct lwp_region *a = &profile->regions[region], *b = &profile->regions[loop];
    return region == loop || (b->first_line && a->first_line == b->first_line && a->last_line <= b->last_line && a->file == b->file &&
                              lwp_regions_within(profile, region, loop));
}

/* Executions of the loads in the search's loop, in its calling context. */
struct search_loads {
    double most;  /* of one of them */
    double leads; /* of all those that lead to the next element: a pass makes one of them */
};

static void loads_add(struct lwp_profile *profile, uint32_t loop, uint32_t access, double executions, struct search_loads *loads)
{
    const struct lwp_context_node *node = &profile->contexts[access];
    const uint32_t region = lwp_access_region(profile, access);
    if (region == loop)
        loads->most = fmax(loads->most, executions);
    if (lwp_loop_leads(profile->code, node->module, node->address))
        loads->leads += executions;
}

/* How often the search's load, or one of a function that compares for it, is executed for each entry into its loop; infinite: nothing
 * around it was seen; 0: nor was any such load. *executions: in all. *least: samples were seen of the caller's loop only, which may go
 * round, and wait, many times without a call; or so few that they may be of what is seldom executed and waits long. */
static double search_trips(struct lwp_profile *profile, uint32_t search, uint32_t loop, double *executions, bool *least)
{
    const struct lwp_watchpoints *watched = &profile->watchpoints;
    uint32_t outer = lwp_regions_final(profile, profile->regions[loop].parent);
    struct search_loads loads = {0};
    double around[] = {[AROUND_HERE] = 0, [AROUND_CALLER] = 0}, seen = 0;
    for (size_t i = 0; i < watched->origin_count; i++) {
        const struct lwp_watchpoint_origin *origin = &watched->origins[i];
        if (origin->kind != LWP_WATCHPOINT_SILENT_LOAD)
            continue;
        const uint32_t region = lwp_access_region(profile, origin->first);
        const bool here = profile->contexts[origin->first].parent == profile->contexts[search].parent;
        const bool once = region != LWP_NONE && profile->regions[region].is_function; /* a loop there may go on for a while */
        if (region != LWP_NONE && here && is_part(profile, region, loop))
            loads_add(profile, loop, origin->first, origin_executions(profile, origin, region), &loads);
        else if (once && is_called_by(profile, origin->first, loop))
            loads.most = fmax(loads.most, origin_executions(profile, origin, region));
        else {
            const enum around where = access_around(profile, search, outer, origin->first);
            around[where] = fmax(around[where], origin_executions(profile, origin, region));
            seen = where == AROUND_HERE ? fmax(seen, (double)origin->sampled.samples) : seen;
        }
    }
    const double own = loads.leads > 0 ? loads.leads : loads.most;
    *executions = own;
    *least = !watched->exact && (around[AROUND_HERE] <= 0 || seen < LWP_REDUNDANCY_PAIRS);
    if (own <= 0)
        return 0;
    /* Counted, what is nearest tells, where the caller's loop goes round far more often: of loads only those count that repeat an earlier
     * one, as a half may not. Of samples, few fall where a function begins. */
    const bool nearest = watched->exact && around[AROUND_HERE] > 0 && around[AROUND_CALLER] > 2 * around[AROUND_HERE];
    const double entries = nearest ? around[AROUND_HERE] : fmax(around[AROUND_HERE], around[AROUND_CALLER]);
    return entries > 0 ? own / entries : INFINITY;
}

uint32_t lwp_redundancy_search_place(struct lwp_profile *profile, uint32_t load)
{
    enum { CALLS_MOST = 4 };
    uint32_t region = lwp_access_region(profile, load);
    if (region == LWP_NONE || !profile->regions[region].is_function)
        return load;
    uint32_t call = lwp_access_call(profile, load);
    for (int i = 0; i < CALLS_MOST && call; i++, call = profile->contexts[call].parent) {
        region = lwp_access_region(profile, call);
        if (region != LWP_NONE && !profile->regions[region].is_function)
            return call;
    }
    return lwp_access_call(profile, load);
}

uint32_t lwp_redundancy_search_region(struct lwp_profile *profile, uint32_t place)
{
    uint32_t region = lwp_access_region(profile, place), found = region;
    while (region != LWP_NONE && !profile->regions[region].is_function) {
        const struct lwp_region *of = &profile->regions[region];
        const enum lwp_loop_search search = lwp_loop_search_by_call(profile->code, of->module, of->address);
        found = search == LWP_LOOP_SEARCH_LIST || search == LWP_LOOP_SEARCH_SCAN ? region : found;
        region = lwp_regions_final(profile, of->parent);
    }
    return found;
}

/* The loads of a region, and those of them that are made for a loop elsewhere. */
struct region_loads {
    uint32_t region;
    double all, called;
};

/* By region, in the order of the origins; the loop's own is among them, seen or not. Returns how many there are. */
static size_t regions_loads(struct lwp_profile *profile, uint32_t loop, struct region_loads *loads)
{
    const struct lwp_watchpoints *watched = &profile->watchpoints;
    struct lwp_map index = {0};
    size_t count = 0;
    for (size_t i = 0; i <= watched->origin_count; i++) {
        const struct lwp_watchpoint_origin *origin = i < watched->origin_count ? &watched->origins[i] : NULL;
        const uint32_t region = origin ? lwp_access_region(profile, origin->first) : loop;
        uint32_t *at = region == LWP_NONE ? NULL : lwp_map_at(&index, region);
        if (!at)
            continue;
        if (lwp_number_new(at, count))
            loads[count++] = (struct region_loads){.region = region};
        if (!origin || origin->kind != LWP_WATCHPOINT_SILENT_LOAD)
            continue;
        loads[*at].all += (double)origin->sampled.weight;
        loads[*at].called += is_called_by(profile, origin->first, loop) ? (double)origin->sampled.weight : 0;
    }
    lwp_map_fini(&index);
    return count;
}

/* All of a search: its loop, those inside it, and what they call. */
struct search_time {
    struct lwp_share time;
    double stalled; /* the part of it that is memory stall */
    double traced;  /* the least part of the traced time */
    double cost;    /* as the samples have it */
};

/* In a trace each access waits for the one before. A processor goes on with the next elements instead, up to all of the waiting: then the
 * search takes the part of the time that it has of the instructions (yaml-cpp: 11 % of them, 37 % with all waits, 12 % measured). It has
 * most where there is as much waiting as the speed allows, and else what the instructions take at least. */
static void search_overlaps(const struct lwp_profile *profile, struct search_time *of)
{
    enum { CYCLE_INSTRUCTIONS = 2 }; /* of the model */
    const double all = profile->total.weight, computing = all - profile->stalled.weight,
                 least = CYCLE_INSTRUCTIONS / lwp_gain_instructions_most, own = of->time.value * (1 - of->stalled) * all,
                 waiting = lwp_gain_waiting_most(profile);
    if (computing <= 0)
        return;
    const double overlapped = own / computing, waited = (least * own + waiting * of->time.value * of->stalled * all) /
                                                        (least * computing + waiting * profile->stalled.weight);
    of->time.low = fmin(overlapped, waited);
    of->time.high = fmax(overlapped, waited);
    of->time.value = sqrt(of->time.low * of->time.high);
}

static void search_add(struct lwp_tally *all, double *stalled, const struct lwp_region *region, double part)
{
    all->weight += part * region->weight.weight;
    all->squares += part * part * region->weight.squares;
    all->samples += (uint64_t)(part * (double)region->weight.samples);
    *stalled += part * region->stalled;
}

/* *stalled: the weight of it that is memory stall. */
static struct lwp_tally search_all(struct lwp_profile *profile, uint32_t loop, double *stalled)
{
    struct region_loads *loads = lwp_arena_alloc(profile->arena, profile->watchpoints.origin_count + 1, sizeof *loads);
    struct lwp_tally all = {0};
    *stalled = 0;
    for (size_t i = 0; i < profile->region_count; i++)
        if (lwp_regions_final(profile, (uint32_t)i) == i && lwp_regions_within(profile, (uint32_t)i, loop))
            search_add(&all, stalled, &profile->regions[i], 1);
    const size_t count = profile->total.weight > 0 ? regions_loads(profile, loop, loads) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct region_loads *of = &loads[i];
        if (of->all > 0 && !lwp_regions_within(profile, of->region, loop))
            search_add(&all, stalled, &profile->regions[of->region], of->called / of->all);
    }
    return all;
}

struct lwp_share lwp_redundancy_search_share(struct lwp_profile *profile, uint32_t loop)
{
    double stalled;
    const struct lwp_tally all = search_all(profile, loop, &stalled);
    return lwp_share_of(&all, &profile->total);
}

static struct search_time search_time(struct lwp_profile *profile, uint32_t loop)
{
    double stalled;
    const struct lwp_tally all = search_all(profile, loop, &stalled);
    if (all.weight <= 0)
        return (struct search_time){.stalled = 1};
    struct search_time of = {.time = lwp_share_of(&all, &profile->total), .stalled = fmin(1, stalled / all.weight), .cost = all.weight};
    const double sampled = lwp_gain_sampled(profile);
    struct lwp_share part = {sampled, sampled, sampled};
    if (profile->watchpoints.exact) {
        search_overlaps(profile, &of);
        part = lwp_gain_traced(profile);
    }
    of.traced = of.time.low;
    of.time = (struct lwp_share){of.time.value * part.value, of.time.low * part.low, of.time.high * part.high};
    return of;
}

/* The least number of elements that a search looks at, where nothing was seen between two of them: while it computes, without its stalls,
 * an element takes it no longer than the program takes for all that it does from one search to the next, and than a sample's part. */
static double least_length(const struct lwp_share *time, double stalled, uint64_t samples)
{
    return (1 - stalled) * fmin(time->value / fmax(1 - time->value, 0.001), (double)samples);
}

/* Whether it is known how often a search's load was executed, and how long that took. */
static bool is_counted(const struct lwp_profile *profile, double executions)
{
    return profile->watchpoints.exact && lwp_gain_kernel(profile) > 0 && profile->instructions_recorded >= profile->instructions &&
           executions > 0;
}

/* As how many elements of the scan a probe is at most: it takes no longer than to wait for all of its accesses, and for a branch that
 * nobody could predict. */
static double probe_most(const struct lwp_profile *profile, const struct search_time *of, double executions)
{
    enum { USUALLY_MOST = 16, MISPREDICTED_CYCLES = 20 };
    if (!is_counted(profile, executions))
        return USUALLY_MOST;
    const double took = of->traced * lwp_gain_traced_ns(profile).low / ((double)profile->cycle_ps * 1e-3) / executions;
    return fmax(1, fmin(USUALLY_MOST, (of->cost / executions + MISPREDICTED_CYCLES) / took));
}

/* A list's elements are looked up in a hash table, with one probe: they have no order, or one that bisection cannot use. */
static bool is_list(struct lwp_profile *profile, uint32_t loop)
{
    const struct lwp_region *of = &profile->regions[loop];
    return lwp_loop_search_by_call(profile->code, of->module, of->address) == LWP_LOOP_SEARCH_LIST;
}

/* A miss and a mispredicted branch take no longer than so many accesses of the some twenty that a sample looks ahead. */
enum { WAITING_MOST = 32 };

void lwp_redundancy_search(struct lwp_profile *profile, const struct lwp_redundancy *item, struct lwp_redundant_line *line)
{
    const uint32_t load = item->pair->second, search = lwp_redundancy_search_place(profile, load);
    const uint32_t loop = lwp_redundancy_search_region(profile, search);
    if (loop == LWP_NONE)
        return;
    const struct search_time of = search_time(profile, loop);
    const struct lwp_share time = of.time;
    if (time.value <= 0)
        return;
    line->stake = fmax(line->stake, time.high); /* all that the loop does is the search */
    const bool exact = profile->watchpoints.exact;
    const double seen = exact ? 1 : lwp_moves_length_least(profile, loop);
    bool fewest;
    double step = 0, executions = 0, trips = search_trips(profile, search, loop, &executions, &fewest);
    double scanned = loop == lwp_access_region(profile, load) ? scan_length(profile, loop, &profile->contexts[load], &step) : 0;
    bool whole = scanned > 1 && scanned <= fmax(trips, seen) * (exact ? 1 : WAITING_MOST);
    double length = whole ? scanned : !isinf(trips) ? trips : exact ? 0 : least_length(&time, of.stalled, item->samples);
    const bool least = !whole && (fewest || length < seen);
    length = !whole && length > 0 ? fmax(length, seen) : length;
    if (length <= 0)
        return;
    double elements =
        whole && item->pair->object != LWP_NONE ? fmax(length, (double)profile->objects[item->pair->object].largest / step) : 2 * length;
    const double inserted = is_counted(profile, executions) ? elements * length / executions : 0, /* for each search */
        probes = (is_list(profile, loop) ? 1 : log2(elements + 1)) * (1 + inserted), dearest = probe_most(profile, &of, executions);
    line->searched = length;
    line->searched_least = least;
    line->saved =
        (struct lwp_share){time.value * fmax(0, 1 - fmin(4, dearest) * probes / length), time.low * fmax(0, 1 - dearest * probes / length),
                           time.high * (least ? 1 : fmax(0, 1 - probes / length))};
}
