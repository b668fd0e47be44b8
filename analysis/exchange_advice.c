/* High distances call for data to be used again sooner (blocking, loop reordering, fusion, scheduling); a few pairs of
 * threads that have most of the communication, or much more reuse than others, call for these to run side by side. */
#include "analysis/exchange_advice.h"

#include "analysis/exchange_pattern.h"
#include "analysis/placement.h"
#include "analysis/regions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double far_share = 0.1;       /* of reuse beyond a cache: worth a sentence */
static const double reuse_least = 1;       /* reads again for each first one, for distances to matter */
static const double balance_high = 50;     /* percent */
static const double variation_high = 0.5;  /* standard deviation in a row of CRR, of the mean ratio */
static const double placement_better = 0.1;

/* Of a function and loops that communicate the same, as one holds all that others hold, the outermost loop is spoken of. */
static bool region_is_told(const struct lwp_exchange *found, const struct lwp_exchange_region *region)
{
    if (region->kind == LWP_EXCHANGE_PROGRAM || region->kind == LWP_EXCHANGE_RUNTIME)
        return false;
    for (const struct lwp_exchange_region *other = found->regions; other < found->regions + found->region_count; other++)
        if (other != region && other->kind == LWP_EXCHANGE_LOOP && other->firsts == region->firsts &&
            other->agains == region->agains && (region->kind != LWP_EXCHANGE_LOOP || other < region))
            return false;
    return true;
}

static const char *region_lines(struct lwp_profile *profile, const struct lwp_exchange_region *region)
{
    const char *lines = region->region == LWP_NONE ? NULL : lwp_regions_lines(profile, &profile->regions[region->region]);
    return lines ? lines : region->name;
}

/* The largest cache that a good part of the reads again come too late for. */
static const char *advise_distance(struct lwp_profile *profile, const struct lwp_exchange_region *region)
{
    const struct lwp_caches *caches = &profile->machine;
    const struct {
        const char *name;
        double elements;
    } levels[] = {{"all caches together hold", region->max_cutoff},
                  {"the second-level cache holds", (double)caches->l2_bytes / region->element_bytes},
                  {"the first-level cache holds", (double)caches->l1_bytes / region->element_bytes}};
    double again = (double)region->agains / (double)(region->firsts ? region->firsts : 1);
    if (!region->distance_count || again < reuse_least)
        return NULL;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        double far = levels[i].elements > 0 ? lwp_distances_above(region->distances, region->distance_count, levels[i].elements) : 0;
        if (far >= far_share)
            return lwp_arena_printf(
                profile->arena,
                "High communication reuse distance at %s: %.0f %% of what is read again of another thread's data comes after more other "
                "elements than %s (%.0f). Use it again sooner: block the arrays so that a block of at most %.0f elements is used up before "
                "the next (array blocking, loop interchange), fuse loops that read it one after the other%s.",
                region_lines(profile, region), 100 * far, levels[i].name, levels[i].elements, levels[i].elements / 2,
                region->kind == LWP_EXCHANGE_PARALLEL ? ", or give each thread neighbouring iterations (schedule(static))" : "");
    }
    return NULL;
}

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
    char text[LWP_EXCHANGE_THREADS * 8] = "";
    size_t used = 0, filled[LWP_EXCHANGE_THREADS] = {0};
    for (size_t i = 0; i < threads; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s{%zu}", i ? "," : "", group[i] * size + filled[group[i]]++);
    return lwp_arena_strdup(profile->arena, text);
}

/* NULL: it makes no difference here, or not enough. */
static const char *advise_placement(struct lwp_profile *profile, const struct lwp_exchange *found, const struct lwp_exchange_region *region)
{
    size_t group[LWP_EXCHANGE_THREADS], plain[LWP_EXCHANGE_THREADS], processors, size = processors_together(profile, &processors);
    if (region->kind != LWP_EXCHANGE_PROGRAM || found->others || found->count < 3 || !size || found->count > processors)
        return NULL;
    for (size_t i = 0; i < found->count; i++)
        plain[i] = i / size;
    lwp_placement_group(region->first, found->count, size, group);
    double within = lwp_placement_within(region->first, found->count, group);
    double before = lwp_placement_within(region->first, found->count, plain);
    if (within < before + placement_better)
        return NULL;
    const char *places = places_of(profile, group, found->count, size);
    return lwp_arena_printf(profile->arena,
                            "Thread mapping: %zu processors each share a cache; with these threads side by side %.0f %% of the communication "
                            "stays within one, in the order they start %.0f %%: OMP_PROC_BIND=true OMP_PLACES=\"%s\" (for other threads: taskset "
                            "-cp PROCESSOR TID in that order; lscpu -e tells which processors share caches).",
                            size, 100 * within, 100 * before, places);
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

static const char *advise_mapping(struct lwp_profile *profile, const struct lwp_exchange *found, const struct lwp_exchange_region *region)
{
    double mean, variance = rows_variance(region->ratios, found->count, &mean);
    bool uneven = sqrt(variance) > variation_high * mean, unbalanced = region->balance > balance_high;
    if (found->count < 3 || mean < reuse_least / 4 || !(uneven || unbalanced))
        return NULL;
    return lwp_arena_printf(profile->arena,
                            "Uneven reuse at %s (homogeneity %.3g, balance %.0f %%): some threads read again much more of what others wrote. "
                            "Let the pairs with the darkest cells run where they share a cache (thread mapping), or deal out the work so that "
                            "a thread reads mostly its own data.",
                            region_lines(profile, region), region->homogeneity, region->balance);
}

size_t lwp_exchange_advise(struct lwp_profile *profile, const struct lwp_exchange *found, const struct lwp_exchange_region *region,
                           const char *advice[LWP_EXCHANGE_ADVICE])
{
    bool told = region_is_told(found, region);
    const char *said[] = {told ? advise_distance(profile, region) : NULL, told ? advise_mapping(profile, found, region) : NULL,
                          advise_placement(profile, found, region)};
    size_t count = 0;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (said[i])
            advice[count++] = said[i];
    return count;
}
