/* High distances call for data to be reused sooner (blocking, loop reordering, fusion, scheduling); data read in short pieces that
 * lie evenly apart for one piece of memory for each thread's part; a few pairs of threads that have most of the communication, and
 * reuse that differs much between them (homogeneity, balance), for thread mapping. Reported where at least a hundredth of all
 * accesses is such communication, a thousandth of them first reads. */
#include "analysis/advice/threads/communication_advice.h"

#include "analysis/profile/regions.h"
#include "analysis/tables/severity.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_LINES = 4, LINE = 64 };

static const double share_least = 0.01, firsts_least = 0.001; /* of all accesses: communication, the first reads of it */
static const double most_of = 0.8;
static const double far_share = 0.1;      /* of reuse beyond a cache: worth a sentence */
static const double reuse_least = 1;      /* reads again for each first one, for distances to matter */
static const double reuse_of_all = 8;     /* ... that each thread goes through all of the others' data so often */
static const double even_pieces = 0.25;   /* by how much more than half of the pieces lie as far apart */
static const double balance_high = 50;    /* percent */
static const double variation_high = 0.5; /* standard deviation in a row of CRR, of the mean ratio */
static const double homogeneity_high = 600; /* of CRR, reads again squared: table 2 maps threads at 1124 and 1409, and not at 321 */
static const double placement_better = 0.1;

static bool loop_is_of(const struct lwp_profile *profile, const struct lwp_communication_region *loop, const char *function)
{
    const char *name = loop->region == LWP_NONE ? NULL : profile->regions[loop->region].function;
    return loop->kind == LWP_COMMUNICATION_LOOP && name && strcmp(name, function) == 0;
}

/* Is the loop's code in the body of the function or parallel region? By address: several bodies have one function's name. */
static bool loop_is_in_body(const struct lwp_profile *profile, const struct lwp_communication_region *loop,
                            const struct lwp_communication_region *body)
{
    if (loop->kind != LWP_COMMUNICATION_LOOP || loop->region == LWP_NONE || body->region == LWP_NONE)
        return false;
    const struct lwp_region *inner = &profile->regions[loop->region], *outer = &profile->regions[body->region];
    return inner->module == outer->module && inner->module != LWP_NONE &&
           lwp_code_symbolize(profile->code, inner->module, inner->address)->function_low == outer->address;
}

/* Of regions in each other that communicate the same one is reported: of loops of which one holds all that the others do the
 * outermost; a loop in place of one around it that holds little else; no function of which much is in its loops. */
static bool region_is_reported(const struct lwp_profile *profile, const struct lwp_counted_communication *found,
                               const struct lwp_communication_region *region)
{
    bool is_loop = region->kind == LWP_COMMUNICATION_LOOP;
    uint64_t all = region->firsts + region->agains;
    if (region->kind == LWP_COMMUNICATION_PROGRAM || region->kind == LWP_COMMUNICATION_RUNTIME)
        return false;
    for (const struct lwp_communication_region *other = found->regions; other < found->regions + found->region_count; other++) {
        uint64_t its = other->firsts + other->agains;
        if (other == region || other->kind != LWP_COMMUNICATION_LOOP)
            continue;
        if (other->firsts == region->firsts && other->agains == region->agains && (!is_loop || other < region))
            return false;
        if (its < all && (double)its > most_of * (double)all && lwp_regions_within(profile, other->region, region->region))
            return false;
        if (!is_loop && loop_is_in_body(profile, other, region) && 4 * its > all)
            return false;
    }
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

/* The loop beside one that reads hardly anything for the first time, in the same function, that reads so much for the first time:
 * both go over the same data. NULL: there is none. */
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

/* The largest cache that much of what is read again comes too late for. */
struct tip_cache {
    const char *name;
    double elements; /* that it holds */
    double far;      /* the share that comes after more */
};

static bool tip_cache_missed(const struct lwp_caches *caches, const struct lwp_communication_region *region, struct tip_cache *missed)
{
    const struct tip_cache largest_first[] = {{.name = "last-level cache", .elements = region->max_cutoff},
                                              {.name = "second-level cache", .elements = (double)caches->l2_bytes / region->element_bytes},
                                              {.name = "first-level cache", .elements = (double)caches->l1_bytes / region->element_bytes}};
    for (size_t i = 0; i < sizeof largest_first / sizeof *largest_first; i++) {
        *missed = largest_first[i];
        missed->far = missed->elements > 0 ? lwp_distances_above(region->returns.buckets, region->returns.count, missed->elements) : 0;
        if (missed->far >= far_share)
            return true;
    }
    return false;
}

/* What else would shorten the distances, as ends of a sentence. */
static const char *tip_distance_also(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                                     const struct lwp_communication_region *region, double again)
{
    const char *pattern = lwp_communication_pattern(region->first, found->count);
    const struct lwp_communication_region *before = reads_before(profile, found, region);
    const char *fuse = "", *schedule = "", *sort = "";
    if (before)
        fuse = lwp_arena_printf(profile->arena, "; fuse it with the loop at %s, which goes over the same data before it",
                                region_where(profile, before));
    if (region->kind == LWP_COMMUNICATION_PARALLEL)
        schedule = "; give each thread neighbouring iterations (schedule(static), or a larger chunk)";
    if (pattern && strcmp(pattern, "all to all") == 0 && again >= reuse_of_all)
        sort = lwp_arena_printf(profile->arena,
                                "; each thread goes through all that the others wrote, %.0f times: where only elements near each other "
                                "matter, keep them sorted by cells of space and look at neighbouring cells only",
                                again);
    return lwp_arena_printf(profile->arena, "%s%s%s", fuse, schedule, sort);
}

static bool tip_distance(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                         const struct lwp_communication_region *region, struct lwp_communication_tip *tip)
{
    const double again = (double)region->agains / (double)(region->firsts ? region->firsts : 1);
    struct tip_cache cache;
    if (!region->returns.count || again < reuse_least || !tip_cache_missed(&profile->machine, region, &cache))
        return false;
    const char *where = region_where(profile, region);
    tip->kind = "distance";
    tip->title = lwp_arena_printf(profile->arena,
                                  "High communication reuse distance at %s: %.0f %% of what threads read again of each other's data comes "
                                  "after more than %.0f other elements, too late for the %s",
                                  where, 100 * cache.far, cache.elements, cache.name);
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "At %s threads read elements of each other again, and in between more than the %s holds. Use them again sooner: block the arrays so "
        "that a block of at most %.0f elements is used up before the next (array blocking, loop interchange)%s.",
        where, cache.name, cache.elements / 2, tip_distance_also(profile, found, region, again));
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
    tip->title = lwp_arena_printf(profile->arena, "What threads read of each other at %s lies in pieces of %.0f bytes on average, %.0f bytes apart",
                                  where, bytes, apart);
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "Make what one thread hands to another contiguous: allocate each thread's blocks in one piece (an array of contiguous blocks in "
        "place of rows that run through all of them), or copy the part that is read into a buffer. Of the lines read at %s %.0f %% are the "
        "other thread's data; the rest of each line is fetched for nothing and, where the other thread writes it, fetched again (a "
        "coherence miss).",
        where, fmin(100, 100 * bytes / (lines * LINE)));
    return true;
}

/* ---- threads ---- */

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

/* Thread mapping pays where reuse differs between threads. */
static bool is_uneven(const struct lwp_counted_communication *found, const struct lwp_communication_region *region)
{
    return lwp_communication_variation(region->ratios, found->count) > variation_high || region->balance > balance_high;
}

static void tip_places(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                       const struct lwp_communication_region *region, struct lwp_communication_tip *tip)
{
    const struct lwp_thread_placement *placement = region->placement;
    const char *places = lwp_thread_placement_places(profile->arena, placement, found->count);
    tip->kind = "mapping";
    tip->next_step = lwp_arena_printf(
        profile->arena,
        "Thread mapping%s%s: let these threads, numbered in the order they start, run where they share a cache: %s (homogeneity %.3g, "
        "balance "
        "%.0f %%). %s%s%s",
        region->kind == LWP_COMMUNICATION_PROGRAM ? "" : " for ",
        region->kind == LWP_COMMUNICATION_PROGRAM ? "" : region_where(profile, region),
        lwp_thread_placement_groups(profile->arena, placement, found->count), region->homogeneity, region->balance,
        places ? "OMP_PROC_BIND=true OMP_PLACES=\"" : "For OpenMP set OMP_PROC_BIND=true and OMP_PLACES, else taskset -cp PROCESSOR TID; ",
        places ? places : "lscpu -e shows which processors share caches.",
        places ? "\" (for other threads: taskset -cp PROCESSOR TID in that order)." : "");
}

/* Threads are placed once: a region has a finding of its own where the whole program's placement does not suit it. */
static bool tip_mapping(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                        const struct lwp_communication_region *region, struct lwp_communication_tip *tip)
{
    const struct lwp_thread_placement *placement = region->placement, *all = found->regions[0].placement;
    const bool program = region->kind == LWP_COMMUNICATION_PROGRAM;
    if (!placement || placement->within < placement->before + placement_better)
        return false;
    if (!program && all && lwp_communication_within(region->first, found->count, all->group) + placement_better > placement->within)
        return false;
    tip->title = lwp_arena_printf(
        profile->arena,
        "Threads that communicate most%s%s are not the ones that start one after the other: side by side %.0f %% of "
        "the communication would stay between neighbours, not %.0f %%",
        program ? "" : " at ", program ? "" : region_where(profile, region), 100 * placement->within, 100 * placement->before);
    tip_places(profile, found, region, tip);
    return true;
}

/* Where data is read again much more by some threads than by others, those that read the same should share a cache, though it is all
 * the same which of them (Mazaheri's streamcluster: each reads what one has written). */
static bool tip_heterogeneous(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                              const struct lwp_communication_region *region, struct lwp_communication_tip *tip)
{
    const struct lwp_thread_placement *placement = region->placement;
    if (!placement || region->homogeneity < homogeneity_high)
        return false;
    tip->title = lwp_arena_printf(profile->arena,
                                  "Reuse of communication at %s differs between threads (homogeneity %.3g, balance %.0f %%): threads that "
                                  "read the same data again should share a cache",
                                  region_where(profile, region), region->homogeneity, region->balance);
    tip_places(profile, found, region, tip);
    if (!placement->processors)
        tip->next_step =
            lwp_arena_printf(profile->arena, "%s On the machine that ran it all processors share the same caches.", tip->next_step);
    return true;
}

/* `share`: of all accesses, those that the tip is about; below `least` of it it is not worth it. */
static void tips_add(struct lwp_communication_tips *tips, struct lwp_communication_tip tip, double share, double least)
{
    double worth = share / least;
    tip.share = share;
    tip.severity = lwp_severity(LWP_SEVERITY_OF_COMMUNICATION, worth);
    if (worth >= 1)
        tips->tips[tips->count++] = tip;
}

/* Where its threads should run; NULL: any is as good. Two threads are where they are. */
static const struct lwp_thread_placement *region_placement(struct lwp_profile *profile, const struct lwp_counted_communication *found,
                                                           const struct lwp_communication_region *region)
{
    if (region->kind == LWP_COMMUNICATION_RUNTIME || found->others || !region->firsts || !is_uneven(found, region))
        return NULL;
    struct lwp_thread_placement *placement = lwp_arena_alloc(profile->arena, 1, sizeof *placement);
    *placement = lwp_thread_placement(profile->arena, json_object_get(profile->run, "machine"), region->first, found->count);
    const bool matters = placement->within >= placement->before + placement_better || region->homogeneity >= homogeneity_high;
    return matters && threads_busy(found, region) > (placement->processors ? 2 : placement->size) ? placement : NULL;
}

void lwp_communication_advise(struct lwp_profile *profile, struct lwp_counted_communication *found, struct lwp_communication_tips *tips)
{
    *tips = (struct lwp_communication_tips){.tips = lwp_arena_alloc(profile->arena, 3 * found->region_count + 1, sizeof *tips->tips)};
    for (size_t i = 0; found->measured && i < found->region_count; i++)
        found->regions[i].placement = region_placement(profile, found, &found->regions[i]);
    for (size_t i = 0; found->measured && i < found->region_count; i++) {
        const struct lwp_communication_region *region = &found->regions[i];
        struct lwp_communication_tip distance = {.region = i}, pieces = distance, mapping = distance;
        const bool reported = region_is_reported(profile, found, region), program = region->kind == LWP_COMMUNICATION_PROGRAM;
        const double share = region_share(profile, region->firsts + region->agains);
        if (reported && tip_distance(profile, found, region, &distance))
            tips_add(tips, distance, share, share_least);
        if ((reported || program) && tip_mapping(profile, found, region, &mapping))
            tips_add(tips, mapping, share, share_least);
        else if (reported && tip_heterogeneous(profile, found, region, &mapping))
            tips_add(tips, mapping, share, share_least);
        if (reported && tip_pieces(profile, region, &pieces))
            tips_add(tips, pieces, region_share(profile, region->firsts), firsts_least);
    }
}
