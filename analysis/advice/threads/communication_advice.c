/* High distances call for data to be used again sooner (blocking, loop reordering, fusion, scheduling); data read in short
 * pieces that lie evenly apart for what one thread works on to lie in one piece; a few pairs of threads that have most of
 * the communication, and reuse that differs much between them (homogeneity, balance), for these to run side by side.
 * Told where at least a hundredth of all accesses is such communication, a thousandth of them for the first time. */
#include "analysis/advice/threads/communication_advice.h"

#include "analysis/advice/threads/communication_pattern.h"
#include "analysis/advice/threads/thread_placement.h"
#include "analysis/profile/regions.h"
#include "analysis/statistics/severity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIPS_EACH = 2, PIECE_LINES = 4, LINE = 64 };

static const double worth_shares[TIPS_EACH] = {0.01, 0.001}; /* of all accesses */
static const double most_of = 0.8;
static const double far_share = 0.1;       /* of reuse beyond a cache: worth a sentence */
static const double reuse_least = 1;       /* reads again for each first one, for distances to matter */
static const double reuse_of_all = 8;      /* ... that each thread goes through all of the others' data so often */
static const double even_pieces = 0.25;    /* by how much more than half of the pieces lie as far apart */
static const double balance_high = 50;     /* percent */
static const double variation_high = 0.5;  /* standard deviation in a row of CRR, of the mean ratio */
static const double placement_better = 0.1;

static bool region_is_within(const struct lwp_profile *profile, uint32_t inner, uint32_t outer)
{
    while (inner != LWP_NONE && inner != outer)
        inner = lwp_regions_final(profile, profile->regions[inner].parent);
    return inner != LWP_NONE;
}

static bool loop_is_of(const struct lwp_profile *profile, const struct lwp_communication_region *loop, const char *function)
{
    const char *name = loop->region == LWP_NONE ? NULL : profile->regions[loop->region].function;
    return loop->kind == LWP_COMMUNICATION_LOOP && name && strcmp(name, function) == 0;
}

/* Of a function and loops that communicate the same, as one holds all that others hold, the outermost loop is spoken of;
 * of a loop that holds little beside another one, that one; of a function none where much is in its loops. */
static bool region_is_told(const struct lwp_profile *profile, const struct lwp_counted_communication *found, const struct lwp_communication_region *region)
{
    if (region->kind == LWP_COMMUNICATION_PROGRAM || region->kind == LWP_COMMUNICATION_RUNTIME)
        return false;
    for (const struct lwp_communication_region *other = found->regions; other < found->regions + found->region_count; other++)
        if (other != region && other->kind == LWP_COMMUNICATION_LOOP && other->firsts == region->firsts &&
            other->agains == region->agains && (region->kind != LWP_COMMUNICATION_LOOP || other < region))
            return false;
    for (const struct lwp_communication_region *other = found->regions; other < found->regions + found->region_count; other++)
        if (other != region && other->kind == LWP_COMMUNICATION_LOOP && other->firsts + other->agains < region->firsts + region->agains &&
            (double)(other->firsts + other->agains) > most_of * (double)(region->firsts + region->agains) &&
            region_is_within(profile, other->region, region->region))
            return false;
    for (const struct lwp_communication_region *other = found->regions; other < found->regions + found->region_count; other++)
        if (region->kind != LWP_COMMUNICATION_LOOP && loop_is_of(profile, other, region->name) && 4 * (other->firsts + other->agains) > region->firsts + region->agains)
            return false;
    return true;
}

static double region_share(const struct lwp_profile *profile, uint64_t reads)
{
    double all = (double)profile->communication.how.accesses;
    return all > 0 ? fmin(1, (double)reads / all) : 0;
}

static const char *region_where(struct lwp_profile *profile, const struct lwp_communication_region *region)
{
    const char *lines = region->region == LWP_NONE ? NULL : lwp_regions_lines(profile, &profile->regions[region->region]);
    return lines ? lines : region->name;
}

/* ---- distances ---- */

/* Of a loop that reads hardly anything for the first time, that beside it in the function that reads so much for the first
 * time: it goes over what that one has read. NULL: there is none. */
static const struct lwp_communication_region *reads_before(const struct lwp_profile *profile, const struct lwp_counted_communication *found,
                                                        const struct lwp_communication_region *region)
{
    const struct lwp_region *code = region->region == LWP_NONE ? NULL : &profile->regions[region->region];
    if (!code || region->kind != LWP_COMMUNICATION_LOOP || 10 * region->firsts > region->agains)
        return NULL;
    for (size_t i = 0; i < found->region_count; i++) {
        const struct lwp_communication_region *other = &found->regions[i];
        const struct lwp_region *its = other->region == LWP_NONE ? NULL : &profile->regions[other->region];
        if (other == region || other->kind != LWP_COMMUNICATION_LOOP || !its || its->parent != code->parent)
            continue;
        if (code->function && loop_is_of(profile, other, code->function) && 2 * other->firsts > region->agains)
            return other;
    }
    return NULL;
}

static bool tip_distance(struct lwp_profile *profile, const struct lwp_counted_communication *found, const struct lwp_communication_region *region,
                         struct lwp_communication_tip *tip)
{
    const struct lwp_caches *caches = &profile->machine;
    const struct {
        const char *name;
        double elements;
    } levels[] = {{"all caches together hold", region->max_cutoff},
                  {"the second-level cache holds", (double)caches->l2_bytes / region->element_bytes},
                  {"the first-level cache holds", (double)caches->l1_bytes / region->element_bytes}};
    double again = (double)region->agains / (double)(region->firsts ? region->firsts : 1), far = 0;
    if (!region->returns.count || again < reuse_least)
        return false;
    size_t level = 0;
    for (; level < sizeof levels / sizeof *levels; level++) {
        far = levels[level].elements > 0 ? lwp_distances_above(region->returns.buckets, region->returns.count, levels[level].elements) : 0;
        if (far >= far_share)
            break;
    }
    if (far < far_share)
        return false;
    const char *where = region_where(profile, region), *pattern = lwp_communication_pattern(region->first, found->count);
    const struct lwp_communication_region *before = reads_before(profile, found, region);
    bool all = pattern && strcmp(pattern, "all to all") == 0 && again >= reuse_of_all;
    tip->kind = "distance";
    tip->title = lwp_arena_printf(profile->arena, "High communication reuse distance at %s: threads read each other's data again after %llu other elements, "
                                  "too late for a cache", where, (unsigned long long)lwp_distances_quantile(region->returns.buckets, region->returns.count, 1 - far / 2));
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "%.0f %% of what is read again of another thread's data at %s comes after more other elements than %s (%.0f). Use it again sooner: block "
        "the arrays so that a block of at most %.0f elements is used up before the next (array blocking, loop interchange)%s%s%s.",
        100 * far, where, levels[level].name, levels[level].elements, levels[level].elements / 2,
        before ? lwp_arena_printf(profile->arena, "; fuse it with the loop at %s, which goes over the same data before it",
                                  region_where(profile, before)) : "",
        region->kind == LWP_COMMUNICATION_PARALLEL ? "; give each thread neighbouring iterations (schedule(static), or a larger chunk)" : "",
        all ? lwp_arena_printf(profile->arena, "; each thread goes through all that the others wrote, %.0f times: where only elements near each other "
                               "matter, keep them sorted by cells of space and look at neighbouring cells only", again) : "");
    return true;
}

/* ---- pieces ---- */

static bool tip_pieces(struct lwp_profile *profile, const struct lwp_communication_region *region, struct lwp_communication_tip *tip)
{
    const struct lwp_communication_pieces *pieces = &region->pieces;
    double count = (double)pieces->count, lines = (double)pieces->lines / count, bytes = (double)pieces->bytes / count;
    double apart = fabs((double)pieces->step);
    if (!pieces->count || lines > PIECE_LINES || (double)pieces->even < even_pieces * count || apart <= lines * LINE)
        return false;
    const char *where = region_where(profile, region);
    tip->kind = "pieces";
    tip->title = lwp_arena_printf(profile->arena, "What threads read of each other at %s lies in pieces of %.0f bytes, %.0f bytes apart", where, bytes, apart);
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "Make what one thread hands to another contiguous: allocate each thread's blocks in one piece (an array of contiguous blocks in place of rows that "
        "run through all of them), or copy the part that is read into a buffer. Of the lines read at %s %.0f %% are the other thread's data; the rest of "
        "each line is fetched for nothing and, where its owner writes it, taken back.",
        where, fmin(100, 100 * bytes / (lines * LINE)));
    return true;
}

/* ---- threads ---- */

/* Processors that share a cache with each other and not with all: the largest such number; 0: there is none. */
static size_t processors_together(const struct lwp_profile *profile, size_t *processors)
{
    const json_t *machine = json_object_get(profile->run, "machine"), *cache;
    size_t i, together = 0;
    *processors = (size_t)json_integer_value(json_object_get(machine, "cores"));
    json_array_foreach(json_object_get(machine, "caches"), i, cache)
    {
        size_t shared_by = (size_t)json_integer_value(json_object_get(cache, "shared_by"));
        if (shared_by > together && shared_by > 1 && shared_by < *processors)
            together = shared_by;
    }
    json_int_t nodes = json_integer_value(json_object_get(machine, "numa_nodes"));
    return together ? together : nodes > 1 ? *processors / (size_t)nodes : 0;
}

/* OMP_PLACES that puts thread i on the i-th place, groups side by side. */
static const char *places_of(struct lwp_profile *profile, const size_t *group, size_t threads, size_t size)
{
    char text[LWP_COMMUNICATION_THREADS * 8] = "";
    size_t used = 0, filled[LWP_COMMUNICATION_THREADS] = {0};
    for (size_t i = 0; i < threads; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s{%zu}", i ? "," : "", group[i] * size + filled[group[i]]++);
    return lwp_arena_strdup(profile->arena, text);
}

/* "0 2, 1 3". */
static const char *groups_of(struct lwp_profile *profile, const size_t *group, size_t threads)
{
    char text[LWP_COMMUNICATION_THREADS * 5] = "";
    size_t used = 0;
    for (size_t wanted = 0; wanted < threads; wanted++) {
        const char *before = wanted ? ", " : "";
        for (size_t i = 0; i < threads; i++)
            if (group[i] == wanted) {
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu", before, i);
                before = " ";
            }
    }
    return lwp_arena_strdup(profile->arena, text);
}

/* As homogeneity, but without the diagonal, whose zeros say nothing. */
static double rows_variance(const double *ratios, size_t threads, double *mean)
{
    double variance = 0, all = 0;
    for (size_t i = 0; i < threads; i++) {
        double sum = 0, squares = 0, others = (double)(threads - 1);
        for (size_t k = 0; k < threads; k++)
            if (k != i) {
                sum += ratios[i * threads + k];
                squares += ratios[i * threads + k] * ratios[i * threads + k];
            }
        variance += (squares / others - sum / others * (sum / others)) / (double)threads;
        all += sum / others / (double)threads;
    }
    *mean = all;
    return variance;
}

static bool is_uneven(const struct lwp_counted_communication *found, const struct lwp_communication_region *region)
{
    double mean, variance = rows_variance(region->ratios, found->count, &mean);
    return sqrt(variance) > variation_high * mean || region->balance > balance_high;
}

/* Threads that have a hundredth of the communication. */
static size_t threads_busy(const struct lwp_counted_communication *found, const struct lwp_communication_region *region)
{
    size_t busy = 0;
    for (size_t i = 0; i < found->count; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < found->count; k++)
            sum += region->first[i * found->count + k] + region->first[k * found->count + i];
        busy += 100 * sum > region->firsts;
    }
    return busy;
}

/* Of the whole program, since threads are placed once. Threads beside each other in pairs stand for those of a machine
 * whose processors do not share caches in groups. */
static bool tip_mapping(struct lwp_profile *profile, const struct lwp_counted_communication *found, const struct lwp_communication_region *region,
                        struct lwp_communication_tip *tip)
{
    size_t group[LWP_COMMUNICATION_THREADS], plain[LWP_COMMUNICATION_THREADS], processors, size = processors_together(profile, &processors);
    bool here = size && found->count <= processors;
    size = here ? size : 2;
    if (region->kind != LWP_COMMUNICATION_PROGRAM || found->others || threads_busy(found, region) <= size || !is_uneven(found, region))
        return false;
    for (size_t i = 0; i < found->count; i++)
        plain[i] = i / size;
    lwp_thread_placement_group(region->first, found->count, size, group);
    double within = lwp_thread_placement_within(region->first, found->count, group);
    double before = lwp_thread_placement_within(region->first, found->count, plain);
    if (within < before + placement_better)
        return false;
    tip->kind = "mapping";
    tip->group = memcpy(lwp_arena_alloc(profile->arena, found->count, sizeof *group), group, found->count * sizeof *group);
    tip->within = within;
    tip->before = before;
    tip->title = lwp_arena_printf(profile->arena, "Threads that communicate most are not the ones that start one after the other: side by side %.0f %% of the communication "
                                  "would stay between neighbours, not %.0f %%", 100 * within, 100 * before);
    tip->next_step = lwp_arena_printf(
        profile->arena, "Thread mapping: let these threads, numbered in the order they start, run where they share a cache: %s (homogeneity %.3g, balance %.0f %%). %s%s%s",
        groups_of(profile, group, found->count), region->homogeneity, region->balance,
        here ? "OMP_PROC_BIND=true OMP_PLACES=\"" : "For OpenMP set OMP_PROC_BIND=true and OMP_PLACES, else taskset -cp PROCESSOR TID; ",
        here ? places_of(profile, group, found->count, size) : "lscpu -e tells which processors share caches.",
        here ? "\" (for other threads: taskset -cp PROCESSOR TID in that order; lscpu -e tells which processors share caches)." : "");
    return true;
}

void lwp_communication_advise(struct lwp_profile *profile, const struct lwp_counted_communication *found, struct lwp_communication_tips *tips)
{
    *tips = (struct lwp_communication_tips){.tips = lwp_arena_alloc(profile->arena, TIPS_EACH * found->region_count + 1, sizeof *tips->tips)};
    for (size_t i = 0; found->measured && i < found->region_count; i++) {
        const struct lwp_communication_region *region = &found->regions[i];
        struct lwp_communication_tip made[TIPS_EACH] = {{.region = i}, {.region = i}};
        double shares[TIPS_EACH] = {region_share(profile, region->firsts + region->agains), region_share(profile, region->firsts)};
        bool told = region_is_told(profile, found, region);
        bool is[TIPS_EACH] = {told ? tip_distance(profile, found, region, &made[0]) : tip_mapping(profile, found, region, &made[0]),
                              told && tip_pieces(profile, region, &made[1])};
        for (size_t k = 0; k < TIPS_EACH; k++) {
            double worth = shares[k] / worth_shares[k];
            made[k].share = shares[k];
            made[k].severity = lwp_severity(LWP_SEVERITY_OF_COMMUNICATION, worth);
            if (is[k] && worth >= 1)
                tips->tips[tips->count++] = made[k];
        }
    }
}
